// SPDX-License-Identifier: Apache-2.0
// The pages of perfdb.  The address holds everything that is shown: ?view=...&..., and behind # what compare.js adds.

import { el, replace } from './dom.js';
import { clip, finite, formatChange, formatTime } from './format.js';
import { dataTable } from './table.js';
import { trendChart } from './plot.js';
import { badge, showComparison } from './compare.js';

const page = document.getElementById('page');
const status = document.getElementById('status');
const trail = document.getElementById('trail');
const TOKEN_KEY = 'perfdb-token';

class Refused extends Error {}

async function ask(path, parameters = {}, options = {}) {
	const words = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== ''));
	const token = sessionStorage.getItem(TOKEN_KEY);
	const headers = { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...options.headers };
	const answer = await fetch(`/api/v1/${path}${words.size > 0 ? `?${words}` : ''}`, { ...options, headers });
	const data = await answer.json();
	if (answer.status === 401)
		throw new Refused(data.error.message);
	if (!answer.ok)
		throw new Error(data.error?.message ?? `the server answered ${answer.status}`);
	return data;
}

function tell(path, body) {
	return ask(path, {}, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}

function address(view, parameters) {
	return `?${new URLSearchParams({ view, ...parameters })}`;
}

function link(text, view, parameters) {
	return el('a', { href: address(view, parameters) }, text);
}

function showTrail(...parts) {
	replace(trail, el('ol', {}, [link('perfdb', 'projects', {}), ...parts].map((part) => el('li', {}, part))));
}

function heading(text) {
	document.title = `${text} · perfdb`;
	return el('h1', {}, clip(text, 120));
}

function runWords(run) {
	return run.commit ? `${run.commit.slice(0, 10)}${run.dirty ? '+' : ''}` : run.id.slice(0, 13);
}

// --- projects ---

async function showProjects() {
	const { projects } = await ask('projects');
	showTrail();
	replace(page, el('main', {}, heading('Projects'), projects.length === 0
		? el('p', {}, 'No run was uploaded yet: ', el('code', {}, 'fastgate push'), ' sends one.')
		: el('ul', { class: 'names' }, projects.map((name) => el('li', {}, link(clip(name, 200), 'project', { project: name }))))));
}

// --- one project: its benchmarks and runs ---

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
	return el('form', { class: 'search', role: 'search', onsubmit: (event) => {
		event.preventDefault();
		const words = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
		location.search = new URLSearchParams({ view: 'project', project, ...words });
	} }, field('branch', 'Branch', state.branch), field('tag', 'Tag', state.tag), field('commit', 'Commit', state.commit),
	field('fact', 'Condition', state.fact, 'facts'), field('value', 'is', state.value),
	el('datalist', { id: 'facts' }, facts.map((key) => el('option', { value: key }))), el('button', {}, 'Search'));
}

async function showProject(state) {
	const { project } = state;
	const [{ benchmarks }, listed, { facts }] = await Promise.all([ask('benchmarks', { project }),
		ask('runs', { ...state, view: undefined, limit: 200 }), ask('facts')]);
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
			el('ul', { class: 'names' }, benchmarks.map((name) => el('li', {}, link(clip(name, 200), 'trend', { project, benchmark: name }))))),
		el('section', { 'aria-labelledby': 'runs' }, el('h2', { id: 'runs' }, 'Runs'), searchForm(project, state, facts), el('p', {}, go), table,
			listed.next && el('p', {}, link('Older runs', 'project', { project, after: listed.next })))));
}

// --- comparisons ---

async function showVerdict(state) {
	const data = await ask('verdict', { a: state.a ?? state.run, b: state.b });
	const words = state.b ? `${data.run.baseline.commit?.slice(0, 10) ?? 'A'} → ${data.run.candidate.commit?.slice(0, 10) ?? 'B'}` : data.run.id.slice(0, 13);
	document.title = `${words} · perfdb`;
	showTrail(link(clip(data.run.project, 60), 'project', { project: data.run.project }), words);
	showComparison(page, data);
	page.append(functionLinks(data));
}

// From the functions that a comparison names to how each fared over time.
function functionLinks(data) {
	const spot = el('section', { 'aria-labelledby': 'over-time', class: 'over-time' }, el('h2', { id: 'over-time' }, 'Functions over time'));
	const runs = new URLSearchParams(location.search);
	const list = el('ul', { class: 'names' });
	for (const benchmark of data.benchmarks.slice(0, 20)) {
		ask('functions', { a: runs.get('a') ?? runs.get('run'), b: runs.get('b'), benchmark: benchmark.name, limit: 10 }).then((answer) => {
			list.append(...answer.functions.map((f) => el('li', {}, link(clip(f.name, 120), 'function',
				{ project: data.run.project, benchmark: benchmark.name, function: f.id }), ` ${f.delta_ms >= 0 ? '+' : '−'}${Math.abs(f.delta_ms).toPrecision(3)} ms`)));
		}, () => {});
	}
	spot.append(list);
	return spot;
}

// --- trends ---

const STATES = ['new', 'investigating', 'accepted', 'noise', 'fixed'];

function changeRow(state, change, decision) {
	const select = el('select', { 'aria-label': `state of the change at ${change.run}`, onchange: async (event) => {
		await tell('triage', { project: state.project, benchmark: state.benchmark, metric: state.metric, run: change.run, state: event.target.value });
		status.textContent = `The change is ${event.target.value}.`;
	} }, STATES.map((name) => el('option', { value: name, selected: (decision?.state ?? 'new') === name }, name)));
	return el('li', {}, el('strong', {}, formatChange(change.ratio - 1)), ' since ', link(change.run.slice(0, 13), 'run', { run: change.run }), ' ',
		link('compare with the run before', 'compare', { a: change.last_run_before, b: change.run }), ' ', select);
}

