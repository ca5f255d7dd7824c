// SPDX-License-Identifier: Apache-2.0
// Quotas, retention and usage of projects.

import { el, replace } from './dom.js';
import { clip, formatValue } from './format.js';
import { dataTable } from './table.js';
import { ask, tell } from './server.js';
import { ago, attempt, heading, page } from './shell.js';
import { projectChoice } from './tokens.js';

const MIB = 1048576;

const most = (value, words) => (value ? words : 'no limit');
const runs = (count) => `${formatValue(count)} ${count === 1 ? 'run' : 'runs'}`;

function keptWords(limits) {
	if (!limits.keep_days)
		return 'as the keeper removes them';
	return `${limits.keep_days} days${limits.keep_newest ? `, and the newest ${limits.keep_newest} of each branch` : ''}`;
}

// "Holds 12 runs of at most 1000, 340 KiB."
export async function usageWords(project) {
	const { limits = {}, ...held } = await ask('usage', { project });
	const full = (limits.most_runs && held.runs >= limits.most_runs) || (limits.most_bytes && held.bytes >= limits.most_bytes);
	return [`Holds ${runs(held.runs)}${limits.most_runs ? ` of at most ${formatValue(limits.most_runs)}` : ''}, `
		+ `${formatValue(held.bytes, 'bytes')}${limits.most_bytes ? ` of at most ${formatValue(limits.most_bytes, 'bytes')}` : ''}.`,
	limits.keep_days ? ` Runs are kept for ${keptWords(limits)}.` : '', full && el('strong', {}, ' The quota is reached: uploads are refused.')];
}

function limitTable(rows) {
	if (rows.length === 0)
		return el('p', { class: 'quiet' }, 'No project has a limit.');
	return dataTable({
		label: 'Limits', rows, filter: (row) => row.project ?? 'all others',
		columns: [
			{ title: 'Project', value: (row) => row.project ?? '', grow: true, cell: (row) => clip(row.project ?? 'all others', 200) },
			{ title: 'Runs', numeric: true, value: (row) => row.most_runs, cell: (row) => most(row.most_runs, formatValue(row.most_runs)) },
			{ title: 'Size', numeric: true, value: (row) => row.most_bytes, cell: (row) => most(row.most_bytes, formatValue(row.most_bytes, 'bytes')) },
			{ title: 'Kept', value: (row) => row.keep_days, cell: keptWords },
			{ title: 'Set by', value: (row) => row.set_by, cell: (row) => clip(row.set_by, 60) },
			{ title: 'Since', value: (row) => row.set_at, cell: (row) => ago(row.set_at) },
		],
	});
}

// `ofProject` finds the row of a project; '': of all others.
function limitForm(projects, ofProject, redraw) {
	const held = el('p', { class: 'quiet' });
	const number = (name, label) => el('label', {}, `${label} `, el('input', { name, type: 'number', min: 0, step: 1, size: 8, placeholder: 'none' }));
	const set = async (event) => {
		event.preventDefault();
		const given = new FormData(event.target);
		const value = (name) => Number(given.get(name) || 0);
		const project = given.get('project') || undefined;
		await tell('limits', { project, most_runs: value('runs'), most_bytes: value('mib') * MIB, keep_days: value('days'), keep_newest: value('newest') });
		await redraw();
		await tellHeld(project);
		return `The limits of ${project ? clip(project, 60) : 'all other projects'} are set.`;
	};
	async function tellHeld(project) {
		replace(held, ...(project ? await usageWords(project) : []));
	}
	const choice = projectChoice(projects);
	const form = el('form', { class: 'note', onsubmit: (event) => attempt(() => set(event)) }, choice, number('runs', 'Most runs'), number('mib', 'Most MiB'),
		number('days', 'Days kept'), number('newest', 'Newest kept'), el('button', {}, 'Set'), held);
	function fill(project) {
		const row = ofProject(project);
		const values = { runs: row?.most_runs, mib: row && Math.ceil(row.most_bytes / MIB), days: row?.keep_days, newest: row?.keep_newest };
		for (const [name, value] of Object.entries(values))
			form.elements[name].value = value || '';
	}
	choice.addEventListener('change', (event) => {
		fill(event.target.value);
		attempt(() => tellHeld(event.target.value));
	});
	fill('');
	return form;
}

export async function showLimits() {
	const [first, { projects }] = await Promise.all([ask('limits'), ask('projects')]);
	let rows = first.limits;
	const ofProject = (project) => rows.find((row) => (row.project ?? '') === project);
	const table = el('div', {}, limitTable(rows));
	async function redraw() {
		rows = (await ask('limits')).limits;
		replace(table, limitTable(rows));
	}
	replace(page, el('main', {}, heading('Limits'), el('p', {}, 'An upload beyond a quota is refused and stays with its sender. ', el('code', {}, 'perfdb gc'),
		' removes what is older than it is kept. Limits replace those that the project had; with none, the others\' hold.'), limitForm(projects, ofProject, redraw), table));
}
