// SPDX-License-Identifier: Apache-2.0
// The comparison of two sides, from the verdict down to the raw pairs, for the HTML report and the pages of perfdb.
// The data is report.json with `raw` and `profile` added to each benchmark.

import { afterPaint, el, names, replace, scroller, svg } from './dom.js';
import { clip, countStates, finite, formatChange, formatDeltaMs, formatInterval, formatMs, formatPercent, formatShare, formatTime, formatValue, isStarter, place, rankOf, shortName } from './format.js';
import { commitAddress, linked, linksOfRun, placeAddress, PLAIN_ADDRESS } from './links.js';
import { badge, dataTable } from './table.js';
import { sourceTable } from './source.js';
import { pairPlot } from './plot.js';
import { readProfile } from './profile.js';
import { flameViews } from './flame-views.js';
import { callGraph } from './graph.js';
import { repetitionTimeline } from './timeline.js';
import { markedTables } from './marked.js';
import { argumentParts } from './arguments.js';

// Returns the metric of the benchmark's answer.
function headline(benchmark) {
	return benchmark.metrics.find((m) => m.name === benchmark.answer.metric) ?? benchmark.metrics[0];
}

// An imported profile has no metrics, so there is nothing to judge.
function isProfile(benchmark) {
	return benchmark.metrics.length === 0 && benchmark.verdict !== 'error' && benchmark.verdict !== 'missing';
}

// Returns the benchmark's verdict, or "probably slower".
function stateOf(benchmark) {
	return benchmark.answer.state;
}

function verdictBadge(benchmark) {
	return isProfile(benchmark) ? '' : badge(stateOf(benchmark));
}

function instead(benchmark) {
	if (isProfile(benchmark))
		return benchmark.verdict === 'new' ? 'a profile alone, without measured values' : 'two profiles, compared without a verdict';
	if (benchmark.verdict === 'error')
		return benchmark.error ?? 'could not be measured';
	if (benchmark.verdict === 'new')
		return 'nothing to compare with yet';
	if (benchmark.verdict === 'missing')
		return 'in the baseline only';
	if (benchmark.unaffected)
		return 'unchanged code, placement not checked';
	return benchmark.identical ? 'same binaries on both sides' : '';
}

function levels(metric, unit) {
	const both = finite(metric.baseline) && finite(metric.candidate);
	// If the medians contradict the pairs, the medians differ by chance.
	if (both && finite(metric.ratio) && (metric.ratio - 1) * (metric.candidate - metric.baseline) < 0)
		return `about ${formatValue((metric.baseline + metric.candidate) / 2, unit)}`;
	return both ? `${formatValue(metric.baseline, unit)} → ${formatValue(metric.candidate, unit)}`
		: formatValue(finite(metric.candidate) ? metric.candidate : metric.baseline, unit);
}

// --- the list of benchmarks ---

const FEW = 12; // up to this number, benchmarks are listed without folding

function verdictTable(label, rows, current, onPick) {
	const metricOf = (b) => (instead(b) ? null : headline(b));
	return dataTable({
		label, rows, current,
		filter: rows.length > FEW ? (b) => `${b.name} ${b.verdict}` : undefined,
		columns: [
			{ title: 'Benchmark', value: (b) => b.name,
				cell: (b) => [el('button', { type: 'button', class: 'link', onclick: () => onPick(b) }, names(clip(b.name || '[no name]', 80))), el('div', { class: 'cause' }, verdictBadge(b), ' ', instead(b))] },
			{ title: 'Change', numeric: true, value: (b) => metricOf(b)?.ratio ?? NaN, cell: (b) => {
				const m = metricOf(b);
				return m?.decided && finite(m.ratio) ? [formatChange(m.ratio - 1), el('div', { class: 'quiet' }, formatInterval(m.interval))] : '';
			} },
		],
	});
}

// Lists the worst benchmarks first; if there are many, folds the passed benchmarks into one line.
function verdictTables(data, chosen, current, onPick) {
	const rows = worstFirst(data.benchmarks);
	const passed = rows.filter((b) => b.verdict === 'pass');
	const others = rows.filter((b) => b.verdict !== 'pass');
	const isCurrent = (b) => b === current;
	if (rows.length <= FEW || passed.length === 0)
		return verdictTable('Benchmarks and their verdicts', rows, isCurrent, onPick);
	return [others.length > 0 && verdictTable('Benchmarks that did not pass', others, isCurrent, onPick),
		el('details', { class: 'passed', open: passed.some((b) => b.name === chosen) }, el('summary', {}, `${passed.length} passed`), verdictTable('Benchmarks that passed', passed, isCurrent, onPick))];
}

// --- tabs ---

