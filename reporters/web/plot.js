// SPDX-License-Identifier: Apache-2.0
// SVG charts: the pairs of one decision, word-sized trends, and the value axis for other charts.

import { el, onResize, replace, svg } from './dom.js';
import { finite, formatChange, formatPercent } from './format.js';

// Returns about `count` ticks at round steps.
function ticks(low, high, count) {
	const rough = (high - low) / count || 1;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
	const list = [];
	for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step)
		list.push(Math.abs(t) < step * 1e-9 ? 0 : t);
	return list;
}

const SCALES = {
	ns: [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]],
	ms: [['s', 1e3], ['ms', 1], ['µs', 1e-3], ['ns', 1e-6]],
	bytes: [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10], ['B', 1]],
};
const COUNTS = [['G', 1e9], ['M', 1e6], ['', 1]];
const MAX_DIGITS = 6;

// Returns labels in one unit, with enough digits to distinguish them.
function tickLabels(list, unit) {
	const largest = Math.max(...list.map(Math.abs));
	const step = list.length > 1 ? Math.abs(list[1] - list[0]) : largest;
	const scales = SCALES[unit] ?? COUNTS;
	const [scale, factor] = scales.find(([, least]) => largest >= least) ?? scales.at(-1);
	const word = scales === COUNTS && unit !== '1' ? `${scale} ${unit ?? ''}`.trim() : scale;
	const digits = Math.min(MAX_DIGITS, Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9)));
	return list.map((value) => `${(value / factor).toFixed(digits)} ${word}`.trim().replace('-', '−'));
}

export function quantile(sorted, q) {
	return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(q * (sorted.length - 1))))];
}

export function line(x1, y1, x2, y2, name) {
	return svg('line', { x1, y1, x2, y2, class: name });
}

export function label(x, y, text, name, anchor) {
	return svg('text', { x, y, class: name, 'text-anchor': anchor }, text);
}

// --- pairs ---

// Returns one change per pair: mean of the candidate's values over mean of the baseline's. `aside`
// is the reason why a pair does not count.
export function pairChanges(raw, metric) {
	const values = raw.values[metric];
	const pairs = new Map();
	if (!values)
		return [];
	for (let i = 0; i < raw.pair.length; i += 1) {
		if (!finite(values[i]))
			continue;
		const key = raw.pair[i];
		const pair = pairs.get(key) ?? { pair: key, sums: [0, 0], counts: [0, 0], aside: '' };
		pair.sums[raw.arm[i]] += values[i];
		pair.counts[raw.arm[i]] += 1;
		pair.aside ||= raw.aside[i];
		pairs.set(key, pair);
	}
	return [...pairs.values()].filter((p) => p.counts[0] && p.counts[1] && p.sums[0] > 0).map((p) => ({
		pair: p.pair,
		aside: p.aside,
		baseline: p.sums[0] / p.counts[0],
		candidate: p.sums[1] / p.counts[1],
		change: (p.sums[1] / p.counts[1]) / (p.sums[0] / p.counts[0]) - 1,
	}));
}

// Returns the range of most points, zero, the interval and the estimate; outliers are drawn at the
// edge.
function pairRange(points, metric) {
	const counted = points.filter((p) => !p.aside).map((p) => p.change).sort((a, b) => a - b);
	const from = counted.length ? counted : points.map((p) => p.change).sort((a, b) => a - b);
	const marks = [0, ...metric.interval.filter(finite).map((r) => r - 1), finite(metric.ratio) ? metric.ratio - 1 : 0];
	let low = Math.min(quantile(from, 0.02) ?? 0, ...marks);
	let high = Math.max(quantile(from, 0.98) ?? 0, ...marks);
	const room = (high - low) * 0.12 || 0.01;
	low -= room;
	high += room;
	return [low, high];
}

