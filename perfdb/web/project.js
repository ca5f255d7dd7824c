// SPDX-License-Identifier: Apache-2.0
// One project: its benchmarks and its runs.

import { afterPaint, el, replace } from './dom.js';
import { clip, formatTime, formatValue } from './format.js';
import { sparkline } from './plot.js';
import { badge, dataTable } from './table.js';
import { ask } from './server.js';
import { address, heading, link, page, runWords, showTrail } from './shell.js';

const SPARKS = 40; // benchmarks whose last runs are asked for
const SPARK_RUNS = 60;

// The last runs of a benchmark: by CPU time, or by what it has.
async function lastRuns(project, benchmark) {
	const { metrics } = await ask('metrics', { project, benchmark });
	if (metrics.length === 0)
		return null;
	const metric = metrics.includes('cpu_time') ? 'cpu_time' : metrics[0];
	return { metric, ...await ask('trend', { project, benchmark, metric, limit: SPARK_RUNS, changes: 0 }) };
}

function benchmarkTable(project, benchmarks) {
	const rows = benchmarks.map((name) => ({ name, value: el('span'), metric: el('span'), verdict: el('span'), spark: el('span') }));
	const table = dataTable({
		label: 'Benchmarks', rows, filter: rows.length > 12 ? (row) => row.name : undefined,
		columns: [
			{ title: 'Benchmark', value: (row) => row.name, grow: true, cell: (row) => link(clip(row.name, 200), 'trend', { project, benchmark: row.name }) },
			{ title: 'Newest', numeric: true, cell: (row) => row.value },
			{ title: 'Metric', cell: (row) => row.metric },
			{ title: 'Verdict', cell: (row) => row.verdict },
			{ title: `Last ${SPARK_RUNS} runs`, cell: (row) => row.spark },
		],
	});
	afterPaint(async () => {
		for (const row of rows.slice(0, SPARKS)) {
			const last = await lastRuns(project, row.name).catch(() => null);
			const newest = last?.points.at(-1);
			if (!newest)
				continue;
			replace(row.value, formatValue(newest.value, last.unit));
			replace(row.metric, last.metric);
			replace(row.verdict, newest.verdict ? badge(newest.verdict) : '');
			replace(row.spark, sparkline(last.points.map((p) => p.value)));
		}
		page.dataset.ready = 'true';
	});
	return table;
}

function runTable(runs, picked, onPick) {
	const choose = (run, side) => el('button', { type: 'button', 'aria-pressed': picked[side] === run.id ? 'true' : 'false',
		'aria-label': `${side === 'a' ? 'baseline' : 'candidate'}: ${runWords(run)}`, onclick: () => onPick(side, run.id) }, side === 'a' ? 'A' : 'B');
	return dataTable({
		label: 'Runs',
		rows: runs,
		filter: (run) => `${run.commit ?? ''} ${run.branch ?? ''} ${run.tag ?? ''} ${run.outcome ?? ''} ${run.id}`,
		columns: [
			{ title: 'Run', value: (run) => run.id, cell: (run) => link(runWords(run), 'run', { run: run.id }) },
			{ title: 'Started', value: (run) => run.started_at, cell: (run) => formatTime(run.started_at) },
			{ title: 'Verdict', value: (run) => run.outcome ?? '', cell: (run) => (run.outcome ? badge(run.outcome) : run.complete ? '' : 'interrupted') },
			{ title: 'Branch', value: (run) => run.branch ?? '', cell: (run) => clip(run.branch ?? '', 40) },
			{ title: 'Tag', value: (run) => run.tag ?? '', cell: (run) => clip(run.tag ?? '', 40) },
			{ title: 'Host', value: (run) => run.host_fingerprint, cell: (run) => el('code', {}, run.host_fingerprint.slice(0, 8)) },
			{ title: 'Benchmarks', numeric: true, value: (run) => run.benchmarks, cell: (run) => String(run.benchmarks) },
			{ title: 'Compare', cell: (run) => [choose(run, 'a'), ' ', choose(run, 'b')] },
		],
	});
}

function searchForm(project, state, facts) {
	const field = (name, label, value, list) => el('label', {}, `${label} `, el('input', { name, value: value ?? '', list }));
	return el('form', { class: 'search', role: 'search', 'aria-label': 'Runs of this project', onsubmit: (event) => {
		event.preventDefault();
		const words = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
		location.search = new URLSearchParams({ view: 'project', project, ...words });
	} }, field('branch', 'Branch', state.branch), field('tag', 'Tag', state.tag), field('commit', 'Commit', state.commit),
	el('span', { class: 'together' }, field('fact', 'Condition', state.fact, 'facts'), field('value', 'is', state.value)),
	el('datalist', { id: 'facts' }, facts.map((key) => el('option', { value: key }))), el('button', {}, 'Search'));
}

export async function showProject(state) {
	const { project } = state;
	const [{ benchmarks }, listed, { facts }] = await Promise.all([ask('benchmarks', { project }),
		ask('runs', { ...state, view: undefined, limit: 200 }), ask('facts', { project })]);
	const picked = {};
	const table = el('div');
	const go = el('a', { class: 'button', 'aria-disabled': 'true' }, 'Compare A with B');
	function draw() {
		replace(table, runTable(listed.runs, picked, pick));
		if (picked.a && picked.b) {
			go.setAttribute('href', address('compare', picked));
			go.removeAttribute('aria-disabled');
		}
	}
	function pick(side, id) {
		picked[side] = id;
		draw();
		table.querySelector(`button[aria-pressed="true"]`)?.focus();
	}
	draw();
	showTrail(clip(project, 60));
	replace(page, el('main', {}, heading(project),
		el('section', { 'aria-labelledby': 'benchmarks' }, el('h2', { id: 'benchmarks' }, 'Benchmarks'),
			benchmarkTable(project, benchmarks)),
		el('section', { 'aria-labelledby': 'runs' }, el('h2', { id: 'runs' }, 'Runs'), searchForm(project, state, facts), el('p', {}, go), table,
			listed.next && el('p', {}, link('Older runs', 'project', { project, after: listed.next })))));
}
