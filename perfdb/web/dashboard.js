// SPDX-License-Identifier: Apache-2.0
// Projects at a glance: the changes with their owners, and the state of each benchmark, worst first.

import { afterPaint, el, replace } from './dom.js';
import { clip, countStates, finite, formatChange, formatInterval, formatValue, place, rankOf } from './format.js';
import { commitAddress, linked, PLAIN_ADDRESS } from './links.js';
import { sparkline } from './plot.js';
import { badge, dataTable } from './table.js';
import { canAdminister, canWrite, projectNames, query } from './server.js';
import { ago, commitWords, heading, link, page, showHeader } from './shell.js';
import { triageForm } from './triage.js';

const DECIDED = ['accepted', 'noise', 'fixed'];
const ASK_AGAIN_MS = 1500;
const SUMMED_UP = 30; // maximum number of projects whose state is fetched
const FEW = 12; // up to this number, benchmarks are listed without folding

// An imported profile has no metrics.
function isProfile(benchmark) {
	return !benchmark.metric;
}

// Returns the newest run's state. A run without a value has failed.
function stateOf(benchmark) {
	if (isProfile(benchmark))
		return '';
	return benchmark.measured ? benchmark.answer?.state ?? benchmark.verdict ?? '' : 'error';
}

function rank(benchmark) {
	return rankOf(stateOf(benchmark) || 'pass');
}

function sizeOf(benchmark) {
	return stateOf(benchmark) !== 'pass' && finite(benchmark.ratio) ? Math.abs(benchmark.ratio - 1) : 0;
}

function isWorse(benchmark, ratio) {
	return benchmark.better === 'higher' ? ratio < 1 : ratio > 1;
}

function countProfiles(benchmarks) {
	const n = benchmarks.filter(isProfile).length;
	return n > 0 ? `${n} profile${n === 1 ? '' : 's'}` : '';
}

// A run that was sent without its report has no verdict.
function stateWords(benchmarks) {
	const measured = benchmarks.filter((b) => !isProfile(b));
	const n = measured.length;
	if (benchmarks.length === 0)
		return 'No benchmark has run yet.';
	return [countProfiles(benchmarks), n > 0 && (countStates(measured.map(stateOf)) || `${n} benchmark${n === 1 ? '' : 's'}; the newest run has no verdict`)]
		.filter(Boolean).join(', ');
}

// Returns the card's sentence, with a link to the source line if there is an address for the line.
// `name` is a benchmark's name that the page shows already and the sentence omits.
function answerWords({ sentence, because }, name = '') {
	const [first] = because;
	const words = clip(name && sentence.startsWith(`${name} `) ? sentence.slice(name.length + 1) : sentence, 600);
	const spot = first?.url && place(first.file, first.line);
	const at = spot ? words.indexOf(spot) : -1;
	return at < 0 || !PLAIN_ADDRESS.test(first.url) ? words : [words.slice(0, at), linked(first.url, spot), words.slice(at + spot.length)];
}

// Returns links to the run and to the commit.
function commitLinks(project, data, b) {
	const href = commitAddress({ ...data.links, project }, b.commit);
	return [link(commitWords(b), 'run', { run: b.run }), href && [' ', el('a', { href, rel: 'noreferrer', 'aria-label': `source of commit ${b.commit.slice(0, 10)}` }, '↗')]];
}

// Returns the first benchmark if all benchmarks have the same newest run, so that the page names
// the run only once.
function runOfAll({ benchmarks }) {
	const [first] = benchmarks;
	return benchmarks.every((b) => b.run === first.run) && first;
}

function benchmarkTable(project, data, rows, label) {
	const columns = [
		{ title: 'Benchmark', value: (b) => b.name, grow: true, cell: (b) => [isProfile(b) ? link(clip(b.name, 200), 'run', { run: b.run }) : link(clip(b.name, 200), 'trend', { project, benchmark: b.name }),
			b.answer && el('div', { class: 'cause' }, answerWords(b.answer, b.name))] },
		{ title: 'State', value: rank, cell: (b) => (stateOf(b) ? badge(stateOf(b)) : '') },
		{ title: 'Change', numeric: true, value: (b) => b.ratio ?? NaN, help: 'Of the newest run against its baseline',
			cell: (b) => (finite(b.ratio) ? [formatChange(b.ratio - 1), ' ', el('span', { class: 'quiet' }, formatInterval(b.interval))] : '') },
		{ title: 'Newest', numeric: true, cell: (b) => [formatValue(b.value, b.unit), ' ', el('span', { class: 'quiet' }, isProfile(b) ? 'profile' : b.label ?? '')] },
		{ title: 'Newest runs', cell: (b) => b.levels.length > 1 && sparkline(b.levels), help: 'The level computed from pairs, commit by commit' },
	];
	if (rows.every((b) => !stateOf(b)))
		columns.splice(1, 2);
	if (!runOfAll(data))
		columns.push({ title: 'Commit', grow: true, cell: (b) => commitLinks(project, data, b) });
	return dataTable({ label, rows, columns, filter: rows.length > FEW ? (b) => `${b.name} ${stateOf(b)}` : undefined });
}

