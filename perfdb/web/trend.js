// SPDX-License-Identifier: Apache-2.0
// A metric, or a function, over the runs.

import { el, replace } from './dom.js';
import { clip, finite, formatChange, formatTime } from './format.js';
import { trendChart } from './plot.js';
import { badge, dataTable } from './table.js';
import { ask, canWrite, tell } from './server.js';
import { address, attempt, heading, link, page, runWords, showTrail, status } from './shell.js';
import { triageForm } from './triage.js';

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

function decisionOn(state, change, decision) {
	if (state.writable)
		return triageForm({ project: state.project, benchmark: state.benchmark, metric: state.metric }, change, decision);
	return decision && [' ', el('strong', {}, decision.state), ` ${clip(decision.note ?? '', 500)}`];
}

function changeRow(state, change, decision, points) {
	return el('li', {}, el('strong', {}, formatChange(change.ratio - 1)), ' since ', link(runLabel(points, change.run), 'run', { run: change.run }), ' · ',
		link('compare with the run before', 'compare', { a: change.last_run_before, b: change.run }), commitsBetween(change, points), decisionOn(state, change, decision));
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
			location.href = address('run', { run: point.run });
		},
	});
}

// A benchmark that never came to a value has runs all the same: they say why.
async function showUnmeasured({ project, benchmark }) {
	const { runs } = await ask('runs', { project, benchmark, limit: 20 });
	showTrail(link(clip(project, 60), 'project', { project }), clip(benchmark, 60));
	replace(page, el('main', {}, heading(benchmark), el('p', { class: 'lead' }, 'No measurement of this benchmark was ever stored. ', runs.length > 0 ? 'Its runs say why:' : ''),
		el('ul', { class: 'found' }, runs.map((run) => el('li', {}, link(runWords(run), 'run', { run: run.id }), ' ', run.outcome ? badge(run.outcome) : 'interrupted',
			el('span', { class: 'quiet' }, ` ${formatTime(run.started_at)}`))))));
}

export async function showTrend(state) {
	const { project, benchmark } = state;
	const { metrics } = await ask('metrics', { project, benchmark });
	if (metrics.length === 0) {
		await showUnmeasured(state);
		return;
	}
	const metric = state.metric ?? (metrics.includes('cpu_time') ? 'cpu_time' : metrics[0]);
	const full = { ...state, metric, writable: await canWrite() };
	const [answer, { triage }, { annotations }] = await Promise.all([ask('trend', { project, benchmark, metric, branch: state.branch }),
		ask('triage', { project, benchmark }), ask('annotations', { project, benchmark })]);
	const go = (changed) => { location.href = address('trend', { ...full, ...changed, writable: undefined }); };
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

// What a function takes itself, or with all that it calls.
const COSTS = { own: 'own time', callees: 'time with callees' };

// Unless the address says which: the one that changed, own time first.
async function functionTrend(state) {
	const { project, benchmark, name, library, branch } = state;
	const question = (of) => ask('function-trend', { project, benchmark, function: state.function, name, library, branch, of, changes: 1 });
	const asked = Object.hasOwn(COSTS, state.of ?? '') ? state.of : null;
	const first = await question(asked ?? 'own');
	const hasChanged = (answer) => answer.changes.length > 0 || answer.possible_change;
	if (asked || hasChanged(first))
		return { of: asked ?? 'own', answer: first };
	const second = await question('callees');
	return hasChanged(second) ? { of: 'callees', answer: second } : { of: 'own', answer: first };
}

export async function showFunction(state) {
	const { project, benchmark } = state;
	const { of, answer } = await functionTrend(state);
	const choice = el('select', { onchange: (event) => { location.href = address('function', { ...state, of: event.target.value }); } },
		Object.entries(COSTS).map(([value, words]) => el('option', { value, selected: value === of }, words)));
	const without = answer.points.filter((p) => !finite(p.value)).length;
	showTrail(link(clip(project, 60), 'project', { project }), link(clip(benchmark, 60), 'trend', { project, benchmark }), clip(answer.name, 60));
	replace(page, el('main', {}, heading(answer.name), el('p', { class: 'quiet' }, `${answer.library}, per repetition`),
		el('form', { class: 'note' }, el('label', {}, 'Shown ', choice)),
		chart(state, `${clip(answer.name, 60)}: ${COSTS[of]}`, answer, project),
		without > 0 && el('p', { class: 'quiet' }, `${without} of ${answer.points.length} runs have no profile: they are not drawn.`),
		possibleChange(answer.possible_change, answer.points),
		answer.changes.length > 0 && el('section', { 'aria-labelledby': 'changes' }, el('h2', { id: 'changes' }, 'Changes'), el('ul', {}, answer.changes.map((change) => el('li', {},
			el('strong', {}, formatChange(change.ratio - 1)), ' since ', link(runLabel(answer.points, change.run), 'run', { run: change.run }), ' · ',
			link('compare with the run before', 'compare', { a: change.last_run_before, b: change.run }), commitsBetween(change, answer.points))))),
		pointTable(answer)));
}