function drawBand(parts, metric, box, y) {
	const [low, high] = metric.interval;
	if (finite(low) || finite(high)) {
		const top = finite(high) ? y(high - 1) : box.top;
		const bottom = finite(low) ? y(low - 1) : box.bottom;
		parts.push(svg('rect', { x: box.left, y: top, width: box.right - box.left, height: Math.max(1, bottom - top),
			class: `band ${metric.verdict}` }));
	}
	if (finite(metric.ratio))
		parts.push(line(box.left, y(metric.ratio - 1), box.right, y(metric.ratio - 1), `estimate ${metric.verdict}`));
}

// Draws the distribution of the points that count, sideways.
function drawHistogram(parts, points, box, y, range) {
	const counted = points.filter((p) => !p.aside);
	const bins = Math.max(6, Math.min(24, Math.round(Math.sqrt(counted.length) * 2)));
	const counts = new Array(bins).fill(0);
	for (const p of counted)
		counts[Math.min(bins - 1, Math.max(0, Math.floor((p.change - range[0]) / (range[1] - range[0]) * bins)))] += 1;
	const most = Math.max(1, ...counts);
	counts.forEach((count, bin) => {
		const top = y(range[0] + (bin + 1) / bins * (range[1] - range[0]));
		const bottom = y(range[0] + bin / bins * (range[1] - range[0]));
		if (count > 0)
			parts.push(svg('rect', { x: box.left, y: top + 0.5, width: count / most * (box.right - box.left),
				height: Math.max(1, bottom - top - 1), class: 'tally' }));
	});
}

function drawPoints(parts, points, box, y, range) {
	const step = (box.right - box.left) / Math.max(1, points.length);
	points.forEach((p, index) => {
		const x = box.left + (index + 0.5) * step;
		const outside = p.change > range[1] ? 1 : p.change < range[0] ? -1 : 0;
		const at = outside > 0 ? box.top + 5 : outside < 0 ? box.bottom - 5 : y(p.change);
		const title = svg('title', {}, `pair ${p.pair}: ${formatChange(p.change)}${p.aside ? ` (${p.aside})` : ''}`);
		if (outside)
			parts.push(svg('path', { d: `M${x - 4} ${at + 4 * outside}h8l-4 ${-8 * outside}z`, class: p.aside ? 'point aside' : 'point' }, title));
		else
			parts.push(svg('circle', { cx: x, cy: at, r: points.length > 120 ? 2 : 3.5, class: p.aside ? 'point aside' : 'point' }, title));
	});
}

function drawPairs(points, metric, width, what) {
	const height = 260;
	const side = width > 520 ? 120 : 0;
	const range = pairRange(points, metric);
	const y = (value) => 14 + (range[1] - value) / (range[1] - range[0]) * (height - 48);
	const box = { left: 62, right: width - side - 12, top: 14, bottom: height - 34 };
	const parts = [];
	for (const t of ticks(range[0], range[1], 5)) {
		parts.push(line(box.left, y(t), width - 4, y(t), t === 0 ? 'zero' : 'grid'));
		parts.push(label(box.left - 8, y(t) + 4, t === 0 ? '0 %' : formatChange(t), 'tick', 'end'));
	}
	drawBand(parts, metric, { ...box, right: width - 4 }, y);
	drawPoints(parts, points, box, y, range);
	parts.push(label((box.left + box.right) / 2, height - 8, `${what}, in the order in which they ran`, 'tick', 'middle'));
	if (side) {
		drawHistogram(parts, points, { left: width - side, right: width - 8, top: box.top, bottom: box.bottom }, y, range);
		parts.push(label(width - side, height - 8, 'how many', 'tick', 'start'));
	}
	return svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
		'aria-label': `Change of ${metric.label} in ${points.length} pairs` }, parts);
}