// Lists the worst benchmarks first; if there are many, folds the passed benchmarks into one line.
function benchmarkTables(project, data) {
	const rows = [...data.benchmarks].sort((a, b) => rank(a) - rank(b) || sizeOf(b) - sizeOf(a));
	const passed = rows.filter((b) => stateOf(b) === 'pass');
	if (rows.length <= FEW || passed.length === 0)
		return benchmarkTable(project, data, rows, 'Benchmarks');
	const others = rows.filter((b) => stateOf(b) !== 'pass');
	return [others.length > 0 && benchmarkTable(project, data, others, 'Benchmarks that did not pass'),
		el('details', { class: 'passed' }, el('summary', {}, `${passed.length} passed`), benchmarkTable(project, data, passed, 'Benchmarks that passed'))];
}

// Describes how a change was found: a gate measures both builds in pairs; a change point only
// compares successive runs.
function evidence(change) {
	const { run } = change;
	if (change.found_by === 'history')
		return [link('what changed', 'compare', { a: change.last_run_before, b: run }), ' · ', link('since this run', 'run', { run })];
	return [link('failed its gate', 'run', { run }), ` ${formatInterval(change.interval)}`, change.confirmed && ', and later runs confirm it',
		change.reverted_by && [' · ', link('reverted here', 'run', { run: change.reverted_by })]];
}

function changeTable(items, writable, decided) {
	const columns = [
		{ title: 'Benchmark', value: ({ b }) => b.name, grow: true, cell: ({ project, b, change }) => [link(clip(b.name, 80), 'trend', { project, benchmark: b.name, metric: b.metric }),
			change.answer && el('div', { class: 'cause' }, answerWords(change.answer, b.name))] },
		{ title: 'Change', value: ({ change }) => change.ratio, cell: ({ b, change }) => [el('strong', { class: isWorse(b, change.ratio) ? 'worse' : 'better' }, formatChange(change.ratio - 1)),
			el('div', { class: 'quiet' }, `${b.label}, `, el('span', { class: 'amount' }, `${formatValue(change.before, b.unit)} → ${formatValue(change.after, b.unit)}`))] },
		{ title: 'Commit', grow: true, cell: ({ change }) => [link(commitWords(change), 'run', { run: change.run }), el('div', { class: 'quiet' }, change.commit_author && `${clip(change.commit_author, 60)} · `, evidence(change))] },
		{ title: 'Since', value: ({ change }) => change.started_at, cell: ({ change }) => ago(change.started_at) },
		{ title: 'Owner', value: ({ change }) => change.author ?? '', cell: ({ change }) => clip(change.author ?? 'nobody', 40) },
		{ title: 'Decision', cell: ({ project, b, change }) => (writable ? triageForm({ project, benchmark: b.name, metric: b.metric }, change, change, decided)
			: [el('strong', {}, change.state), change.note && ` ${clip(change.note, 500)}`]) },
	];
	if (new Set(items.map(({ project }) => project)).size > 1)
		columns.unshift({ title: 'Project', value: ({ project }) => project, grow: true, cell: ({ project }) => link(clip(project, 60), 'project', { project }) });
	return dataTable({ label: 'Changes', rows: items, columns });
}

// Was the change reverted or decided, so that it needs no more attention?
function isClosed(change) {
	return Boolean(change.reverted_by) || DECIDED.includes(change.state);
}

// Sorts changes of several projects, given as [project, its dashboard], into open changes, closed
// changes (decided or reverted) and improvements; newest first, and within a run largest first.
function sortChanges(answers) {
	const all = answers.flatMap(([project, { benchmarks }]) => benchmarks.flatMap((b) => (b.changes ?? []).map((change) => ({ project, b, change }))))
		.sort((x, y) => Date.parse(y.change.started_at) - Date.parse(x.change.started_at) || Math.abs(y.change.ratio - 1) - Math.abs(x.change.ratio - 1));
	const worse = all.filter(({ b, change }) => isWorse(b, change.ratio));
	return { open: worse.filter(({ change }) => !isClosed(change)), closed: worse.filter(({ change }) => isClosed(change)), better: all.filter(({ b, change }) => !isWorse(b, change.ratio)) };
}

