// SPDX-License-Identifier: Apache-2.0
// The page of one metric, or one function, over the runs.

import { el, names, replace } from './dom.js';
import { clip, finite, formatChange, formatTime, formatValue, metricWords } from './format.js';
import { badge, dataTable } from './table.js';
import { canWrite, post, query } from './server.js';
import { trendChart } from './chart.js';
import { address, ago, attempt, commitWords, heading, link, page, runWords, showTrail } from './shell.js';
import { triageForm } from './triage.js';

const shellWord = (name) => (/^[\w./:@%+=,-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

// Shows the commands that list the commits between the last run before a change and the first run
// after it, and that find the commit at fault.
function commitsBetween(state, change, points) {
	const [before, after] = [change.last_run_before, change.run].map((id) => points.find((p) => p.run === id)?.commit?.slice(0, 12));
	if (!before || !after || before === after)
		return null;
	const isWorse = state.better === 'higher' ? change.ratio < 1 : change.ratio > 1;
	const what = state.function ? ` --function ${shellWord(state.function)}` : state.metric && state.metric !== 'cpu_time' ? ` --metric ${shellWord(state.metric)}` : '';
	return [' · ', el('code', {}, `git log ${before}..${after}`),
		isWorse && state.benchmark && [' · ', el('code', {}, `fastgate bisect ${before} ${after} --bench ${shellWord(state.benchmark)}${what}`)]];
}

// A change point needs several runs after it; until then it is shown as possible.
function possibleChange(state, change, points) {
	if (!change)
		return null;
	const which = change.runs === 1 ? 'the newest run' : `the ${change.runs} newest runs`;
	return el('p', { class: 'possible' }, el('strong', {}, `Possible change at ${which}: ${formatChange(change.ratio - 1)}`),
		`, not yet confirmed (${change.runs} of ${change.runs_needed} runs). `, link('Compare with the previous run', 'compare', { a: change.last_run_before, b: change.run }),
		commitsBetween(state, change, points));
}

function runLabel(points, id) {
	return points.find((p) => p.run === id)?.commit?.slice(0, 10) ?? id.slice(0, 13);
}

function decisionOn(state, change, decision) {
	if (state.writable)
		return triageForm({ project: state.project, benchmark: state.benchmark, metric: state.metric }, change, decision);
	return decision && [' ', el('strong', {}, decision.kind), ` ${clip(decision.text, 500)}`];
}

function changeRow(state, change, decision, points, unit) {
	return el('li', {}, el('strong', {}, formatChange(change.ratio - 1)), `, ${formatValue(change.before, unit)} → ${formatValue(change.after, unit)}`, ' since ', link(runLabel(points, change.run), 'run', { run: change.run }), ' · ',
		link('compare with the previous run', 'compare', { a: change.last_run_before, b: change.run }), commitsBetween(state, change, points), decisionOn(state, change, decision));
}

function noteRow(state, note, points, redraw) {
	const remove = async () => {
		await query(`annotations/${note.id}`, { project: state.project }, { method: 'DELETE' });
		await redraw();
		return 'Note removed.';
	};
	return el('li', {}, note.run && ['on ', link(runLabel(points, note.run), 'run', { run: note.run })], ` ${clip(note.text, 500)} `, el('span', { class: 'quiet' }, formatTime(note.created_at)), ' ',
		state.writable && el('button', { type: 'button', 'aria-label': `Remove the note: ${clip(note.text, 40)}`, onclick: () => attempt(remove) }, 'Remove'));
}

const NOTED_RUNS = 50; // number of newest runs to choose from

function notesOf(state, kept, points, redraw) {
	const add = async (event) => {
		event.preventDefault();
		const words = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ''));
		await post('annotations', { project: state.project, benchmark: state.benchmark, metric: state.metric, ...words });
		await redraw();
		return 'Note saved.';
	};
	const runs = points.slice(-NOTED_RUNS).toReversed();
	const form = el('form', { class: 'note', onsubmit: (event) => attempt(() => add(event)) },
		el('label', {}, 'Note ', el('input', { name: 'text', required: true, maxlength: 1000 })),
		el('label', {}, 'About ', el('select', { name: 'run' }, el('option', { value: '' }, 'the benchmark'), runs.map((p) => el('option', { value: p.run }, pointWords(p))))),
		el('button', {}, 'Add'));
	if (!state.writable && kept.length === 0)
		return null;
	return el('section', { 'aria-labelledby': 'notes' }, el('h2', { id: 'notes' }, 'Notes'),
		kept.length > 0 && el('ul', {}, kept.map((note) => noteRow(state, note, points, redraw))), state.writable && form);
}

