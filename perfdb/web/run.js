// SPDX-License-Identifier: Apache-2.0
// The pages that show a run, compare two runs, and let the user choose two runs.

import { el, replace } from './dom.js';
import { clip } from './format.js';
import { showComparison } from './compare.js';
import { query } from './server.js';
import { historyOf } from './trend.js';
import { address, commitWords, heading, link, page, runWords, showHeader, showTrail } from './shell.js';

const LINKED_NAME = 1500; // a longer name does not fit into an address
const OFFERED_RUNS = 100;

// Returns links to the previous and the next run on the branch.
async function neighbours(id) {
	const { previous, next } = await query('around', { run: id });
	return [previous && el('a', { href: address('run', { run: previous.id }), rel: 'prev' }, `‹ previous: ${runWords(previous)}`),
		next && el('a', { href: address('run', { run: next.id }), rel: 'next' }, `next: ${runWords(next)} ›`)].filter(Boolean);
}

// Lets the user pick any two runs, by any of their names, and compares them.
async function showPicker({ project, a, b }) {
	const { runs } = await query('runs', { project, limit: OFFERED_RUNS });
	const names = new Map([...runs.filter((run) => run.tag).map((run) => [run.tag, 'tag']), ...runs.map((run) => [run.id, `${commitWords(run)}${run.branch ? ` on ${clip(run.branch, 40)}` : ''}`])]);
	const field = (name, words, value) => el('label', {}, `${words} `, el('input', { name, required: true, list: 'names', size: 40, value: value ?? '' }));
	showTrail('Compare');
	replace(page, el('main', {}, heading('Compare two runs'), el('form', { class: 'note', onsubmit: (event) => {
		event.preventDefault();
		const chosen = Object.fromEntries([...new FormData(event.target)].map(([name, value]) => [name, value.trim()]));
		location.href = address('compare', { project, ...chosen });
	} }, field('a', 'Baseline', a), field('b', 'Candidate', b), el('datalist', { id: 'names' }, [...names].map(([value, words]) => el('option', { value }, words))), el('button', {}, 'Compare')),
	el('p', { class: 'quiet' }, 'A commit, a tag, a branch, ', el('code', {}, 'latest'), ', ', el('code', {}, 'latest~2'), ', or the id of a run.')));
}

export async function showVerdict(state) {
	const [a, b] = [state.a ?? state.run, state.b];
	if (!a || (state.view === 'compare' && !b && state.project)) {
		await showPicker(state);
		return;
	}
	const [data, around] = await Promise.all([query('verdict', { project: state.project, a, b }), b ? [] : neighbours(a)]);
	const { project } = data.run;
	const sides = { project, a, b };
	const words = b ? `${data.run.baseline.commit?.slice(0, 10) ?? 'A'} → ${data.run.candidate.commit?.slice(0, 10) ?? 'B'}` : data.run.id.slice(0, 13);
	// With only one side, there is nothing to compare by another measure.
	const hasSides = (benchmark) => data.benchmarks.find(({ name }) => name === benchmark)?.verdict !== 'new';
	document.title = `${words} · perfdb`;
	showHeader(project, state.view);
	showTrail(words, ...around, link(b ? 'compare others' : 'compare with…', 'compare', { project, a: b ? undefined : a }));
	showComparison(page, data, {
		historyOf: (benchmark) => historyOf(project, benchmark),
		functionHref: (benchmark, name, library) => (name.length + library.length < LINKED_NAME ? address('function', { project, benchmark, name, library }) : undefined),
		profileOf: (benchmark, range, measure) => query('profile', { ...sides, benchmark, pairs: range?.join('-'), measure }),
		measuresOf: async (benchmark) => (hasSides(benchmark) ? (await query('profile', { ...sides, benchmark, pairs: '0-0' })).measures : []),
	});
}