function inbox(answers, writable, decided) {
	const { open, closed, better } = sortChanges(answers);
	const waits = answers.some(([, data]) => data.pending) && el('p', { class: 'quiet' }, 'Searching for change points…');
	const folded = (words, items) => items.length > 0 && el('details', {}, el('summary', {}, `${words} (${items.length})`), changeTable(items, writable, decided));
	return [el('h2', { id: 'open' }, 'Open changes'), open.length > 0 && changeTable(open, writable, decided), waits || open.length > 0 ? waits
		: el('p', { class: 'quiet' }, 'None: every failed gate and every lasting slowdown has a decision or was undone.'),
	folded('Decided or undone', closed), folded('Improvements', better)];
}

// Shows open changes, closed changes and improvements of some projects, and adds change points
// found later.
async function inboxSection(answers) {
	const writable = await canWrite();
	const section = el('section', { 'aria-labelledby': 'open' });
	const draw = (known) => {
		replace(section, inbox(known, writable, again));
		if (known.some(([, data]) => data.pending))
			setTimeout(again, ASK_AGAIN_MS);
	};
	async function again() {
		draw(await Promise.all(answers.map(async ([project]) => [project, await query('dashboard', { project, runs: 1 })])));
	}
	draw(answers);
	return section;
}

const REMEDIES = { length: 'longer benchmark', pairs: 'more pairs', noise: 'quieter host', layouts: 'measure.layouts: always', min_effect: 'smaller min_effect' };

function shareWords(share, hits) {
	return share ? `${share[hits]} of ${share.runs}` : '';
}

function percent(share) {
	return finite(share) ? `${Number((100 * share).toPrecision(2))} %` : 'unknown';
}

// Shows the gate's card from `fastgate prove`, one row per runner.
function proofSection(cards) {
	const remedy = ({ remedies = [] }) => remedies.length > 0 && `${REMEDIES[remedies[0].limit] ?? ''}: ${percent(remedies[0].smallest_found)} → ${percent(remedies[0].expected)}`;
	const columns = [
		{ title: 'Runner', grow: true, cell: ({ host_fingerprint: runner, received_at: at }) => [el('code', {}, runner.slice(0, 8)), el('div', { class: 'quiet' }, ago(at))] },
		{ title: 'State', cell: ({ card }) => card.broken && el('span', { class: 'badge regression' }, 'broken') },
		{ title: 'False alarms', help: 'Runs on equal code that failed', cell: ({ card }) => [shareWords(card.false_alarms, 'alarms'), el('div', { class: 'quiet' }, `at most ${percent(card.false_alarms?.at_most)}`)] },
		{ title: 'Smallest found', help: 'Planted slowdown, found in 95 % of its runs', cell: ({ card }) => [percent(card.smallest_found), el('div', { class: 'quiet' }, (card.slowdowns ?? []).map(({ size, found }) => `${percent(size)}: ${shareWords(found, 'found')}`).join(', '))] },
		{ title: 'Function named', cell: ({ card }) => shareWords(card.functions, 'named') },
		{ title: 'Time per verdict', numeric: true, cell: ({ card }) => finite(card.minutes_per_verdict) && `${Number(card.minutes_per_verdict.toPrecision(2))} min` },
		{ title: 'Would help', grow: true, cell: ({ card }) => remedy(card) },
	];
	return el('section', { 'aria-labelledby': 'proof' }, el('h2', { id: 'proof' }, 'Proof of the gate'), dataTable({ label: 'Proof of the gate', rows: cards, columns }));
}

// Shows functions that crept up over several benchmarks.
async function creepSection(project) {
	const { functions, benchmarks } = await query('creep', { project });
	if (functions.length === 0)
		return false;
	return el('section', { 'aria-labelledby': 'creep' }, el('h2', { id: 'creep' }, 'Crept up'), el('p', { class: 'quiet' }, `Small steps that add up across ${benchmarks} benchmarks; 5 % of these functions are expected to be false alarms.`),
		dataTable({ label: 'Functions that crept up', rows: functions, columns: [
			{ title: 'Function', value: (f) => f.name, grow: true, cell: (f) => [clip(f.name, 200), el('div', { class: 'quiet' }, clip(f.library, 100))] },
			{ title: 'Change', numeric: true, value: (f) => f.change, help: 'Relative to the time of the benchmarks that call the function, on average', cell: (f) => el('strong', { class: 'worse' }, formatChange(f.change)) },
			{ title: 'Benchmarks', numeric: true, value: (f) => f.benchmarks, cell: (f) => f.benchmarks },
		] }));
}