function pointWords(p) {
	return `${p.commit?.slice(0, 10) ?? p.run.slice(0, 13)}, ${formatTime(p.started_at)}`;
}

function pointsOf(answer) {
	return answer.points.map((p) => ({ ...p, label: pointWords(p), value: p.value ?? NaN, time: p.started_at }));
}

// Returns the change points' indexes among the drawn points.
function changesOf(answer, points) {
	return (answer.changes ?? []).map((c) => ({ index: points.findIndex((p) => p.run === c.run), before: c.before, after: c.after })).filter((c) => c.index >= 0);
}

// Returns the zoomed range, given by the runs at its ends.
function rangeOf(points) {
	const words = new URLSearchParams(location.search);
	const [from, to] = ['from', 'to'].map((name) => points.findIndex((p) => p.run === words.get(name)));
	return from >= 0 && to > from ? [from, to] : null;
}

function keepRange(points, range) {
	const words = new URLSearchParams(location.search);
	for (const [name, index] of [['from', 0], ['to', 1]]) {
		if (range)
			words.set(name, points[range[index]].run);
		else
			words.delete(name);
	}
	history.pushState(null, '', `/?${words}`);
}

const detailsByRun = new Map();

// Fetches the details of a run, only once.
function detailsOf(benchmark, id) {
	const key = `${id} ${benchmark}`;
	if (!detailsByRun.has(key))
		detailsByRun.set(key, query('around', { run: id, benchmark }).catch(() => ({})));
	return detailsByRun.get(key);
}

function cardOf(benchmark) {
	return async (point) => {
		const { run, answer } = await detailsOf(benchmark, point.run);
		return [run?.subject && el('div', {}, clip(run.subject, 80)), run?.branch && el('div', { class: 'quiet' }, clip(run.branch, 60)), answer && el('div', {}, clip(answer.sentence, 600))].filter(Boolean);
	};
}

function chart(state, title, answer, more = {}) {
	const points = more.points ?? pointsOf(answer);
	const notes = new Map();
	for (const note of more.notes ?? []) {
		if (note.run)
			notes.set(note.run, [...notes.get(note.run) ?? [], clip(note.text, 200)]);
	}
	const made = trendChart({
		title, unit: answer.unit, better: answer.better, points, threshold: answer.threshold, notes,
		changes: changesOf(answer, points), range: more.isPart ? null : rangeOf(points), card: cardOf(state.benchmark), caption: more.caption,
		onRange: more.isPart ? undefined : (range) => keepRange(points, range),
		onPick: (point) => {
			if (point.run)
				location.href = address('run', { run: point.run });
		},
	});
	if (!more.isPart)
		addEventListener('popstate', () => made.setRange(rangeOf(points)));
	return made;
}

// A benchmark without any value still has runs, which show the reason.
async function showUnmeasured({ project, benchmark }) {
	const { runs } = await query('runs', { project, benchmark, limit: 20 });
	replace(page, el('main', {}, heading(benchmark ?? 'Trends'), el('p', { class: 'lead' }, 'No measurement is stored. ', runs.length > 0 ? 'The runs show why:' : ''),
		el('ul', { class: 'found' }, runs.map((run) => el('li', {}, link(runWords(run), 'run', { run: run.id }), ' ', run.outcome ? badge(run.outcome) : 'interrupted', ' ', ago(run.started_at))))));
}

const MIN_CHAINED = 3; // minimum number of commits in a chain that is drawn
const BAND = 1.96; // half the width of a 95 % interval, in standard errors

// Returns the level of each commit, computed from pairs, so that hosts and dates do not affect the
// level.
function chainedPoints(answer) {
	const runs = new Map(answer.points.map((p) => [p.run, p]));
	return answer.chain.map((p) => {
		const error = 100 * (1 + p.level) * BAND * p.standard_error;
		const value = 100 * (1 + p.level);
		const name = p.tag ?? p.commit.slice(0, 10);
		return { ...runs.get(p.run), value, band: [value - error, value + error], label: `${name}, ${formatChange(p.level)} ± ${(BAND * 100 * p.standard_error).toPrecision(2)} %`, time: name, tag: p.tag, run: p.run };
	});
}

const hasChain = (answer) => answer.chain.length >= MIN_CHAINED;

