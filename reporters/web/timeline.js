// SPDX-License-Identifier: Apache-2.0
// The repetitions of a benchmark in execution order, which shows drift and a busy host. A range of pairs can be chosen
// with the pointer or by number; the flame graph and the table of functions then cover only these pairs.

import { el, onResize, replace, svg } from './dom.js';
import { finite, formatChange, formatValue } from './format.js';
import { axis, pairChanges } from './plot.js';

const HEIGHT = 230;
const BUSY = 0.02; // minimum share of stolen time that is drawn
const SHAPES = { 0: 'baseline', 1: 'candidate' };

function middle(values) {
	const sorted = values.filter(finite).sort((a, b) => a - b);
	const half = sorted.length / 2;
	return sorted.length > 0 ? (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2 : NaN;
}

// Returns one entry per repetition with this metric, oldest first.
function inOrder(raw, metric) {
	const values = raw.values[metric];
	return raw.pair.map((pair, i) => ({ pair, i, arm: raw.arm[i], value: values[i], aside: raw.aside[i], started: raw.started_ms[i], steal: raw.steal[i] ?? 0 }))
		.filter((r) => finite(r.value)).sort((a, b) => a.started - b.started || a.pair - b.pair || raw.position[a.i] - raw.position[b.i]);
}

function chosenBy(range) {
	return (r) => !range || (r.pair >= range[0] && r.pair <= range[1]);
}

function mark(r, x, y, faint) {
	const name = `repetition ${SHAPES[r.arm]}${r.aside ? ' aside' : ''}${faint ? ' faint' : ''}`;
	const title = svg('title', {}, `pair ${r.pair}, ${SHAPES[r.arm]}: ${r.words}${r.aside ? ` (${r.aside})` : ''}${r.steal >= BUSY
		? `, the host took ${Math.round(r.steal * 100)} % away` : ''}`);
	return r.arm === 0 ? svg('rect', { x: x - 3, y: y - 3, width: 6, height: 6, class: name }, title)
		: svg('circle', { cx: x, cy: y, r: 3.5, class: name }, title);
}

function drawTimeline(list, unit, width, range) {
	const counted = list.filter((r) => !r.aside);
	const { low, high, parts, box, y } = axis((counted.length ? counted : list).map((r) => r.value), unit, width, HEIGHT);
	const step = (box.right - box.left) / Math.max(1, list.length);
	const x = (index) => box.left + (index + 0.5) * step;
	const inside = chosenBy(range);
	if (range) {
		const places = list.flatMap((r, index) => (inside(r) ? [index] : []));
		if (places.length > 0)
			parts.push(svg('rect', { x: x(places[0]) - step / 2, y: box.top, width: (places.at(-1) - places[0] + 1) * step, height: box.bottom - box.top, class: 'chosen' }));
	}
	list.forEach((r, index) => {
		if (r.steal >= BUSY)
			parts.push(svg('rect', { x: x(index) - step / 2, y: box.bottom + 4, width: Math.max(1, step - 1), height: Math.min(10, 2 + r.steal * 20), class: 'busy' }));
	});
	for (const arm of [0, 1]) {
		const level = middle(counted.filter((r) => r.arm === arm && inside(r)).map((r) => r.value));
		if (finite(level))
			parts.push(svg('line', { x1: box.left, x2: box.right, y1: y(level), y2: y(level), class: `level ${SHAPES[arm]}` }));
	}
	list.forEach((r, index) => parts.push(mark({ ...r, words: formatValue(r.value, unit) }, x(index), y(Math.min(high, Math.max(low, r.value))), !inside(r))));
	const busy = list.some((r) => r.steal >= BUSY);
	parts.push(svg('text', { x: (box.left + box.right) / 2, y: HEIGHT - 8, class: 'tick', 'text-anchor': 'middle' },
		`repetitions, in the order in which they ran${busy ? '; bars below: the host took time away' : ''}`));
	return { picture: svg('svg', { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img',
		'aria-label': `${list.length} repetitions in the order in which they ran` }, parts), pairAt: (left) => list[Math.max(0, Math.min(list.length - 1,
		Math.floor((left - box.left) / step)))].pair };
}

// Returns "Pairs 3 to 9: cpu time +12.1 %, median of 7 pairs that count."
function rangeWords(raw, metric, range) {
	const changes = pairChanges(raw, metric.name).filter((p) => !p.aside && chosenBy(range)(p)).map((p) => p.change);
	const which = range ? `Pairs ${range[0]} to ${range[1]}` : 'All pairs';
	return changes.length === 0 ? `${which}: none of them counts.`
		: `${which}: ${metric.label} ${formatChange(middle(changes))}, median of ${changes.length} pair${changes.length === 1 ? '' : 's'} that count${changes.length === 1 ? 's' : ''}.`;
}

// Options: { range: [from, to] or null, onRange(range or null) }.
export function repetitionTimeline(raw, metric, options) {
	const list = inOrder(raw, metric.name);
	const pairs = list.map((r) => r.pair);
	const [least, most] = [Math.min(...pairs), Math.max(...pairs)];
	const place = el('div', { class: 'plot timeline' });
	const words = el('p', { class: 'quiet', role: 'status' });
	const number = (label, value) => el('label', {}, `${label} `, el('input', { type: 'number', min: least, max: most, value, required: true }));
	const from = number('Pairs from', options.range?.[0] ?? least);
	const to = number('to', options.range?.[1] ?? most);
	const all = el('button', { type: 'button', onclick: () => choose(null) }, 'All pairs');
	const form = el('form', { class: 'toolbar', onsubmit: (event) => {
		event.preventDefault();
		choose([from, to].map((label) => label.querySelector('input').valueAsNumber));
	} }, from, to, el('button', {}, 'Only these'), all);
	let range = options.range ?? null;
	let drawing = null;
	let start = NaN;

	function draw() {
		drawing = drawTimeline(list, metric.unit, Math.max(280, place.clientWidth || 720), range);
		replace(place, drawing.picture);
		words.textContent = rangeWords(raw, metric, range);
		all.disabled = !range;
	}
	function select(next) {
		const sorted = next && [...next].sort((a, b) => a - b);
		range = sorted && (sorted[0] > least || sorted[1] < most) ? sorted : null;
		from.querySelector('input').value = range?.[0] ?? least;
		to.querySelector('input').value = range?.[1] ?? most;
		draw();
	}
	function choose(next) {
		select(next);
		options.onRange?.(range);
	}
	const under = (event) => drawing.pairAt(event.clientX - place.getBoundingClientRect().left);
	place.addEventListener('pointerdown', (event) => {
		start = under(event);
		place.setPointerCapture(event.pointerId);
	});
	place.addEventListener('pointermove', (event) => {
		if (finite(start) && under(event) !== start)
			select([start, under(event)]);
	});
	place.addEventListener('pointerup', (event) => {
		const end = under(event);
		if (finite(start) && end !== start)
			choose([start, end]);
		start = NaN;
	});
	place.addEventListener('pointercancel', () => { start = NaN; });
	queueMicrotask(() => {
		draw();
		onResize(place, draw);
	});
	return list.length === 0 ? null : el('figure', {}, place, words, form, el('figcaption', {},
		'Squares show the baseline and circles show the candidate; hollow symbols do not count. The lines are medians. Drag over the picture, or give two numbers, to select some of the pairs.'));
}

