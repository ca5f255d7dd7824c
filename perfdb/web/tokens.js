// SPDX-License-Identifier: Apache-2.0
// The page of tokens: creates a token, shows it once, lists and revokes tokens.

import { el, replace } from './dom.js';
import { clip, formatTime } from './format.js';
import { dataTable } from './table.js';
import { post, query } from './server.js';
import { ago, attempt, heading, page } from './shell.js';

const SCOPES = { read: 'view', upload: 'view and upload runs', triage: 'view, write notes, decide about changes', admin: 'everything' };

function tokenState(token) {
	if (token.revoked)
		return 'revoked';
	return Date.parse(token.expires_at) <= Date.now() ? 'expired' : 'valid';
}

function tokenTable(tokens, redraw) {
	const revoke = async (token) => {
		const whose = token.note ? ` (${clip(token.note, 60)})` : '';
		if (!confirm(`Revoke token ${token.id}${whose}? Requests with this token will be refused; this cannot be undone.`))
			return '';
		await query(`tokens/${token.id}`, {}, { method: 'DELETE' });
		await redraw();
		return `Token ${token.id} has been revoked.`;
	};
	return dataTable({
		label: 'Tokens', rows: tokens, filter: (token) => `${token.note ?? ''} ${token.project ?? ''} ${token.scope}`,
		columns: [
			{ title: 'Number', numeric: true, value: (token) => token.id, cell: (token) => String(token.id) },
			{ title: 'For', value: (token) => token.note ?? '', grow: true, cell: (token) => clip(token.note ?? '', 200) },
			{ title: 'Project', value: (token) => token.project ?? '', cell: (token) => clip(token.project ?? 'all', 60) },
			{ title: 'Scope', value: (token) => token.scope, cell: (token) => token.scope },
			{ title: 'State', value: tokenState, cell: tokenState },
			{ title: 'Expires', value: (token) => token.expires_at, cell: (token) => formatTime(token.expires_at).slice(0, 10) },
			{ title: 'Last used', value: (token) => token.used_at ?? '', cell: (token) => (token.used_at ? [ago(token.used_at), token.used_from && ` from ${token.used_from}`] : 'never') },
			{ title: 'Revoke', cell: (token) => !token.revoked && el('button', { type: 'button', 'aria-label': `Revoke token ${token.id}`, onclick: () => attempt(() => revoke(token)) }, 'Revoke') },
		],
	});
}

export function projectChoice(projects) {
	return el('label', {}, 'Project ', el('select', { name: 'project' }, el('option', { value: '' }, 'all'), projects.map((name) => el('option', { value: name }, clip(name, 60)))));
}

function scopeChoice() {
	return el('label', {}, 'May ', el('select', { name: 'scope' }, Object.entries(SCOPES).map(([scope, words]) => el('option', { value: scope }, `${scope}: ${words}`))));
}

function tokenForm(projects, made, redraw) {
	const create = async (event) => {
		event.preventDefault();
		const words = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
		const { id, token } = await post('tokens', words);
		await redraw();
		replace(made, el('p', { role: 'alert' }, `Token ${id}, which will not be shown again: `, el('code', { class: 'secret' }, token)));
	};
	return el('form', { class: 'note', onsubmit: (event) => attempt(() => create(event)) },
		el('label', {}, 'For ', el('input', { name: 'note', required: true, maxlength: 200, placeholder: 'a person, a CI job' })),
		projectChoice(projects), scopeChoice(),
		el('label', {}, 'Valid for ', el('input', { name: 'expires', value: '365d', size: 6, pattern: '[0-9]+[dhms]' })), el('button', { class: 'primary' }, 'Create'));
}

export async function showTokens() {
	const [{ tokens }, { projects }] = await Promise.all([query('tokens'), query('projects')]);
	const made = el('div');
	const table = el('div', {}, tokenTable(tokens, redraw));
	async function redraw() {
		replace(table, tokenTable((await query('tokens')).tokens, redraw));
	}
	replace(page, el('main', {}, heading('Tokens'), tokenForm(projects, made, redraw), made, table));
}
