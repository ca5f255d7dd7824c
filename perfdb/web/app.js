// SPDX-License-Identifier: Apache-2.0
// The pages of perfdb.  The address holds everything that is shown: ?view=...&..., and behind # what compare.js adds.

import { afterPaint, el, replace } from './dom.js';
import { clip, finite, formatChange, formatTime, formatValue } from './format.js';
import { badge, dataTable } from './table.js';
import { sparkline, trendChart } from './plot.js';
import { showComparison } from './compare.js';

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

// May this page write?  A server over a local store only shows it, and a token may be for reading.
let capabilities = null;
async function canWrite() {
	capabilities ??= ask('capabilities');
	const { read_only: isReadOnly, scope } = await capabilities;
	return !isReadOnly && ['triage', 'admin'].includes(scope);
}

async function canAdminister() {
	capabilities ??= ask('capabilities');
	const { read_only: isReadOnly, scope } = await capabilities;
	return !isReadOnly && scope === 'admin';
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
	const [{ projects }, administers] = await Promise.all([ask('projects'), canAdminister()]);
	showTrail();
	replace(page, el('main', {}, heading('Projects'), projects.length === 0
		? el('p', {}, 'No run was uploaded yet: ', el('code', {}, 'fastgate push'), ' sends one.')
		: el('ul', { class: 'names' }, projects.map((name) => el('li', {}, link(clip(name, 200), 'project', { project: name })))),
	administers && el('p', {}, link('Tokens', 'tokens', {}))));
}

// --- tokens ---

const SCOPES = { read: 'look', upload: 'look and send runs', triage: 'look, write notes, decide about changes', admin: 'everything' };

function tokenState(token) {
	if (token.revoked)
		return 'revoked';
	return Date.parse(token.expires_at) <= Date.now() ? 'expired' : 'works';
}

function tokenTable(tokens, redraw) {
	const revoke = async (token) => {
		await ask(`tokens/${token.id}`, {}, { method: 'DELETE' });
		await redraw();
		status.textContent = `Token ${token.id} opens nothing any more.`;
	};
	return dataTable({
		label: 'Tokens', rows: tokens, filter: (token) => `${token.note ?? ''} ${token.project ?? ''} ${token.scope}`,
		columns: [
			{ title: 'Number', numeric: true, value: (token) => token.id, cell: (token) => String(token.id) },
			{ title: 'For', value: (token) => token.note ?? '', grow: true, cell: (token) => clip(token.note ?? '', 200) },
			{ title: 'Project', value: (token) => token.project ?? '', cell: (token) => clip(token.project ?? 'all', 60) },
			{ title: 'Scope', value: (token) => token.scope, cell: (token) => token.scope },
			{ title: 'State', value: tokenState, cell: tokenState },
			{ title: 'Ends', value: (token) => token.expires_at, cell: (token) => formatTime(token.expires_at) },
			{ title: 'Last used', value: (token) => token.used_at ?? '', cell: (token) => (token.used_at ? formatTime(token.used_at) : 'never') },
			{ title: 'Take back', cell: (token) => !token.revoked && el('button', { type: 'button', 'aria-label': `Revoke token ${token.id}`, onclick: () => attempt(() => revoke(token)) }, 'Revoke') },
		],
	});
}

function tokenForm(projects, made, redraw) {
	const create = async (event) => {
		event.preventDefault();
		const words = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
		const { id, token } = await tell('tokens', words);
		await redraw();
		replace(made, el('p', { role: 'alert' }, `Token ${id}, shown this once: `, el('code', { class: 'secret' }, token)));
	};
	return el('form', { class: 'note', onsubmit: (event) => attempt(() => create(event)) },
		el('label', {}, 'For ', el('input', { name: 'note', required: true, maxlength: 200, placeholder: 'a person, a CI job' })),
		el('label', {}, 'Project ', el('select', { name: 'project' }, el('option', { value: '' }, 'all'), projects.map((name) => el('option', { value: name }, clip(name, 60))))),
		el('label', {}, 'May ', el('select', { name: 'scope' }, Object.entries(SCOPES).map(([scope, words]) => el('option', { value: scope }, `${scope}: ${words}`)))),
		el('label', {}, 'Works for ', el('input', { name: 'expires', value: '365d', size: 6, pattern: '[0-9]+[dhms]' })), el('button', {}, 'Make'));
}

async function showTokens() {
	const [{ tokens }, { projects }] = await Promise.all([ask('tokens'), ask('projects')]);
	const made = el('div');
	const table = el('div', {}, tokenTable(tokens, redraw));
	async function redraw() {
		replace(table, tokenTable((await ask('tokens')).tokens, redraw));
	}
	showTrail('Tokens');
	replace(page, el('main', {}, heading('Tokens'), tokenForm(projects, made, redraw), made, table));
}