// Panels: { id, title, content }, where content is a list of elements or a function that makes them
// when first shown. One panel is visible at a time; all panels are printed.
function tabs(label, panels, chosen, onChoice) {
	const buttons = panels.map(({ id, title }) => el('button', { type: 'button', role: 'tab', id: `tab-${id}`, 'aria-controls': `panel-${id}`, onclick: () => {
		show(id);
		onChoice(id);
	} }, title));
	const places = panels.map(({ id, content }) => el('div', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}`, tabindex: 0 }, typeof content === 'function' ? null : content));
	function show(id) {
		panels.forEach((panel, i) => {
			const isShown = panel.id === id;
			buttons[i].setAttribute('aria-selected', String(isShown));
			buttons[i].tabIndex = isShown ? 0 : -1;
			places[i].hidden = !isShown;
			if (isShown && typeof panel.content === 'function' && places[i].childElementCount === 0)
				replace(places[i], panel.content());
		});
	}
	const list = el('div', { role: 'tablist', 'aria-label': label, onkeydown: (event) => {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (step) {
			const next = buttons[(buttons.indexOf(event.target) + step + buttons.length) % buttons.length];
			next.focus();
			next.click();
		}
	} }, buttons);
	show(panels.some(({ id }) => id === chosen) ? chosen : panels[0].id);
	return { list, places, show };
}

// --- one benchmark ---

function section(title, id, ...content) {
	return el('section', { 'aria-labelledby': id }, el('h3', { id }, title), ...content);
}

// Shows a function's name, linked to its history if a server has one.
function functionName(benchmark, view, f, length) {
	const href = view.functionHref?.(benchmark.name, f.name, f.library ?? '');
	const words = el('code', { title: clip(f.name, 600) }, clip(f.name || '[no name]', length));
	return href ? el('a', { href }, words) : words;
}

// Returns accessors and formats for the parts of a change in time, whose keys contain the unit:
// delta_ms.
function timeParts(benchmark) {
	return { of: benchmark, label: null, delta: (f) => f.delta_ms, total: benchmark.total_delta_ms, amount: (m) => formatMs(m.moved_ms),
		format: formatDeltaMs };
}

function measureParts(blame) {
	const unsigned = (value) => formatValue(Math.abs(value), blame.unit);
	return { of: blame, label: blame.label || blame.measure, delta: (f) => f.delta, total: blame.total_delta, amount: (m) => unsigned(m.amount),
		format: (value) => (value === 0 ? '0' : (value < 0 ? '−' : '+') + unsigned(value)) };
}

// Returns one entry per measure, beginning with the headline metric's measure.
function allParts(benchmark) {
	const parts = [timeParts(benchmark), ...(benchmark.measures ?? []).map(measureParts)];
	const metric = headline(benchmark)?.name;
	const story = metric === 'max_rss' ? 'heap.peak' : metric; // a program that became larger is explained by functions that hold more memory
	const first = parts.findIndex((p) => p.of.measure && p.of.measure === story);
	return first > 0 ? [parts[first], ...parts.filter((_, i) => i !== first)] : parts;
}

// If shares of the change are unknown, bars compare the rows with each other.
function blameRow(benchmark, view, parts, largest, f) {
	const share = Math.min(1, Math.abs(f.share_of_change ?? (largest > 0 ? parts.delta(f) / largest : 0)));
	const bar = svg('svg', { width: 90, height: 12, class: 'share', 'aria-hidden': 'true' },
		svg('rect', { width: 90, height: 12, rx: 3, class: 'track' }),
		svg('rect', { width: Math.max(2, 90 * share), height: 12, rx: 3, class: parts.delta(f) > 0 ? 'slower' : 'faster' }));
	return el('li', {}, el('span', { class: 'percent' }, formatShare(f.share_of_change)), bar,
		el('span', { class: 'what' }, functionName(benchmark, view, f, 160), ' ',
			el('span', { class: 'quiet' }, linked(placeAddress(view.links, f.source?.file ?? f.file, f.line), place(f.file, f.line)))),
		el('strong', {}, parts.format(parts.delta(f))), finite(f.p_adjusted) && el('span', { class: 'quiet' }, `p = ${f.p_adjusted.toPrecision(1)}`),
		f.paths.length > 0 && el('ul', { class: 'paths' }, f.paths.slice(0, 3).map((path) => el('li', {},
			el('span', { class: 'quiet' }, `${parts.format(parts.delta(path))}  `), pathWords(path.frames)))));
}

function pathWords(all) {
	const first = all.findIndex((name) => !isStarter(name));
	const frames = first > 0 ? all.slice(first) : all;
	const shown = frames.length > 8 ? [frames[0], '…', ...frames.slice(-6)] : frames;
	return shown.map((frame) => (frame === '…' ? frame : clip(shortName(frame), 60))).join(' → ');
}

export function isSure(f) {
	return ['guilty', 'faster', 'same code'].includes(f.standing);
}

// Colours of a function's standing; the standings moved, not sure and unchanged have no colour.
const STANDING_COLOURS = { guilty: 'regression', faster: 'improvement', 'same code': 'placement' };

function standing(f) {
	const colour = STANDING_COLOURS[f.standing];
	return el('span', { class: colour ? `badge ${colour}` : 'quiet' }, f.standing);
}

// Returns the row for the rest of the change, so that the rows add up. A share above 100 % would be
// meaningless and is left out.
export function everythingElse(parts, shown) {
	const rest = shown.reduce((left, f) => left - parts.delta(f), parts.total ?? NaN);
	if (!finite(rest) || Math.abs(rest) <= 1e-9 * Math.abs(parts.total))
		return null;
	const share = finite(shown[0].share_of_change) && Math.abs(rest / parts.total) <= 1 ? rest / parts.total : null;
	return el('li', {}, el('span', { class: 'percent' }, formatShare(share)), el('span', { class: 'what quiet' }, 'everything else'),
		el('strong', {}, parts.format(rest)));
}

export function notSure(parts) {
	const names = parts.of.functions.filter((f) => (f.standing === 'not sure'))
		.flatMap((f) => [', ', el('code', {}, clip(shortName(f.name), 80)), ` ${parts.format(parts.delta(f))}`]);
	return names.length > 0 && el('p', { class: 'quiet' }, 'not sure: ', names.slice(1));
}

function blameOf(benchmark, view, parts) {
	const shown = parts.of.functions.filter(isSure).slice(0, 12);
	const largest = Math.max(0, ...shown.map((f) => Math.abs(parts.delta(f))));
	const rows = shown.map((f) => blameRow(benchmark, view, parts, largest, f));
	if (parts.of.functions.length === 0)
		return null;
	if (rows.length > 0)
		rows.push(everythingElse(parts, shown));
	const sources = shown.filter((f) => f.source || f.assembly).map((f, i) => sourceTable(f, i === 0, (line) => placeAddress(view.links, f.source.file, line)));
	return [parts.label && el('h4', {}, `By ${clip(parts.label, 80)}`), rows.length > 0 && el('ul', { class: 'blame' }, rows.filter(Boolean)),
		sources, notSure(parts)];
}

function blame(benchmark, view) {
	const lists = allParts(benchmark).map((parts) => blameOf(benchmark, view, parts)).filter(Boolean);
	return lists.length > 0 && section('Where the difference comes from', 'blame', lists,
		el('p', { class: 'quiet' }, benchmark.schedule === 'stored' ? 'Each row is the difference of the function itself between two sessions; its certainty is estimated from the differences between earlier sessions.'
			: 'Each row is the difference of the function itself and of the unchanged libraries that it calls; other functions that it calls have their own rows.'));
}

function movedOf(parts, name) {
	if (!parts.of.moved?.length)
		return null;
	return section(parts.label ? `Moved, not more: ${clip(parts.label, 80)}` : 'Moved, not slower', name, el('ul', {}, parts.of.moved.map((m) => el('li', {},
		el('code', {}, clip(shortName(m.from), 80)), ' → ', el('code', {}, clip(shortName(m.to), 80)), ` ${parts.amount(m)}, ${m.kind}`,
		m.ancestor && [' below ', el('code', {}, clip(shortName(m.ancestor), 80))]))));
}

function moved(benchmark) {
	return [timeParts(benchmark), ...(benchmark.measures ?? []).map(measureParts)]
		.map((parts, i) => movedOf(parts, i === 0 ? 'moved' : `moved-${i}`)).filter(Boolean);
}

// Returns the metrics that have values, and the chosen metric: wanted, else the headline, else the
// first.
function measured(benchmark, wanted, ifDecided) {
	const metrics = benchmark.metrics.filter((m) => (m.decided || !ifDecided) && benchmark.raw?.values[m.name]);
	const chosen = metrics.find((m) => m.name === wanted) ?? metrics.find((m) => m === headline(benchmark)) ?? metrics[0];
	return { metrics, chosen };
}

function metricChoice(metrics, chosen, onChoice) {
	return metrics.length > 1 && el('label', {}, 'Metric ', el('select', { onchange: (event) => onChoice(metrics[event.target.value]) },
		metrics.map((m, i) => el('option', { value: i, selected: m === chosen }, m.label))));
}

function pairs(benchmark, view) {
	const { metrics, chosen } = measured(benchmark, view.state.metric, true);
	if (metrics.length === 0)
		return null;
	const apart = measuredApart(benchmark);
	const spot = el('div', {}, pairPlot(benchmark.raw, chosen, apart));
	return section(apart ? 'Repetitions' : 'Pairs', 'pairs', metricChoice(metrics, chosen, (metric) => {
		replace(spot, pairPlot(benchmark.raw, metric, apart));
		view.keep({ metric: metric.name });
	}), spot);
}

// The details start closed, unless the address names pairs. The chart is drawn when the details
// are first opened.
function overTime(benchmark, view) {
	const { metrics, chosen } = measured(benchmark, view.state.metric, false);
	if (metrics.length === 0)
		return null;
	const details = el('details', {}, el('summary', {}, 'Repetitions over time, to select some of the pairs'));
	const spot = el('div');
	const show = (metric) => replace(spot, repetitionTimeline(benchmark.raw, metric, { range: view.state.pairs, onRange: view.onRange }));
	const open = () => {
		if (details.open && details.childElementCount === 1) {
			details.append(el('div', {}, metricChoice(metrics, chosen, show), spot));
			show(chosen);
		}
	};
	details.addEventListener('toggle', open);
	if (view.state.pairs)
		details.open = true;
	return details;
}

// Notes that apply to several metrics appear once, above the table.
function sharedNotes(metrics) {
	const all = metrics.flatMap((m) => m.notes ?? []);
	return [...new Set(all.filter((note, i) => all.indexOf(note) !== i))];
}

function metricTable(benchmark) {
	const rows = benchmark.metrics.filter((m) => m.gated || finite(m.baseline) || finite(m.candidate));
	const shared = sharedNotes(rows);
	return section('Metrics', 'metrics', notes(shared), dataTable({
		label: 'Metrics',
		rows,
		columns: [
			{ title: 'Metric', cell: (m) => m.label },
			{ title: 'Verdict', cell: (m) => [m.decided ? badge(m.verdict) : 'not judged here', m.gated ? '' : ' informational',
				m.accepted ? ` accepted: ${m.accepted.reason ?? ''}` : '', notes(m.notes?.filter((note) => !shared.includes(note)))] },
			{ title: 'Change', numeric: true, cell: (m) => (finite(m.ratio) ? formatChange(m.ratio - 1) : '') },
			{ title: 'Interval', numeric: true, cell: (m) => formatInterval(m.interval) },
			{ title: 'Baseline → candidate', numeric: true, cell: (m) => levels(m, m.unit) },
			{ title: 'Smallest detectable change', numeric: true, cell: (m) => (finite(m.smallest_detectable) ? formatPercent(m.smallest_detectable) : '') },
		],
	}));
}

function functionTable(benchmark, profile, view) {
	const { functions } = profile;
	const judged = new Map(benchmark.functions.map((f) => [`${f.name}\0${f.library ?? ''}`, f]));
	const both = profile.hasBaseline && profile.hasCandidate;
	const rows = functions.name.map((name, f) => ({
		f, name, verdict: judged.get(`${name}\0${functions.library[f] ?? ''}`),
		self: [functions.self[0][f] / 1e3, functions.self[1][f] / 1e3],
		inclusive: [functions.inclusive[0][f] / 1e3, functions.inclusive[1][f] / 1e3],
	})).filter((row) => row.f > 0 && !profile.isHidden(row.f));
	const number = (title, value, text, help) => ({ title, numeric: true, value, cell: text ?? ((row) => profile.amount(value(row))), help });
	const unjudged = both && isProfile(benchmark);
	const whole = functions.inclusive.map((side) => side[0] / 1e3);
	const share = (title, side) => number(title, (r) => r.self[side] / whole[side], (r) => formatPercent(r.self[side] / whole[side]));
	const own = both ? [number('Own, baseline', (r) => r.self[0]), number('Own, candidate', (r) => r.self[1]),
		number('Own Δ', unjudged ? (r) => Math.abs(r.self[1] - r.self[0]) : (r) => r.self[1] - r.self[0], (r) => profile.delta(r.self[1] - r.self[0]), 'Candidate minus baseline, per repetition'),
		...(unjudged ? [share('Share, baseline', 0), share('Share, candidate', 1)] : [])]
		: [number('Own', (r) => r.self[profile.hasCandidate ? 1 : 0])];
	const all = both ? [number('With callees, baseline', (r) => r.inclusive[0]), number('With callees, candidate', (r) => r.inclusive[1]),
		number('With callees Δ', (r) => r.inclusive[1] - r.inclusive[0], (r) => profile.delta(r.inclusive[1] - r.inclusive[0]))]
		: [number('With callees', (r) => r.inclusive[profile.hasCandidate ? 1 : 0])];
	const columns = [
		{ title: 'Function', value: (r) => r.name, grow: true, cell: (r) => functionName(benchmark, view, { name: r.name, library: functions.library[r.f] }, 200) },
		{ title: 'Library', value: (r) => functions.library[r.f] ?? '', cell: (r) => clip(functions.library[r.f] ?? '', 40) },
		...own, ...all,
	];
	if (both && !unjudged) {
		columns.push({ title: 'Judged Δ', numeric: true, value: (r) => r.verdict?.delta_ms ?? NaN,
			cell: (r) => (r.verdict ? [standing(r.verdict), ` ${formatDeltaMs(r.verdict.delta_ms)}`,
				el('div', { class: 'quiet' }, `${formatDeltaMs(r.verdict.interval_ms[0])} … ${formatDeltaMs(r.verdict.interval_ms[1])}`)] : ''),
			help: 'Change of the own time plus the time that the function spends in libraries that did not change: the test judges this sum' });
	}
	const isSureRow = (r) => r.verdict && isSure(r.verdict);
	const spot = el('div');
	const draw = () => replace(spot, dataTable({
		label: 'Functions', rows: view.state.sure ? rows.filter(isSureRow) : rows, columns, sort: view.state.sort ?? (both ? 4 : 2), descending: !view.state.up, pageRows: 30, filterLabel: 'Filter functions ',
		words: view.state.filter, onState: ({ sort, descending, words }) => view.keep({ sort, up: descending ? undefined : 1, filter: words }),
		filter: (r) => `${r.name} ${functions.library[r.f] ?? ''} ${functions.file[r.f] ?? ''}`,
	}));
	const only = el('input', { type: 'checkbox', checked: Boolean(view.state.sure), onchange: () => {
		view.keep({ sure: only.checked ? 1 : undefined });
		draw();
	} });
	draw();
	return section('Functions', 'functions', both && rows.some(isSureRow) && el('label', {}, only, ' Only significant changes'), spot);
}

function rawTable(benchmark) {
	const { raw } = benchmark;
	if (!raw || isProfile(benchmark) || raw.pair.length === 0)
		return null;
	const metrics = Object.keys(raw.values);
	const unit = new Map(benchmark.metrics.map((m) => [m.name, m.unit]));
	const rows = raw.pair.map((pair, i) => ({ pair, i }));
	const details = el('details', {}, el('summary', {}, `Raw values of ${rows.length} repetitions`));
	details.addEventListener('toggle', () => {
		if (details.open && details.childElementCount === 1) {
			details.append(dataTable({ label: 'Raw values', rows, pageRows: 50, columns: [
				{ title: 'Pair', numeric: true, value: (r) => r.pair, cell: (r) => String(r.pair) },
				{ title: 'Side', cell: (r) => (raw.arm[r.i] ? 'candidate' : 'baseline') },
				{ title: 'Started', numeric: true, cell: (r) => String(raw.position[r.i] + 1) },
				...metrics.map((m) => ({ title: m, numeric: true, value: (r) => raw.values[m][r.i], cell: (r) => formatValue(raw.values[m][r.i], unit.get(m) ?? '') })),
				{ title: 'Does not count', cell: (r) => raw.aside[r.i] ?? '' },
			] }));
		}
	});
	return section('Raw pairs', 'raw', details);
}

// Describes the schedule, the rate, cost and clock of sampling, and the time that sampling cannot
// see.
function howMeasured(benchmark) {
	const { sampling } = benchmark;
	if (measuredApart(benchmark))
		return null;
	const cost = [finite(sampling?.signal_ns) && `each signal ${formatValue(sampling.signal_ns, 'ns')}`,
		finite(sampling?.handler_ns) && `running the collector ${formatValue(sampling.handler_ns, 'ns')}`,
		finite(sampling?.switch_ns) && finite(sampling?.switches_hz)
			&& `a context switch up to ${formatValue(sampling.switch_ns, 'ns')} (${formatValue(sampling.switches_hz, '1')} a second)`].filter(Boolean);
	const rows = [['Schedule', [benchmark.schedule, benchmark.schedule_reason].filter(Boolean).join(': ')],
		['Samples', sampling && `${formatValue(sampling.rate_hz, '1')} a second of CPU time`],
		['Cost of sampling', finite(sampling?.expected_cost) && `about ${(100 * sampling.expected_cost).toFixed(1)} % of the CPU time, on both sides alike`],
		['Cost of a sample', cost.length > 0 && cost.join(', ')],
		['Clock', sampling?.clock], ['Not seen', sampling?.unseen]].filter(([, value]) => value);
	return el('details', {}, el('summary', {}, 'How it was measured'),
		el('dl', { class: 'facts' }, rows.map(([key, value]) => [el('dt', {}, key), el('dd', {}, value)])));
}

function failure(benchmark) {
	if (!benchmark.error_tail)
		return null;
	return section('Why it could not be measured', 'failure',
		scroller('Last lines of output', el('pre', {}, benchmark.error_tail)));
}

// Shows the card without its sentence: the culprit's lines, the mechanism, the change and the next
// steps, as in every report; then the rows in `more`.
function restOfCard({ since, because, lines, commit, next = [] }, ...more) {
	const why = because?.[0]?.mechanism?.words;
	const href = (url) => (PLAIN_ADDRESS.test(url ?? '') ? url : undefined);
	const row = (label, text, url) => [el('dt', {}, label), el('dd', {}, linked(href(url), el('code', {}, clip(text, 600))))];
	return [lines.length > 0 && scroller('The lines', el('pre', { class: 'lines' }, lines.map((line) => el('span', { class: { '-': 'went', '+': 'came' }[line[0]] }, `${line}\n`)))),
		(why || since || more.length > 0) && el('dl', { class: 'sides' }, why && [el('dt', {}, 'why'), el('dd', {}, clip(why, 600))], since && row('change', since, commit?.url), next.map((step) => row(step.what, step.command ?? step.url, step.url)), more)];
}

function notes(list) {
	return list?.length > 0 && el('ul', { class: 'notes' }, list.map((note) => el('li', {}, withCode(note))));
}

// Turns text between backticks, such as `--pairs`, into code.
function withCode(text) {
	return text.split('`').map((part, i) => (i % 2 === 1 ? el('code', {}, part) : part));
}

function measuredApart(benchmark) {
	return benchmark.schedule === 'stored';
}

function sentence(benchmark) {
	const words = instead(benchmark);
	const metric = headline(benchmark);
	if (words)
		return words;
	if (!metric || !finite(metric.ratio))
		return 'nothing was compared';
	const seen = stateOf(benchmark) === 'inconclusive' && finite(metric.smallest_detectable)
		? `; this run could have detected a change of ${formatPercent(metric.smallest_detectable)} or more` : '';
	const how = measuredApart(benchmark) ? '' : `, ${benchmark.pairs} pairs in ${formatValue(benchmark.seconds * 1e9, 'ns')}`;
	return `${metric.label} ${formatChange(metric.ratio - 1)} ${formatInterval(metric.interval)}, ${levels(metric, metric.unit)}${how}${seen}`;
}

function libraryTable(benchmark) {
	const rows = benchmark.libraries ?? [];
	return rows.length > 0 && section('Libraries', 'libraries', dataTable({ label: 'Libraries', rows, columns: [
		{ title: 'Library', value: (r) => r.name, grow: true, cell: (r) => el('code', {}, clip(r.name || '[no name]', 100)) },
		{ title: 'Own, baseline', numeric: true, value: (r) => r.self_ms[0], cell: (r) => formatMs(r.self_ms[0]) },
		{ title: 'Own, candidate', numeric: true, value: (r) => r.self_ms[1], cell: (r) => formatMs(r.self_ms[1]) },
		{ title: 'Own Δ', numeric: true, value: (r) => r.delta_ms, cell: (r) => formatDeltaMs(r.delta_ms) },
		{ title: 'Judgement', cell: (r) => [standing(r), ' ', el('span', { class: 'quiet' }, `${formatDeltaMs(r.interval_ms[0])} … ${formatDeltaMs(r.interval_ms[1])}`)] },
	] }));
}

// Makes the tables for the profile of all pairs or of a range.
function functionParts(benchmark, data, profile, view) {
	const both = Boolean(profile?.hasBaseline && profile.hasCandidate);
	return [profile && functionTable(benchmark, profile, view),
		markedTables(data === benchmark ? benchmark : {}, data.marked, both).map((part) => section(part.title, part.id, part.table)),
		data === benchmark && libraryTable(benchmark)];
}

// Returns the index of the blamed function, which the flame graph shows first.
function culpritOf(benchmark, profile) {
	const guilty = benchmark.functions.find((f) => f.standing === 'guilty') ?? benchmark.functions.find(isSure);
	return guilty && profile.functions.name.findIndex((name, f) => name === guilty.name && (profile.functions.library[f] ?? '') === (guilty.library ?? ''));
}

function flameSection(benchmark, profile, range, view) {
	// The browser's Back button undoes a zoom or a change of view, but not typing.
	const graph = flameViews(profile, { culprit: culpritOf(benchmark, profile), placeHref: (file, line) => placeAddress(view.links, file, line), onState: (flame) => view.keep(flame,
		flame.node !== view.state.node || flame.view !== view.state.view) });
	queueMicrotask(() => graph.restore(view.state));
	view.flame = graph;
	return section('Flame graph', 'flame', range && el('p', { class: 'filtered' }, `Only pairs ${range[0]} to ${range[1]}, here and in the table of functions.`),
		graph.element, profile.folded > 0 && el('p', { class: 'quiet' }, `${profile.folded} frames too small to be seen were added to their callers.`));
}

function argumentSection(benchmark, view) {
	const parts = argumentParts(benchmark.arguments, view.state, (changes) => view.keep(changes));
	return parts && section('Arguments of functions', 'arguments', parts);
}

// Returns the tab with the part that the address names.
function tabOf(state) {
	if (state.tab)
		return state.tab;
	if (state.node || state.view || state.search)
		return 'flame';
	if (state.argument)
		return 'arguments';
	return state.filter || state.sort !== undefined || state.sure ? 'functions' : 'cause';
}

function showBenchmark(benchmark, view) {
	const [flame, graph, functions, chooser] = [el('div'), el('div'), el('div'), el('div')];
	let units = new Map();
	function fill(data, range) {
		const { measure } = view.state;
		const profile = data.profile && readProfile({ ...data.profile, unit: measure && (units.get(measure) ?? '1') });
		const isEmpty = profile && !profile.hasBaseline && !profile.hasCandidate;
		if (isEmpty)
			replace(flame, el('p', { class: 'filtered' }, range ? `None of pairs ${range[0]} to ${range[1]} counts.` : 'No repetition that counts has a profile.'));
		else if (profile)
			replace(flame, flameSection(benchmark, profile, range, view));
		afterPaint(() => {
			replace(functions, isEmpty ? [] : functionParts(measure ? { ...benchmark, functions: [] } : benchmark, data, profile, view));
			replace(graph, profile && !isEmpty && section('Call graph', 'graph', callGraph(profile)));
			view.onDone();
		});
	}
	let latest = 0;
	async function choose(range) {
		latest += 1;
		const mine = latest;
		view.keep({ pairs: range ?? undefined, node: undefined });
		if (!view.profileOf || !benchmark.profile)
			return;
		try {
			const data = range || view.state.measure ? await view.profileOf(benchmark.name, range, view.state.measure) : benchmark;
			if (mine === latest)
				fill(data, range);
		} catch (error) {
			replace(flame, el('p', { role: 'alert' }, error.message));
		}
	}
	// Offers the measures by which paths and functions can be weighed: time or another measure.
	async function offerMeasures() {
		const list = view.measuresOf && benchmark.profile ? await view.measuresOf(benchmark.name).catch(() => []) : [];
		units = new Map(list.map(({ name, unit }) => [name, unit]));
		if (list.length > 1)
			replace(chooser, el('label', {}, 'Call paths and functions by ', el('select', { onchange: (event) => {
				view.keep({ measure: event.target.value || undefined }, true);
				choose(view.state.pairs ?? null);
			} }, el('option', { value: '' }, 'time'), list.filter(({ name }) => name !== 'cpu_time' && name !== 'wall_time')
				.map(({ name }) => el('option', { value: name, selected: name === view.state.measure }, name)))));
		if (view.state.measure)
			choose(view.state.pairs ?? null);
	}
	view.onRange = choose;
	if (!view.measuresOf)
		view.state.measure = undefined;
	if (!view.state.measure)
		fill(benchmark, null);
	if (view.state.pairs && !view.state.measure)
		choose(view.state.pairs);
	offerMeasures();
	const panels = [{ id: 'cause', title: 'Cause', content: [failure(benchmark), blame(benchmark, view), moved(benchmark), pairs(benchmark, view)] }, { id: 'flame', title: 'Flame', content: benchmark.profile ? [overTime(benchmark, view), flame, graph] : [] },
		{ id: 'functions', title: 'Functions', content: benchmark.profile || benchmark.libraries?.length > 0 || benchmark.marked ? [functions] : [] },
		{ id: 'arguments', title: 'Arguments', content: [argumentSection(benchmark, view)].filter(Boolean) },
		{ id: 'history', title: 'History', content: view.historyOf && !isProfile(benchmark) ? () => view.historyOf(benchmark.name) : [] },
		{ id: 'data', title: 'Data', content: [benchmark.metrics.length > 0 && metricTable(benchmark), !benchmark.profile && overTime(benchmark, view), howMeasured(benchmark), rawTable(benchmark),
			facts('Build of the baseline, this benchmark', benchmark.build?.baseline), facts('Build of the candidate, this benchmark', benchmark.build?.candidate)] }]
		.filter(({ content }) => typeof content === 'function' || content.flat().some(Boolean));
	const parts = tabs(`Parts of ${clip(benchmark.name, 80)}`, panels, tabOf(view.state), (tab) => view.keep({ tab }));
	// The leading benchmark's card begins the page; another benchmark's card is shown here.
	const { isLeading } = view;
	return [el('h2', { id: 'benchmark', tabindex: -1, class: isLeading && view.isAlone ? 'hidden' : undefined }, names(isLeading || isProfile(benchmark) ? clip(benchmark.name || '[no name]', 120) : clip(benchmark.answer.sentence, 600))),
		!isLeading && restOfCard(benchmark.answer), (isProfile(benchmark) || !instead(benchmark)) && el('p', { class: 'lead' }, sentence(benchmark)), !isProfile(benchmark) && notes(benchmark.notes), el('div', { class: 'tabs' }, parts.list, chooser), parts.places];
}

// --- around the benchmarks ---

function differences(data) {
	const rows = data.environment_difference;
	if (rows.length === 0)
		return el('p', { class: 'quiet' }, 'No recorded fact differs between the two sides.');
	return dataTable({ label: 'What differs in host and build', rows, columns: [
		{ title: 'What', value: (d) => d.key, cell: (d) => el('code', {}, clip(d.key, 100)) },
		{ title: 'Baseline', cell: (d) => clip(d.baseline ?? 'absent', 300), grow: true },
		{ title: 'Candidate', cell: (d) => clip(d.candidate ?? 'absent', 300), grow: true },
		{ title: 'Matters', cell: (d) => (d.identity ? 'part of the fingerprint' : '') },
	] });
}

function facts(title, object) {
	const entries = Object.entries(object ?? {});
	return entries.length > 0 && el('details', {}, el('summary', {}, `${title} (${entries.length} fact${entries.length === 1 ? '' : 's'})`),
		el('dl', { class: 'facts' }, entries.map(([key, value]) => [el('dt', {}, clip(key, 100)), el('dd', {}, clip(value ?? '', 600))])));
}

function sideRow(words, s, links) {
	return [el('dt', {}, words), el('dd', {}, s.commit ? linked(commitAddress(links, s.commit), el('code', {}, s.commit.slice(0, 12))) : 'no commit', s.describe ? ` ${clip(s.describe, 80)}` : '',
		s.branch ? ` on ${clip(s.branch, 60)}` : '', s.build?.['git.subject'] ? ` “${clip(s.build['git.subject'], 100)}”` : '', s.dirty ? ', with uncommitted changes' : '')];
}

// Reads the view from the address, so that a link reproduces the view.
function readHash() {
	const state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
	const pairRange = /^(\d+)-(\d+)$/.exec(state.pairs ?? '');
	const numberOf = (text) => (/^\d+$/.test(text ?? '') ? Number(text) : undefined);
	return { ...state, node: numberOf(state.node), sort: numberOf(state.sort), pairs: pairRange ? [Number(pairRange[1]), Number(pairRange[2])] : undefined };
}

function writeHash(state, isStep) {
	const words = new URLSearchParams(Object.entries({ benchmark: undefined, node: undefined, ...state, pairs: state.pairs?.join('-') }).filter(([, value]) => value !== undefined && value !== ''));
	const write = isStep ? history.pushState : history.replaceState;
	write.call(history, null, '', words.size > 0 ? `#${words}` : location.pathname + location.search);
}

function sizeOf(benchmark) {
	const ratio = benchmark.verdict === 'pass' ? NaN : headline(benchmark)?.ratio;
	return finite(ratio) ? Math.abs(ratio - 1) : 0;
}

// Sorts the most urgent benchmarks first, then by size of the change; passed benchmarks keep their
// order.
function worstFirst(benchmarks) {
	return [...benchmarks].sort((a, b) => rankOf(stateOf(a)) - rankOf(stateOf(b)) || sizeOf(b) - sizeOf(a));
}

// Options on a server: historyOf(benchmark) returns an element with the benchmark's history;
// functionHref(benchmark, name, library) returns the address of a function's history;
// profileOf(benchmark, [from, to], measure) fetches the profile of some pairs or by another
// measure; measuresOf(benchmark) fetches the measures, [{ name, unit }].
export function showComparison(root, data, options = {}) {
	const view = { ...options, links: linksOfRun(data.run), state: readHash(), onDone: () => { root.dataset.ready = 'true'; },
		keep: (changes, isStep) => writeHash(Object.assign(view.state, { benchmark: current?.name }, changes), isStep) };
	const detail = el('section', { class: 'detail', 'aria-labelledby': 'benchmark' });
	const table = el('div');
	const leading = data.benchmarks.find((b) => b.name === data.answer.benchmark) ?? worstFirst(data.benchmarks)[0];
	let current = data.benchmarks.find((b) => b.name === view.state.benchmark) ?? leading;

	function show() {
		replace(table, data.benchmarks.length > 1 && verdictTables(data, view.state.benchmark, current, pick));
		root.dataset.ready = String(!current);
		Object.assign(view, { isLeading: current === leading, isAlone: data.benchmarks.length === 1 });
		if (current)
			replace(detail, showBenchmark(current, view));
	}
	function pick(benchmark) {
		current = benchmark;
		view.state = { tab: view.state.tab };
		view.keep({}, true);
		show();
		document.getElementById('benchmark')?.focus();
	}
	addEventListener('popstate', () => {
		const [before, now] = [view.state, readHash()];
		view.state = now;
		if (now.benchmark === before.benchmark && now.measure === before.measure && now.pairs?.join() === before.pairs?.join())
			view.flame?.restore(now);
		else {
			current = data.benchmarks.find((b) => b.name === now.benchmark) ?? current;
			show();
		}
	});
	const judged = data.benchmarks.length === 0 || !data.benchmarks.every(isProfile);
	const project = clip(data.run.project ?? 'fastgate', 80);
	const sides = [!data.answer.since && sideRow('candidate', data.run.candidate, view.links), sideRow('baseline', data.run.baseline, view.links),
		el('dt', {}, 'run'), el('dd', {}, el('code', {}, data.run.id), ` ${formatTime(data.run.started_at)}`)];
	replace(root, el('header', {}, judged ? [el('p', { class: 'quiet' }, project, ' ', data.benchmarks.length === 0 ? badge(data.verdict) : badge(data.answer.state)), el('h1', {}, names(clip(data.answer.sentence, 600)))] : el('h1', {}, project),
		judged && data.benchmarks.some((b) => b.verdict !== 'pass') && data.benchmarks.length > 1 && el('p', {}, countStates(data.benchmarks.map(stateOf))),
		restOfCard(judged ? data.answer : { lines: [] }, ...sides), judged && notes(data.notes)),
	el('main', {}, el('div', { class: data.benchmarks.length > 1 ? 'beside-list' : undefined }, el('section', { 'aria-labelledby': 'verdicts' }, el('h2', { id: 'verdicts', class: data.benchmarks.length > 1 ? undefined : 'hidden' }, 'Benchmarks'), table), detail),
		el('section', { 'aria-labelledby': 'differs' }, el('h2', { id: 'differs' }, 'What differs'), differences(data),
			facts('Host', data.run.host), facts('Build of the baseline', data.run.baseline.build), facts('Build of the candidate', data.run.candidate.build))),
	el('footer', {}, el('p', { class: 'quiet' }, `fastgate ${data.run.fastgate_version ?? ''}`)));
	show();
}
