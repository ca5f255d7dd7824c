// SPDX-License-Identifier: Apache-2.0
// Who is signed in, and the roles of people and groups.

import { el, replace } from './dom.js';
import { clip, formatTime } from './format.js';
import { dataTable } from './table.js';
import { ask, tell } from './server.js';
import { attempt, heading, page, showTrail, status } from './shell.js';
import { projectChoice, scopeChoice } from './tokens.js';

// Where to sign in, and to come back from there to this page; null: only tokens are taken here.
export async function signInAddress() {
	const { sign_in: path } = await ask('me');
	return path ? `${path}?to=${encodeURIComponent(location.pathname + location.search)}` : null;
}

export async function showWho(place) {
	const { name, is_person: isPerson } = await ask('me');
	if (!isPerson)
		return;
	const leave = async () => {
		await tell('sign-out', {});
		location.href = '/';
	};
	replace(place, el('span', {}, clip(name, 60)), ' ', el('button', { type: 'button', onclick: () => attempt(leave) }, 'Sign out'));
}

function roleTable(roles, redraw) {
	const remove = async (role) => {
		await ask(`roles/${role.id}`, {}, { method: 'DELETE' });
		await redraw();
		status.textContent = `${clip(role.who, 60)} no longer has the role '${role.scope}'.`;
	};
	if (roles.length === 0)
		return el('p', { class: 'quiet' }, 'Nobody has a role yet.');
	return dataTable({
		label: 'Roles', rows: roles, filter: (role) => `${role.who} ${role.project ?? ''} ${role.scope}`,
		columns: [
			{ title: 'Who', value: (role) => role.who, grow: true, cell: (role) => clip(role.who, 200) },
			{ title: 'Project', value: (role) => role.project ?? '', cell: (role) => clip(role.project ?? 'all', 60) },
			{ title: 'Role', value: (role) => role.scope, cell: (role) => role.scope },
			{ title: 'Since', value: (role) => role.created_at, cell: (role) => formatTime(role.created_at) },
			{ title: 'Take away', cell: (role) => el('button', { type: 'button', 'aria-label': `Remove the role ${role.scope} of ${role.who}`, onclick: () => attempt(() => remove(role)) }, 'Remove') },
		],
	});
}

function roleForm(projects, redraw) {
	const give = async (event) => {
		event.preventDefault();
		const words = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
		await tell('roles', words);
		await redraw();
		status.textContent = `${clip(words.who, 60)} has the role '${words.scope}' now.`;
	};
	return el('form', { class: 'note', onsubmit: (event) => attempt(() => give(event)) },
		el('label', {}, 'Who ', el('input', { name: 'who', required: true, maxlength: 200, placeholder: 'ann@example.org or group:compilers', size: 32 })),
		projectChoice(projects), scopeChoice(), el('button', {}, 'Give'));
}

export async function showPeople() {
	const [{ roles }, { projects }] = await Promise.all([ask('roles'), ask('projects')]);
	const table = el('div', {}, roleTable(roles, redraw));
	async function redraw() {
		replace(table, roleTable((await ask('roles')).roles, redraw));
	}
	showTrail('People');
	replace(page, el('main', {}, heading('People'), el('p', {}, 'A role is what a person or a group may do after signing in.'), roleForm(projects, redraw), table));
}