// Makes a chart that redraws itself when its width changes. `apart`: the sides ran in two sessions,
// so repetitions are plotted instead of pairs.
export function pairPlot(raw, metric, apart = false) {
	const points = pairChanges(raw, metric.name);
	const place = el('div', { class: 'plot' });
	if (points.length === 0)
		return el('p', { class: 'quiet' }, 'No pair has both values of this metric.');
	const counted = points.filter((p) => !p.aside);
	const slower = counted.filter((p) => p.change > 0).length;
	const draw = () => replace(place, drawPairs(points, metric, Math.max(280, place.clientWidth || 720), apart ? 'repetitions' : 'pairs'));
	queueMicrotask(() => {
		draw();
		onResize(place, draw);
	});
	return el('figure', {}, place, el('figcaption', {},
		(apart ? `Each point is one repetition of the candidate over one of the baseline, in two sessions: their ${metric.label}, in the order in which they ran. In ${slower} of ${counted.length} points that count `
			: `Each point is one pair: the candidate's ${metric.label} over the baseline's. In ${slower} of ${counted.length} pairs that count `)
		+ `the candidate's value was higher${!apart && metric.pairs < counted.length ? `; the first ${metric.pairs} pairs decided` : ''}. The band is the interval at ${formatPercent(1 - metric.alpha)} confidence, and the line inside the band is the estimate`
		+ `${points.length > counted.length ? '; hollow points do not count' : ''}.`));
}

// Estimates the standard deviation of the noise from the differences of neighbours.
function noiseOf(values) {
	const list = values.filter(finite);
	const steps = list.slice(1).map((v, i) => Math.abs(v - list[i])).sort((a, b) => a - b);
	return steps.length > 0 ? quantile(steps, 0.5) * 1.4826 / Math.SQRT2 : 0;
}

const SPARK_NOISE = 10; // the full height spans at least this many standard deviations
const SPARK_LEVEL = 0.02; // the full height spans at least this share of the level

// Draws a word-sized trend, scaled so that noise looks small.
export function sparkline(values) {
	const [width, height] = [140, 24];
	const [least, most] = range(values);
	const half = Math.max((most - least) * 0.55, noiseOf(values) * SPARK_NOISE / 2, Math.abs(most + least) / 2 * SPARK_LEVEL / 2) || 1;
	const [low, high] = [(most + least) / 2 - half, (most + least) / 2 + half];
	const points = values.map((value, i) => finite(value) && `${(2 + i / Math.max(1, values.length - 1) * (width - 6)).toFixed(1)},`
		+ `${(Math.min(1, Math.max(0, (high - value) / (high - low))) * (height - 4) + 2).toFixed(1)}`).filter(Boolean);
	const [x, y] = (points.at(-1) ?? '0,0').split(',');
	return svg('svg', { width, height, class: 'spark', 'aria-hidden': 'true' }, svg('polyline', { points: points.join(' ') }), svg('circle', { cx: x, cy: y, r: 2.5 }));
}

// --- the value axis ---

const REACH = 2; // an outlier is farther away than this many times the range of the other values

// Returns minimum and maximum without outliers: a level of two runs counts, a single distant value
// does not.
function range(values) {
	const list = values.filter(finite);
	const last = list.length - 1;
	const steady = list.length < 8 ? list : list.map((v, i) => [list[Math.max(0, i - 1)], v, list[Math.min(last, i + 1)]].sort((a, b) => a - b)[1]);
	const ends = (all) => all.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
	const [low, high] = ends([...steady, ...list.slice(-1)]);
	const reach = REACH * (high - low);
	return ends(list.filter((v) => v >= low - reach && v <= high + reach));
}

// Returns the range of almost all values, the function from a value to its height in the chart,
// and the grid. Outliers are drawn at the edge.
export function axis(values, unit, width, height) {
	let [low, high] = range(values);
	if (!finite(low))
		[low, high] = [0, 1];
	const room = (high - low) * 0.1 || Math.abs(high) * 0.05 || 1;
	low -= room;
	high += room;
	const box = { left: 78, right: width - 12, top: 12, bottom: height - 40 };
	const y = (value) => Math.min(box.bottom, Math.max(box.top, box.top + (high - value) / (high - low) * (box.bottom - box.top)));
	const parts = [];
	const list = ticks(low, high, 5);
	const labels = tickLabels(list, unit);
	for (const [i, t] of list.entries()) {
		parts.push(line(box.left, y(t), box.right, y(t), 'grid'));
		parts.push(label(box.left - 8, y(t) + 4, labels[i], 'tick', 'end'));
	}
	return { low, high, box, y, parts };
}
