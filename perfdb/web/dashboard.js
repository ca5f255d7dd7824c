// SPDX-License-Identifier: Apache-2.0
// A project at a glance: what changed and who looks after it, and how each benchmark fares; the worst comes first.

import { el, replace } from './dom.js';
import { clip, finite, formatChange, formatDeltaMs, formatInterval, formatTime, formatValue, place, shortName } from './format.js';
import { commitAddress, linked, placeAddress } from './links.js';
import { sparkline } from './plot.js';
import { badge, dataTable } from './table.js';
import { ask, canWrite } from './server.js';
import { commitWords, link, runWords } from './shell.js';
import { triageForm } from './triage.js';

const ORDER = ['regression', 'error', 'creep', 'inconclusive', 'placement', 'improvement', 'new', 'missing', 'pass'];
const STATE_WORDS = { regression: 'regressed', error: 'failed', creep: 'crept up', inconclusive: 'inconclusive', placement: 'placed differently', improvement: 'improved', new: 'new', missing: 'missing', pass: 'passed' };
const DECIDED = ['accepted', 'noise', 'fixed'];
const ASK_AGAIN_MS = 1500;

// An imported profile has no metrics.
function isProfile(benchmark) {
	return !benchmark.metric;
}

// What the newest run says; one without a value failed.
export function stateOf(benchmark) {
	if (isProfile(benchmark))
		return '';
	return benchmark.measured ? benchmark.verdict ?? '' : 'error';
}

function isWorse(benchmark, ratio) {
	return benchmark.better === 'higher' ? ratio < 1 : ratio > 1;
}

export function countStates(benchmarks) {
	return ORDER.map((state) => [state, benchmarks.filter((b) => stateOf(b) === state).length]).filter(([, n]) => n > 0)
		.map(([state, n]) => `${n} ${STATE_WORDS[state]}`).join(', ');
}

function countProfiles(benchmarks) {
	const n = benchmarks.filter(isProfile).length;
	return n > 0 ? `${n} profile${n === 1 ? '' : 's'}` : '';
}

// Runs that were sent without their report have no verdict.
function stateWords(benchmarks) {
	const measured = benchmarks.filter((b) => !isProfile(b));
	const n = measured.length;
	if (benchmarks.length === 0)
		return 'No benchmark ran yet.';
	return [countProfiles(benchmarks), n > 0 && (countStates(measured) || `${n} benchmark${n === 1 ? '' : 's'}; the newest run came without a verdict`)]
		.filter(Boolean).join(', ');
}

function changeWords(benchmark, ratio) {
	const words = formatChange(ratio - 1);
	if (benchmark.better === 'higher' || benchmark.unit !== 'ns')
		return words;
	return `${words.slice(1)} ${ratio > 1 ? 'slower' : 'faster'}`;
}

// "find table.c:16 (+5.0 ms)"
export function causeOf(cause, links) {
	const delta = cause.unit === 'ms' ? formatDeltaMs(cause.delta) : `${cause.delta > 0 ? '+' : '−'}${formatValue(Math.abs(cause.delta), cause.unit)}`;
	return [el('code', {}, clip(shortName(cause.function), 80)), ' ', linked(placeAddress(links, cause.file, cause.line), place(cause.file, cause.line)), ` (${delta})`];
}

// "wordcount 11.6 % slower: find table.c:16 (+5.0 ms)"
export function causeWords(benchmark, links) {
	const { cause } = benchmark;
	return cause && [`${changeWords(benchmark, benchmark.ratio)}: `, causeOf(cause, { ...links, head: benchmark.commit })];
}

// Beside the way to the run, the way to the commit itself.
function sourceLink(links, b) {
	const href = commitAddress(links, b.commit);
	return href && [' ', el('a', { href, rel: 'noreferrer', 'aria-label': `source of commit ${b.commit.slice(0, 10)}` }, '↗')];
}

function benchmarkTable(project, data) {
	const { benchmarks, release } = data;
	const links = { ...data.links, project };
	const rank = (b) => ORDER.indexOf(stateOf(b) || 'pass');
	const rows = [...benchmarks].sort((a, b) => rank(a) - rank(b));
	const columns = [
		{ title: 'Benchmark', value: (b) => b.name, grow: true, cell: (b) => [isProfile(b) ? link(clip(b.name, 200), 'run', { run: b.run }) : link(clip(b.name, 200), 'trend', { project, benchmark: b.name }),
			b.cause && el('div', { class: 'cause' }, causeWords(b, links))] },
		{ title: 'State', value: rank, cell: (b) => (stateOf(b) ? badge(stateOf(b)) : '') },
		{ title: 'Newest', numeric: true, cell: (b) => formatValue(b.value, b.unit) },
		{ title: 'Metric', value: (b) => b.label ?? '', cell: (b) => (isProfile(b) ? 'profile' : b.label ?? '') },
		{ title: 'Change', numeric: true, value: (b) => b.ratio ?? NaN, help: 'Of the newest run against its baseline',
			cell: (b) => (finite(b.ratio) ? [formatChange(b.ratio - 1), ' ', el('span', { class: 'quiet' }, formatInterval(b.interval))] : '') },
	];
	if (release)
		columns.push({ title: `Since ${clip(release.tag, 20)}`, numeric: true, value: (b) => b.since_release ?? NaN, cell: (b) => (finite(b.since_release) ? formatChange(b.since_release - 1) : '') });
	columns.push({ title: 'Newest runs', cell: (b) => b.values.length > 1 && sparkline(b.values) },
		{ title: 'Commit', cell: (b) => [link(commitWords(b), 'run', { run: b.run }), sourceLink(links, b)] });
	return dataTable({ label: 'Benchmarks', rows, columns, filter: rows.length > 12 ? (b) => `${b.name} ${stateOf(b)}` : undefined });
}