function chainedChart(state, title, answer, more = {}) {
	const points = chainedPoints(answer);
	return chart(state, title, { ...answer, unit: '%', threshold: 0 }, {
		...more, points,
		caption: `${title}: the level relative to the first of ${points.length} commits, computed from pairs, with a 95 % band.${answer.creep && !answer.creep.is_creep ? ` No creep: ${clip(answer.creep.sentence, 500)}` : ''}`,
	});
}

function creepWords(answer) {
	return answer.creep?.is_creep && el('p', { class: 'possible' }, el('strong', {}, 'Crept up: '), names(clip(answer.creep.sentence, 500)));
}

const STEPS = 10; // number of newest steps listed

// Shows the steps that a gate reported, each with its answer card.
async function stepSection({ benchmark }, answer) {
	const steps = answer.chain.flatMap((p, i) => {
		const { verdict } = answer.points.find(({ run }) => run === p.run) ?? {};
		return i > 0 && ['regression', 'improvement'].includes(verdict) ? [{ run: p.run, verdict }] : [];
	}).slice(-STEPS).toReversed();
	const details = await Promise.all(steps.map(({ run }) => detailsOf(benchmark, run)));
	return steps.length > 0 && el('section', { 'aria-labelledby': 'steps' }, el('h2', { id: 'steps' }, 'Steps'), el('ul', { class: 'found' }, steps.map(({ run, verdict }, i) =>
		el('li', {}, badge(verdict), ' ', link(commitWords(details[i].run ?? { run }), 'run', { run }), details[i].answer && el('div', { class: 'cause' }, clip(details[i].answer.sentence, 600))))));
}

function trendForm(state, metrics, benchmarks) {
	const go = (changed) => {
		location.href = address('trend', { project: state.project, benchmark: state.benchmark, metric: state.metric, branch: state.branch, ...changed });
	};
	const select = (words, options, chosen, change) => el('label', {}, `${words} `, el('select', { onchange: (event) => go(change(event.target.value)) },
		options.map(([value, text]) => el('option', { value, selected: value === chosen }, text))));
	return el('form', { class: 'note', onsubmit: (event) => {
		event.preventDefault();
		go({ branch: new FormData(event.target).get('branch') });
	} }, select('Benchmark', benchmarks.map((name) => [name, clip(name, 80)]), state.benchmark, (benchmark) => ({ benchmark, metric: undefined })),
	select('Metric', metrics.map((name) => [name, metricWords(name)]), state.metric, (metric) => ({ metric })),
	el('label', {}, 'Branch ', el('input', { name: 'branch', value: state.branch ?? '', placeholder: 'all' })), el('button', {}, 'Show'),
	select('Shown', [['', 'level from pairs'], ['raw', 'raw values']], state.shown ?? '', (shown) => ({ shown })));
}

const POINTS = 10000;

const headline = (metrics) => (metrics.includes('cpu_time') ? 'cpu_time' : metrics[0]);

// Shows a benchmark's trend within another page.
export function historyOf(project, benchmark) {
	const spot = el('div', {}, el('p', { class: 'quiet' }, 'Loading…'));
	const fill = async () => {
		const { metrics } = await query('metrics', { project, benchmark });
		const metric = headline(metrics);
		const answer = metric && await query('trend', { project, benchmark, metric, limit: POINTS });
		const isChained = metric && hasChain(answer);
		const draw = isChained ? chainedChart : chart;
		replace(spot, metric && draw({ benchmark }, `${benchmark}: ${metricWords(metric)}`, answer, { isPart: true }).element, isChained && creepWords(answer),
		el('p', {}, link('Whole trend: other metrics, decisions and notes', 'trend', { project, benchmark })));
	};
	fill().catch((error) => replace(spot, el('p', { role: 'alert' }, error.message)));
	return spot;
}

function changeSections(state, found, points, annotations, unit) {
	const decided = (change) => annotations.find((a) => a.kind !== 'note' && a.metric === state.metric && a.run === change.run);
	return [possibleChange(state, found.possible_change, points),
		found.changes.length > 0 && el('section', { 'aria-labelledby': 'changes' }, el('h2', { id: 'changes' }, 'Changes'),
			el('ul', {}, found.changes.map((change) => changeRow(state, change, decided(change), points, unit))))];
}