function notesOf(state, annotations, redraw) {
	const form = el('form', { class: 'note', onsubmit: async (event) => {
		event.preventDefault();
		const words = Object.fromEntries(new FormData(event.target));
		await tell('annotations', { project: state.project, benchmark: state.benchmark, metric: state.metric, ...words });
		status.textContent = 'The note is kept.';
		redraw();
	} }, el('label', {}, 'Note ', el('input', { name: 'text', required: true, maxlength: 1000 })),
	el('label', {}, 'Kind ', el('select', { name: 'kind' }, ['note', 'known-noise', 'accepted', 'exclude'].map((kind) => el('option', { value: kind }, kind)))),
	el('button', {}, 'Add'));
	return el('section', { 'aria-labelledby': 'notes' }, el('h2', { id: 'notes' }, 'Notes'),
		el('ul', {}, annotations.map((a) => el('li', {}, el('strong', {}, a.kind), ` ${clip(a.text, 500)} `, el('span', { class: 'quiet' }, formatTime(a.created_at))))), form);
}

function chart(state, title, answer, project) {
	return trendChart({
		title,
		unit: answer.unit,
		points: answer.points.map((p) => ({ ...p, label: `${p.commit?.slice(0, 10) ?? p.run.slice(0, 13)}, ${formatTime(p.started_at)}`, value: p.value ?? NaN })),
		changes: (answer.changes ?? []).map((c) => ({ index: c.at, before: c.before, after: c.after })),
		onPick: (point) => {
			location.search = address('run', { run: point.run, project });
		},
	});
}

async function showTrend(state) {
	const { project, benchmark } = state;
	const { metrics } = await ask('metrics', { project, benchmark });
	const metric = state.metric ?? (metrics.includes('cpu_time') ? 'cpu_time' : metrics[0]);
	const full = { ...state, metric };
	const [answer, { triage }, { annotations }] = await Promise.all([ask('trend', { project, benchmark, metric, branch: state.branch }),
		ask('triage', { project, benchmark }), ask('annotations', { project, benchmark })]);
	const select = el('select', { onchange: (event) => {
		location.search = address('trend', { ...full, metric: event.target.value });
	} }, metrics.map((name) => el('option', { value: name, selected: name === metric }, name)));
	const decided = (change) => triage.find((t) => t.metric === metric && t.run === change.run);
	showTrail(link(clip(project, 60), 'project', { project }), clip(benchmark, 60));
	replace(page, el('main', {}, heading(benchmark), el('p', {}, el('label', {}, 'Metric ', select)), chart(full, `${benchmark}: ${metric}`, answer, project),
		answer.changes?.length > 0 && el('section', { 'aria-labelledby': 'changes' }, el('h2', { id: 'changes' }, 'Changes'),
			el('ul', {}, answer.changes.map((change) => changeRow(full, change, decided(change))))),
		notesOf(full, annotations, () => showTrend(state)), pointTable(answer)));
}

// The same numbers for those who do not see the chart.
function pointTable(answer) {
	return el('details', {}, el('summary', {}, `All ${answer.points.length} values`), dataTable({
		label: 'Values',
		rows: answer.points.toReversed(),
		pageRows: 25,
		columns: [
			{ title: 'Run', cell: (p) => link(p.commit?.slice(0, 10) ?? p.run.slice(0, 13), 'run', { run: p.run }) },
			{ title: 'Started', value: (p) => p.started_at, cell: (p) => formatTime(p.started_at) },
			{ title: `Value, ${answer.unit}`, numeric: true, value: (p) => p.value ?? NaN, cell: (p) => (finite(p.value) ? p.value.toPrecision(6) : '') },
		],
	}));
}

async function showFunction(state) {
	const { project, benchmark } = state;
	const answer = await ask('function-trend', { project, benchmark, function: state.function, branch: state.branch });
	showTrail(link(clip(project, 60), 'project', { project }), link(clip(benchmark, 60), 'trend', { project, benchmark }), clip(answer.name, 60));
	replace(page, el('main', {}, heading(answer.name), el('p', { class: 'quiet' }, `${answer.library}, own time per repetition`),
		chart(state, `${clip(answer.name, 60)}: self`, answer, project), pointTable(answer)));
}

// --- the whole ---

const VIEWS = { projects: showProjects, project: showProject, run: showVerdict, compare: showVerdict, trend: showTrend, function: showFunction };

function askToken(words) {
	showTrail();
	replace(page, el('main', {}, heading('A token is needed'), el('p', {}, words),
		el('form', { class: 'note', onsubmit: (event) => {
			event.preventDefault();
			sessionStorage.setItem(TOKEN_KEY, new FormData(event.target).get('token').trim());
			show();
		} }, el('label', {}, 'Token ', el('input', { name: 'token', type: 'password', autocomplete: 'off', required: true })), el('button', {}, 'Go on')),
		el('p', { class: 'quiet' }, 'It is kept in this tab only, until you close it.')));
}

async function show() {
	const state = Object.fromEntries(new URLSearchParams(location.search));
	status.textContent = 'Loading…';
	delete page.dataset.ready;
	try {
		await (VIEWS[state.view] ?? showProjects)(state);
		page.dataset.ready ??= 'true'; // a comparison says so itself, once its lower parts stand
	} catch (error) {
		if (error instanceof Refused)
			askToken(error.message);
		else
			replace(page, el('main', {}, heading('This cannot be shown'), el('p', { role: 'alert' }, error.message)));
		page.dataset.ready = 'true';
	}
	status.textContent = '';
}

document.getElementById('skip').addEventListener('click', (event) => {
	event.preventDefault();
	page.focus();
});
show();
