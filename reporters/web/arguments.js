// SPDX-License-Identifier: Apache-2.0
// Arguments of calls: all functions, the call paths to one function, one path in full, and the distribution of its arguments.

import { el, replace, scroller, svg } from './dom.js';
import { clip, finite, formatValue, isStarter, shortName } from './format.js';
import { dataTable } from './table.js';

const SIDES = ['baseline', 'candidate'];
const NAMED = 3; // maximum number of functions named per path
const HINTS_SHOWN = 8;
const OUTER_FRAMES = 32; // frames before the gap in a path that was cut
const FIRST_BIN = -32;
const LAST_BIN = 31;
const BAR = 240;

// Formats a number with six digits, as the terminal does.
function formatReal(value) {
	return finite(value) ? String(Number(value.toPrecision(6))).replaceAll('-', '−') : '';
}

function formatCalls(count) {
	return count > 0 ? formatValue(count, '1') : '';
}

// Shows one value if the sides agree or only one side is known; `none` stands for a missing value.
function bothSides([before, after], none = '0') {
	const isOne = [before, after].some((text) => text === undefined || text === null);
	return isOne || before === after ? after ?? before ?? '' : `${before || none} → ${after || none}`;
}

function figure(title, key, format, help) {
	return { title, numeric: true, help, value: (row) => (row.candidate ?? row.baseline)?.[key],
		cell: (row) => bothSides(SIDES.map((side) => row[side] && format(row[side][key])), format === formatReal ? '–' : '0') };
}

// `known`: the sides whose arguments were recorded, even if a side never calls the function.
function figureColumns(known) {
	const calls = { ...figure('Calls', 'calls', formatCalls, 'Arguments seen: a vector function has one argument for each lane'),
		cell: (row) => bothSides(known.map((side) => formatCalls(row[side]?.calls))) };
	return [calls, figure('Min', 'min', formatReal, 'Of the finite arguments'), figure('Max', 'max', formatReal, 'Of the finite arguments'),
		figure('Mean', 'mean', formatReal, 'Of the finite arguments'), figure('Zero', 'zeros', formatCalls), figure('Negative', 'negative', formatCalls),
		figure('Denormal', 'denormal', formatCalls), figure('Inf', 'infinite', formatCalls), figure('NaN', 'nan', formatCalls),
		figure('Same', 'repeats', formatCalls, 'Equal to the argument of the previous call from the same path')];
}

function callsOf(row) {
	return Math.max(...SIDES.map((side) => row[side]?.calls ?? 0));
}

// Returns "fit ← loop ← main": the innermost functions, without startup functions.
function callerWords(names) {
	const inner = names.filter((name) => !isStarter(name)).reverse();
	const shown = inner.length > 0 ? inner : [...names].reverse();
	return shown.slice(0, NAMED).map((name) => clip(shortName(name), 60)).join(' ← ') + (shown.length > NAMED ? ' ← …' : '');
}

function binWords(bin) {
	if (bin <= FIRST_BIN)
		return ['below 2', el('sup', {}, `−${-FIRST_BIN - 1}`)];
	const power = (exponent) => ['2', el('sup', {}, String(exponent).replace('-', '−'))];
	return bin >= LAST_BIN ? [power(LAST_BIN), ' and above'] : [power(bin), ' to ', power(bin + 1)];
}

function bar(kind, count, most, top) {
	return svg('rect', { y: top, width: count > 0 ? Math.max(1, BAR * count / most) : 0, height: 8, class: kind });
}

function histogram(path, words) {
	const bins = [...path.histogram].sort((a, b) => a[0] - b[0]);
	if (bins.length === 0)
		return null;
	const known = [0, 1].filter((side) => path[SIDES[side]]);
	const most = Math.max(1, ...bins.flatMap(([, ...counts]) => counts));
	const rows = bins.flatMap(([bin, ...counts], i) => {
		const row = el('tr', {}, el('th', { scope: 'row' }, binWords(bin)), known.map((side) => el('td', { class: 'number' }, formatCalls(counts[side]))),
			el('td', {}, svg('svg', { viewBox: `0 0 ${BAR} ${9 * known.length}`, height: 9 * known.length, preserveAspectRatio: 'none', class: 'bars', 'aria-hidden': 'true' }, known.map((side, place) => bar(SIDES[side], counts[side], most, 9 * place)))));
		const isGap = i > 0 && bin > bins[i - 1][0] + 1;
		return isGap ? [el('tr', { class: 'gap' }, el('td', { colspan: 2 + known.length }, '⋯')), row] : [row];
	});
	return scroller(`Histogram of ${words}`, el('table', { class: 'histogram' }, el('caption', {}, 'Number of arguments by size, in powers of two'),
		el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'size'), known.map((side) => el('th', { scope: 'col', class: `number key ${SIDES[side]}` }, SIDES[side])), el('td', {}))),
		el('tbody', {}, rows)));
}