export async function showTrend(parameters) {
	const { project } = parameters;
	const { benchmarks } = await query('benchmarks', { project });
	const state = { ...parameters, benchmark: parameters.benchmark ?? benchmarks[0] };
	const { benchmark } = state;
	const { metrics } = benchmark === undefined ? { metrics: [] } : await query('metrics', { project, benchmark });
	if (metrics.length === 0) {
		await showUnmeasured(state);
		return;
	}
	const metric = state.metric ?? headline(metrics);
	const full = { ...state, metric, writable: await canWrite() };
	const question = { project, benchmark, metric, branch: state.branch, limit: POINTS };
	const [answer, { annotations }] = await Promise.all([query('trend', { ...question, changes: 0 }), query('annotations', { project, benchmark })]);
	const points = pointsOf(answer);
	const notes = annotations.filter(({ kind }) => kind === 'note');
	const title = `${benchmark}: ${metricWords(metric)}`;
	const isChained = state.shown !== 'raw' && hasChain(answer);
	const picture = isChained ? chainedChart(full, title, answer) : chart(full, title, answer, { points, notes });
	const changes = el('div', {}, el('p', { class: 'quiet' }, 'Searching for change points…'));
	replace(page, el('main', {}, heading(benchmark), trendForm(full, metrics, benchmarks), picture.element, changes,
		notesOf(full, notes, answer.points, () => showTrend(state)), pointTable(answer)));
	// The search for changes takes longer than the chart, so ask for it separately.
	const found = await query('trend', { ...question, points: 0 });
	if (!isChained)
		picture.setChanges(changesOf(found, points));
	replace(changes, isChained && [creepWords(answer), await stepSection(full, answer)], changeSections({ ...full, better: answer.better }, found, answer.points, annotations, answer.unit));
}

// Shows the same numbers as a table, for users who do not see the chart.
function pointTable(answer) {
	return el('details', {}, el('summary', {}, `All ${answer.points.length} values`), dataTable({
		label: 'Values',
		rows: answer.points.toReversed(),
		pageRows: 25,
		columns: [
			{ title: 'Run', cell: (p) => link(p.commit?.slice(0, 10) ?? p.run.slice(0, 13), 'run', { run: p.run }) },
			{ title: 'Started', value: (p) => p.started_at, cell: (p) => formatTime(p.started_at) },
			{ title: 'Value', numeric: true, value: (p) => p.value ?? NaN, cell: (p) => (finite(p.value) ? formatValue(p.value, answer.unit) : '') },
		],
	}));
}

// Choices: a function's own time, or its time with callees.
const COSTS = { own: 'own time', callees: 'time with callees' };

// By default, shows own time, or time with callees if only the time with callees has changed.
async function functionTrend(state) {
	const { project, benchmark, name, library, branch } = state;
	const question = (of) => query('function-trend', { project, benchmark, name, library, branch, of, changes: 1 });
	const requested = Object.hasOwn(COSTS, state.of ?? '') ? state.of : null;
	const first = await question(requested ?? 'own');
	const hasChanged = (answer) => answer.changes.length > 0 || answer.possible_change;
	if (requested || hasChanged(first))
		return { of: requested ?? 'own', answer: first };
	const second = await question('callees');
	return hasChanged(second) ? { of: 'callees', answer: second } : { of: 'own', answer: first };
}

export async function showFunction(state) {
	const { project, benchmark } = state;
	const { of, answer } = await functionTrend(state);
	const choice = el('select', { onchange: (event) => { location.href = address('function', { ...state, of: event.target.value }); } },
		Object.entries(COSTS).map(([value, words]) => el('option', { value, selected: value === of }, words)));
	const without = answer.points.filter((p) => !finite(p.value)).length;
	const ofFunction = { benchmark, better: answer.better, function: answer.name };
	showTrail(link(clip(benchmark, 60), 'trend', { project, benchmark }), clip(answer.name, 60));
	replace(page, el('main', {}, heading(answer.name), el('p', { class: 'quiet' }, `${answer.library}, per repetition`),
		el('form', { class: 'note' }, el('label', {}, 'Shown ', choice)),
		chart(state, `${clip(answer.name, 60)}: ${COSTS[of]}`, answer).element,
		without > 0 && el('p', { class: 'quiet' }, `${without} of ${answer.points.length} runs have no profile: they are not drawn.`),
		possibleChange(ofFunction, answer.possible_change, answer.points),
		answer.changes.length > 0 && el('section', { 'aria-labelledby': 'changes' }, el('h2', { id: 'changes' }, 'Changes'), el('ul', {}, answer.changes.map((change) => changeRow(ofFunction, change, null, answer.points, answer.unit)))),
		pointTable(answer)));
}