// --- one project: its benchmarks and runs ---

const SPARKS = 40; // benchmarks whose last runs are asked for
const SPARK_RUNS = 60;

// The last runs of a benchmark: by CPU time, or by what it has.
async function lastRuns(project, benchmark) {
	const { metrics } = await ask('metrics', { project, benchmark });
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
	return el('form', { class: 'search', role: 'search', onsubmit: (event) => {
		event.preventDefault();
		const words = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
		location.search = new URLSearchParams({ view: 'project', project, ...words });
	} }, field('branch', 'Branch', state.branch), field('tag', 'Tag', state.tag), field('commit', 'Commit', state.commit),
	el('span', { class: 'together' }, field('fact', 'Condition', state.fact, 'facts'), field('value', 'is', state.value)),
	el('datalist', { id: 'facts' }, facts.map((key) => el('option', { value: key }))), el('button', {}, 'Search'));
}

async function showProject(state) {
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

// --- comparisons ---

const LINKED_NAME = 1500; // longer names do not fit into an address

async function showVerdict(state) {
	const [a, b] = [state.a ?? state.run, state.b];
	const data = await ask('verdict', { a, b });
	const { project } = data.run;
	const words = b ? `${data.run.baseline.commit?.slice(0, 10) ?? 'A'} → ${data.run.candidate.commit?.slice(0, 10) ?? 'B'}` : data.run.id.slice(0, 13);
	document.title = `${words} · perfdb`;
	showTrail(link(clip(project, 60), 'project', { project }), words);
	showComparison(page, data, {
		functionHref: (benchmark, name, library) => (name.length + library.length < LINKED_NAME ? address('function', { project, benchmark, name, library }) : undefined),
		profileOf: (benchmark, range) => ask('profile', { a, b, benchmark, pairs: range.join('-') }),
	});
}

// --- trends ---

const STATES = ['new', 'investigating', 'accepted', 'noise', 'fixed'];

// Where to look: what was committed between the last run before a change and the first one after it.
function commitsBetween(change, points) {
	const [before, after] = [change.last_run_before, change.run].map((id) => points.find((p) => p.run === id)?.commit);
	if (!before || !after || before === after)
		return null;
	return [' · ', el('code', {}, `git log ${before.slice(0, 12)}..${after.slice(0, 12)}`)];
}

// What a change point is found from has to be seen a few times; until then it is said, and called what it is.
function possibleChange(change, points) {
	if (!change)
		return null;
	const which = change.runs === 1 ? 'the newest run' : `the ${change.runs} newest runs`;
	return el('p', { class: 'possible' }, el('strong', {}, `Possible change at ${which}: ${formatChange(change.ratio - 1)}`),
		`, not yet confirmed (${change.runs} of ${change.runs_needed} runs). `, link('Compare with the run before', 'compare', { a: change.last_run_before, b: change.run }),
		commitsBetween(change, points));
}

function runLabel(points, id) {
	return points.find((p) => p.run === id)?.commit?.slice(0, 10) ?? id.slice(0, 13);
}

function triageForm(state, change, decision) {
	const name = `at ${change.run.slice(0, 13)}`;
	const select = el('select', { 'aria-label': `State of the change ${name}` },
		STATES.map((word) => el('option', { value: word, selected: (decision?.state ?? 'new') === word }, word)));
	const note = el('input', { 'aria-label': `Why, for the change ${name}`, placeholder: 'why', maxlength: 500, value: decision?.note ?? '' });
	const save = async (event) => {
		event.preventDefault();
		await tell('triage', { project: state.project, benchmark: state.benchmark, metric: state.metric, run: change.run, state: select.value, note: note.value || undefined });
		status.textContent = `The change is kept as ${select.value}.`;
	};
	if (!state.writable)
		return decision && [' ', el('strong', {}, decision.state), ` ${clip(decision.note ?? '', 500)}`];
	return el('form', { class: 'note', onsubmit: (event) => attempt(() => save(event)) }, select, note, el('button', {}, 'Keep'));
}

function changeRow(state, change, decision, points) {
	return el('li', {}, el('strong', {}, formatChange(change.ratio - 1)), ' since ', link(runLabel(points, change.run), 'run', { run: change.run }), ' · ',
		link('compare with the run before', 'compare', { a: change.last_run_before, b: change.run }), commitsBetween(change, points), triageForm(state, change, decision));
}

// What the server refuses is told where it was tried.
async function attempt(work) {
	try {
		await work();
	} catch (error) {
		status.textContent = error.message;
	}
}

function noteRow(state, note, redraw) {
	const remove = async () => {
		await ask(`annotations/${note.id}`, { project: state.project }, { method: 'DELETE' });
		await redraw();
		status.textContent = 'The note is gone.';
	};
	return el('li', {}, el('strong', {}, note.kind), ` ${clip(note.text, 500)} `, el('span', { class: 'quiet' }, formatTime(note.created_at)), ' ',
		state.writable && el('button', { type: 'button', 'aria-label': `Remove the note: ${clip(note.text, 40)}`, onclick: () => attempt(remove) }, 'Remove'));
}

function notesOf(state, annotations, redraw) {
	const add = async (event) => {
		event.preventDefault();
		const words = Object.fromEntries(new FormData(event.target));
		await tell('annotations', { project: state.project, benchmark: state.benchmark, metric: state.metric, ...words });
		await redraw();
		status.textContent = 'The note is kept.';
	};
	const form = el('form', { class: 'note', onsubmit: (event) => attempt(() => add(event)) },
		el('label', {}, 'Note ', el('input', { name: 'text', required: true, maxlength: 1000 })),
		el('label', {}, 'Kind ', el('select', { name: 'kind' }, ['note', 'known-noise', 'accepted', 'exclude'].map((kind) => el('option', { value: kind }, kind)))),
		el('button', {}, 'Add'));
	if (!state.writable && annotations.length === 0)
		return null;
	return el('section', { 'aria-labelledby': 'notes' }, el('h2', { id: 'notes' }, 'Notes'),
		annotations.length > 0 && el('ul', {}, annotations.map((note) => noteRow(state, note, redraw))), state.writable && form);
}

function chart(state, title, answer, project) {
	return trendChart({
		title,
		unit: answer.unit,
		points: answer.points.map((p) => ({ ...p, label: `${p.commit?.slice(0, 10) ?? p.run.slice(0, 13)}, ${formatTime(p.started_at)}`, value: p.value ?? NaN, time: p.started_at })),
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
	const full = { ...state, metric, writable: await canWrite() };
	const [answer, { triage }, { annotations }] = await Promise.all([ask('trend', { project, benchmark, metric, branch: state.branch }),
		ask('triage', { project, benchmark }), ask('annotations', { project, benchmark })]);
	const go = (changed) => { location.search = address('trend', Object.fromEntries(Object.entries({ ...full, ...changed, writable: undefined }).filter(([, value]) => value))); };
	const select = el('select', { onchange: (event) => go({ metric: event.target.value }) },
		metrics.map((name) => el('option', { value: name, selected: name === metric }, name)));
	const branch = el('form', { class: 'note', onsubmit: (event) => {
		event.preventDefault();
		go({ branch: new FormData(event.target).get('branch') });
	} }, el('label', {}, 'Metric ', select), el('label', {}, 'Branch ', el('input', { name: 'branch', value: state.branch ?? '', placeholder: 'all' })), el('button', {}, 'Show'));
	const decided = (change) => triage.find((t) => t.metric === metric && t.run === change.run);
	showTrail(link(clip(project, 60), 'project', { project }), clip(benchmark, 60));
	replace(page, el('main', {}, heading(benchmark), branch, chart(full, `${benchmark}: ${metric}`, answer, project),
		possibleChange(answer.possible_change, answer.points),
		answer.changes?.length > 0 && el('section', { 'aria-labelledby': 'changes' }, el('h2', { id: 'changes' }, 'Changes'),
			el('ul', {}, answer.changes.map((change) => changeRow(full, change, decided(change), answer.points)))),
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
	const answer = await ask('function-trend', { project, benchmark, function: state.function, name: state.name, library: state.library, branch: state.branch, changes: 1 });
	showTrail(link(clip(project, 60), 'project', { project }), link(clip(benchmark, 60), 'trend', { project, benchmark }), clip(answer.name, 60));
	replace(page, el('main', {}, heading(answer.name), el('p', { class: 'quiet' }, `${answer.library}, own time per repetition`),
		chart(state, `${clip(answer.name, 60)}: own time`, answer, project),
		possibleChange(answer.possible_change, answer.points),
		answer.changes.length > 0 && el('section', { 'aria-labelledby': 'changes' }, el('h2', { id: 'changes' }, 'Changes'), el('ul', {}, answer.changes.map((change) => el('li', {},
			el('strong', {}, formatChange(change.ratio - 1)), ' since ', link(runLabel(answer.points, change.run), 'run', { run: change.run }), ' · ',
			link('compare with the run before', 'compare', { a: change.last_run_before, b: change.run }), commitsBetween(change, answer.points))))),
		pointTable(answer)));
}

// --- the whole ---

const VIEWS = { projects: showProjects, project: showProject, run: showVerdict, compare: showVerdict, trend: showTrend, function: showFunction, tokens: showTokens };

function askToken(words) {
	showTrail();
	replace(page, el('main', {}, heading('A token is needed'), el('p', {}, words),
		el('form', { class: 'note', onsubmit: (event) => {
			event.preventDefault();
			capabilities = null;
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