function frameList(names, leftOut) {
	return el('ol', { class: 'frames' }, names.flatMap((name, i) => {
		const item = el('li', {}, el('code', {}, clip(name || '[no name]', 300)));
		return leftOut > 0 && i === OUTER_FRAMES ? [el('li', { class: 'quiet' }, `… ${formatValue(leftOut, '1')} more …`), item] : [item];
	}));
}

function hintList(hints) {
	return hints?.length > 0 && el('ul', { class: 'notes' }, hints.map((hint) => el('li', {}, clip(hint, 300))));
}

function leftOut(count, one, many) {
	return count > 0 && el('p', { class: 'quiet' }, `And ${formatValue(count, '1')} ${count === 1 ? one : many}.`);
}

// Makes a table with one selected row, whose details are shown in `spot`, below the table.
function chooser(options, spot) {
	const place = el('div');
	let order = {};
	function draw(chosen) {
		replace(place, dataTable({ ...options, ...order, current: (row) => row === chosen,
			columns: [{ title: options.first, value: options.name, grow: true, cell: (row) => [el('button', { type: 'button', class: 'link', onclick: () => {
				draw(row);
				replace(spot, options.onPick(row));
				spot.querySelector('h4').focus();
			} }, options.name(row)), options.below?.(row)] }, ...options.columns],
			onState: ({ sort, descending, words }) => { order = { sort, descending, words }; } }));
	}
	draw(options.chosen);
	return place;
}

function onePath(f, path) {
	const words = callerWords(path.names);
	return [el('h4', { tabindex: -1 }, el('code', {}, clip(f.name, 80)), ` in ${words}`), hintList(path.hints), el('div', { class: 'beside' }, frameList(path.names, path.frames_left_out), histogram(path, f.name))];
}

function pathsOf(f, known, keep, chosen) {
	const spot = el('div', {}, chosen && onePath(f, chosen));
	return [el('h4', { tabindex: -1 }, 'Call paths to ', el('code', {}, clip(f.name, 80))), chooser({
		label: `Call paths to ${clip(f.name, 80)}`, first: 'Called by', rows: f.paths, chosen, name: (path) => callerWords(path.names) || '[no path]',
		filter: f.paths.length > 12 ? (path) => path.names.join(' ') : undefined, columns: figureColumns(known),
		onPick: (path) => {
			keep({ argument: f.name, trace: f.paths.indexOf(path) + 1 });
			return onePath(f, path);
		},
	}, spot), leftOut(f.paths_left_out, 'call path, taken less often', 'call paths, taken less often'), spot];
}

function allHints(functions) {
	const paths = functions.flatMap((f) => f.paths.filter((path) => path.hints?.length > 0).map((path) => ({ f, path })));
	paths.sort((a, b) => callsOf(b.path) - callsOf(a.path));
	const hints = paths.flatMap(({ f, path }) => path.hints.map((hint) => el('li', {}, el('code', {}, clip(f.name, 80)), ` in ${callerWords(path.names)}: ${clip(hint, 300)}`)));
	return hints.length > 0 && [el('ul', { class: 'notes' }, hints.slice(0, HINTS_SHOWN)), leftOut(hints.length - HINTS_SHOWN, 'hint, at its call path', 'hints, at their call paths')];
}

// `state`: the function and path in the address; keep({ argument, trace }) updates it. Returns null if arguments were not recorded.
export function argumentParts(table, state, keep) {
	if (!table || table.functions.length === 0)
		return null;
	const functions = table.functions.map((f) => ({ ...f, paths: f.paths.map((path) => ({ ...path, names: path.frames.map((at) => table.names[at] ?? '') })) }));
	const known = SIDES.filter((side) => functions.some((f) => f[side]));
	const chosen = functions.find((f) => f.name === state.argument);
	const spot = el('div', {}, chosen && pathsOf(chosen, known, keep, chosen.paths[Number(state.trace) - 1]));
	return [el('p', { class: 'quiet' }, `${known.length > 1 ? 'A cell shows baseline → candidate if they differ. ' : ''}An empty cell means none. Click a function for its call paths, and a call path for its frames and a histogram.`),
		chooser({
			label: 'Arguments of functions', first: 'Function', rows: functions, chosen, name: (f) => clip(f.name || '[no name]', 80),
			below: (f) => f.signature && el('div', { class: 'quiet' }, clip(f.signature, 80)),
			filter: functions.length > 12 ? (f) => f.name : undefined,
			columns: [...figureColumns(known), { title: 'Traces', numeric: true, help: 'Call paths', value: (f) => Math.max(...f.traces), cell: (f) => bothSides(known.map((side) => formatCalls(f.traces[SIDES.indexOf(side)]))) }],
			onPick: (f) => {
				keep({ argument: f.name, trace: undefined });
				return pathsOf(f, known, keep);
			},
		}, spot), leftOut(table.functions_left_out, 'function that is called less often', 'functions that are called less often'), allHints(functions), spot];
}