// A gate measured both builds in pairs; a change point lies between two runs.
function evidence(b, change) {
	const { run } = change;
	if (change.found_by === 'history')
		return [link('what changed', 'compare', { a: change.last_run_before, b: run }), ' · ', link('since this run', 'run', { run })];
	return [link('failed its gate', 'run', { run }), ` ${formatInterval(change.interval)}`, change.confirmed && ', and the runs after it stay there',
		change.undone_by && [' · ', link('taken back here', 'run', { run: change.undone_by })]];
}

// Nobody needs to look at it any more.
function isClosed(change) {
	return Boolean(change.undone_by) || DECIDED.includes(change.state);
}

function changeItem(project, b, change, writable, decided) {
	return el('li', {}, link(clip(b.name, 80), 'trend', { project, benchmark: b.name }), ' ', el('strong', { class: isWorse(b, change.ratio) ? 'worse' : 'better' }, formatChange(change.ratio - 1)),
		` ${b.label}, ${formatValue(change.before, b.unit)} → ${formatValue(change.after, b.unit)} · `, evidence(b, change), ' ',
		writable ? triageForm({ project, benchmark: b.name, metric: b.metric }, change, change, decided)
			: el('span', {}, el('strong', {}, change.state), change.note && ` ${clip(change.note, 500)}`),
		change.author && el('span', { class: 'quiet' }, ` ${clip(change.author, 80)}`));
}

function inbox(project, data, writable, decided) {
	const all = data.benchmarks.flatMap((b) => (b.changes ?? []).map((change) => ({ b, change })));
	const worse = all.filter(({ b, change }) => isWorse(b, change.ratio));
	const open = worse.filter(({ change }) => !isClosed(change));
	const closed = worse.filter(({ change }) => isClosed(change));
	const better = all.filter(({ b, change }) => !isWorse(b, change.ratio));
	const list = (items) => el('ul', { class: 'changes' }, items.map(({ b, change }) => changeItem(project, b, change, writable, decided)));
	const waits = data.pending ? 'Change points are being looked for…' : null;
	return [el('h2', { id: 'open' }, 'Open changes'), open.length > 0 ? list(open) : el('p', { class: 'quiet' }, waits ?? 'None: no gate failed and no benchmark became worse for good without a decision about it.'),
		open.length > 0 && waits && el('p', { class: 'quiet' }, waits),
		closed.length > 0 && el('details', {}, el('summary', {}, `Decided or taken back (${closed.length})`), list(closed)),
		better.length > 0 && el('details', {}, el('summary', {}, `What improved (${better.length})`), list(better))];
}

// Sections of the project's page; what is still being looked for is filled in later.
export async function dashboard(project) {
	const [first, writable] = await Promise.all([ask('dashboard', { project }), canWrite()]);
	const open = el('section', { 'aria-labelledby': 'open' });
	const draw = (data) => replace(open, inbox(project, data, writable, again));
	async function again() {
		const data = await ask('dashboard', { project });
		draw(data);
		if (data.pending)
			setTimeout(again, ASK_AGAIN_MS);
	}
	draw(first);
	if (first.pending)
		setTimeout(again, ASK_AGAIN_MS);
	return [el('p', { class: 'lead' }, stateWords(first.benchmarks),
		first.release && [' · last release ', link(first.release.tag, 'run', { run: first.release.run })]),
	open, el('section', { 'aria-labelledby': 'benchmarks' }, el('h2', { id: 'benchmarks' }, 'Benchmarks'), benchmarkTable(project, first))];
}

// One project of several: its state and what is open.
export async function summary(project) {
	const data = await ask('dashboard', { project, runs: 1 });
	const open = data.benchmarks.flatMap((b) => (b.changes ?? []).filter((change) => isWorse(b, change.ratio) && !isClosed(change)));
	const newest = data.benchmarks.reduce((found, b) => (!found || b.started_at > found.started_at ? b : found), null);
	const worst = data.benchmarks.find((b) => stateOf(b) === 'regression' && b.cause);
	return [[countProfiles(data.benchmarks), countStates(data.benchmarks)].filter(Boolean).join(', '), open.length > 0 && `, ${open.length} open change${open.length === 1 ? '' : 's'}`,
		newest && el('span', { class: 'quiet' }, ` · ${runWords({ ...newest, id: newest.run })}, ${formatTime(newest.started_at)}`),
		worst && el('div', { class: 'cause' }, clip(worst.name, 60), ' ', causeWords(worst, { ...data.links, project }))];
}