export async function showProject({ project }) {
	const [data, { cards }] = await Promise.all([query('dashboard', { project }), query('cards', { project })]);
	const open = await inboxSection([[project, data]]);
	const main = el('main', {}, heading(project), el('p', { class: 'lead' }, stateWords(data.benchmarks),
		runOfAll(data) && [' · ', commitLinks(project, data, runOfAll(data)), ', ', ago(runOfAll(data).started_at)],
		data.release && [' · last release ', link(data.release.tag, 'run', { run: data.release.run })]), open,
	el('section', { 'aria-labelledby': 'benchmarks' }, el('h2', { id: 'benchmarks' }, 'Benchmarks'), benchmarkTables(project, data)), cards.length > 0 && proofSection(cards));
	replace(page, main);
	if (data.benchmarks.length > 1)
		afterPaint(async () => main.append(await creepSection(project) || ''));
}

export async function showChanges({ project }) {
	const section = await inboxSection([[project, await query('dashboard', { project })]]);
	for (const details of section.querySelectorAll('details'))
		details.open = true;
	replace(page, el('main', {}, heading('Changes'), section));
}

// --- all projects ---

function guide(administers) {
	const step = (words, ...commands) => el('li', {}, words, el('pre', {}, commands.join('\n')));
	return [el('p', {}, 'No run has been uploaded yet. In your own project:'), el('ol', { class: 'guide' },
		step(administers ? ['Create a token that may send runs, on the page ', link('Tokens', 'tokens'), ' or on the server:'] : 'Create a token that may send runs, on the server:', 'perfdb token create --scope upload --note ci'),
		step('Set the address and the token on the machine that measures:', `export PERFDB_URL=${location.origin}/ PERFDB_TOKEN=…`),
		step('Measure a first run and send it:', 'fastgate init', 'fastgate run --against HEAD', 'fastgate push latest'))];
}

function projectTable(rows) {
	const newest = ([, { benchmarks }]) => benchmarks.reduce((found, b) => (!found || b.started_at > found.started_at ? b : found), null);
	const worst = ([, { benchmarks }]) => Math.min(...benchmarks.map(rank), Infinity);
	return dataTable({ label: 'Projects', rows: [...rows].sort((a, b) => worst(a) - worst(b)), filter: rows.length > FEW ? ([name]) => name : undefined, columns: [
		{ title: 'Project', value: ([name]) => name, grow: true, cell: ([name]) => link(clip(name, 200), 'project', { project: name }) },
		{ title: 'Benchmarks', grow: true, cell: ([, { benchmarks }]) => benchmarks.length > 0 && stateWords(benchmarks) },
		{ title: 'Newest run', grow: true, cell: (row) => newest(row) && link(commitWords(newest(row)), 'run', { run: newest(row).run }) },
		{ title: 'Started', value: (row) => newest(row)?.started_at ?? '', cell: (row) => newest(row) && ago(newest(row).started_at) },
	] });
}

// Shows the front page: all projects with their changes, or the page of the only project.
export async function showProjects(state) {
	const [projects, administers] = await Promise.all([projectNames(), canAdminister()]);
	if (projects.length === 1 && !state.view) {
		showHeader(projects[0], 'project');
		await showProject({ project: projects[0] });
		return;
	}
	const main = el('main', {}, heading('Projects'), projects.length === 0 ? guide(administers) : projectTable(projects.map((name) => [name, { benchmarks: [] }])));
	replace(page, main);
	afterPaint(async () => {
		const some = projects.slice(0, SUMMED_UP);
		const answers = (await Promise.all(some.map(async (project) => [project, await query('dashboard', { project, runs: 1 }).catch(() => ({ benchmarks: [] }))])));
		if (projects.length > 0)
			replace(main, heading('Projects'), await inboxSection(answers), el('section', { 'aria-labelledby': 'projects' }, el('h2', { id: 'projects' }, 'All projects'),
				projectTable([...answers, ...projects.slice(SUMMED_UP).map((name) => [name, { benchmarks: [] }])])));
	});
}
