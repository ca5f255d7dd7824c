// SPDX-License-Identifier: Apache-2.0
// The list of a project's runs, from which any two can be compared.

import { afterPaint, el, replace } from './dom.js';
import { clip, formatValue } from './format.js';
import { badge, dataTable } from './table.js';
import { query } from './server.js';
import { address, ago, heading, link, page, runWords } from './shell.js';

function runTable(runs, picked, onPick) {
	const choose = (run, side) => el('button', { type: 'button', 'aria-pressed': picked[side] === run.id ? 'true' : 'false',
		'aria-label': `${side === 'a' ? 'baseline' : 'candidate'}: ${runWords(run)}`, onclick: () => onPick(side, run.id) }, side === 'a' ? 'A' : 'B');
	return dataTable({
		label: 'Runs',
		rows: runs,
		filter: (run) => `${run.commit ?? ''} ${run.subject ?? ''} ${run.branch ?? ''} ${run.tag ?? ''} ${run.outcome ?? ''} ${run.id}`,
		columns: [
			{ title: 'Run', cell: (run) => link(runWords(run), 'run', { run: run.id }) },
			{ title: 'Verdict', value: (run) => run.outcome ?? '', cell: (run) => (run.outcome ? badge(run.outcome) : run.complete ? '' : 'interrupted') },
			{ title: 'Subject', grow: true, value: (run) => run.subject ?? '', cell: (run) => clip(run.subject ?? '', 80) },
			{ title: 'Started', value: (run) => run.started_at, cell: (run) => ago(run.started_at) },
			{ title: 'Branch', value: (run) => run.branch ?? '', cell: (run) => [clip(run.branch ?? '', 40), run.tag && el('span', { class: 'tag' }, clip(run.tag, 40))] },
			{ title: 'Host', value: (run) => run.host_fingerprint, cell: (run) => el('code', {}, run.host_fingerprint.slice(0, 8)) },
			{ title: 'Benchmarks', numeric: true, value: (run) => run.benchmarks, cell: (run) => String(run.benchmarks) },
			{ title: 'Compare', cell: (run) => [choose(run, 'a'), ' ', choose(run, 'b')] },
		],
	});
}

function searchForm(project, state, facts) {
	const field = (name, label, value, list) => el('label', {}, `${label} `, el('input', { name, value: value ?? '', list }));
	return el('details', { open: Boolean(state.branch ?? state.tag ?? state.commit ?? state.fact) }, el('summary', {}, 'By branch, tag, commit or any recorded condition'),
		el('form', { class: 'note', role: 'search', 'aria-label': 'Runs of this project', onsubmit: (event) => {
			event.preventDefault();
			const words = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
			location.href = address('runs', { project, ...words });
		} }, field('branch', 'Branch', state.branch), field('tag', 'Tag', state.tag), field('commit', 'Commit', state.commit),
		field('fact', 'Condition', state.fact, 'facts'), field('value', 'is', state.value),
		el('datalist', { id: 'facts' }, facts.map((key) => el('option', { value: key }))), el('button', {}, 'Search')));
}

// Returns "Holds 12 runs of at most 1000, 340 KiB." and a warning if the quota is reached.
async function usageWords(project) {
	const { limits = {}, runs, bytes } = await query('usage', { project });
	const most = (value, unit) => (value ? ` of at most ${formatValue(value, unit)}` : '');
	const full = (limits.most_runs && runs >= limits.most_runs) || (limits.most_bytes && bytes >= limits.most_bytes);
	return [`Holds ${formatValue(runs)} ${runs === 1 ? 'run' : 'runs'}${most(limits.most_runs)}, ${formatValue(bytes, 'bytes')}${most(limits.most_bytes, 'bytes')}.`,
		limits.keep_days ? ` Runs are kept for ${limits.keep_days} days, and the newest ${limits.keep_newest} of each branch whatever their age.` : '',
		full && el('strong', {}, ' The quota is reached: uploads are refused.')];
}

export async function showRuns(state) {
	const { project } = state;
	const [listed, { facts }] = await Promise.all([query('runs', { ...state, view: undefined, limit: 200 }), query('facts', { project })]);
	const picked = {};
	const table = el('div');
	const go = el('a', { class: 'button', 'aria-disabled': 'true' }, 'Compare A with B');
	function draw() {
		replace(table, runTable(listed.runs, picked, pick));
		if (picked.a && picked.b) {
			go.setAttribute('href', address('compare', { project, ...picked }));
			go.removeAttribute('aria-disabled');
		}
	}
	function pick(side, id) {
		picked[side] = id;
		draw();
		table.querySelector(`button[aria-pressed="true"]`)?.focus();
	}
	draw();
	const held = el('p', { class: 'quiet' });
	replace(page, el('main', {}, heading('Runs'), searchForm(project, state, facts), el('p', {}, go), table,
		listed.next && el('p', {}, link('Older runs', 'runs', { ...state, view: undefined, after: listed.next })), held));
	afterPaint(async () => replace(held, ...await usageWords(project).catch(() => [])));
}
