// SPDX-License-Identifier: Apache-2.0
// The trend of a metric: points by verdict, levels between change points with the gate's threshold around them, releases, notes.
// Dragging, + and − zoom; the chart reports the range to the page, which keeps the range in the address.

import { el, names, onResize, replace, svg } from './dom.js';
import { finite, formatChange, formatValue } from './format.js';
import { axis, label, line, quantile } from './plot.js';

const TIME_ROOM = 110; // pixels per label below the chart
const MIN_SHOWN = 5; // minimum number of runs shown
const DRAG_PIXELS = 6;
const CARD_MS = 120;

// Labels the start times below the chart: days, or hours if all runs began on one day. Points are
// in order, equally spaced.
function timeLabels(points, x, box) {
	const times = points.map((p) => p.time ?? '');
	const sameDay = times[0]?.slice(0, 10) === times.at(-1)?.slice(0, 10);
	const words = times.map((time) => (sameDay ? time.slice(11, 16) : time.slice(0, 10)));
	const stride = Math.max(1, Math.ceil((points.length - 1) / Math.max(1, Math.floor((box.right - box.left) / TIME_ROOM))));
	const parts = [];
	let before = '';
	for (let index = 0; index < points.length; index += stride) {
		if (words[index] !== before)
			parts.push(label(x(index), box.bottom + 18, words[index], 'tick', index === 0 ? 'start' : x(index) > box.right - TIME_ROOM / 2 ? 'end' : 'middle'));
		before = words[index];
	}
	return parts;
}

// Draws a point: the gate's verdicts stand out by shape as well as by colour.
function mark(p, at, height, radius) {
	const name = `point ${p.verdict ?? ''}`;
	if (p.verdict === 'regression')
		return svg('path', { d: `M${at - 5} ${height + 4}h10l-5 -9z`, class: name });
	if (p.verdict === 'improvement')
		return svg('path', { d: `M${at - 5} ${height - 4}h10l-5 9z`, class: name });
	return svg('circle', { cx: at, cy: height, r: radius, class: name });
}

// Draws one point per run. For more runs than pixels, draws the range of each pixel column and, for
// every four columns, at most one regression and one improvement.
function drawPoints(points, x, y, box) {
	if (points.length <= box.right - box.left)
		return points.map((p, index) => finite(p.value) && mark(p, x(index), y(p.value), points.length > 300 ? 1.5 : 3));
	const columns = new Map();
	const judged = new Map();
	points.forEach((p, index) => {
		if (!finite(p.value))
			return;
		const column = Math.round(x(index));
		const [low, high] = columns.get(column) ?? [-Infinity, Infinity];
		columns.set(column, [Math.max(low, y(p.value)), Math.min(high, y(p.value))]);
		if (['regression', 'improvement'].includes(p.verdict))
			judged.set(`${column >> 2} ${p.verdict}`, mark(p, column, y(p.value), 3));
	});
	const path = [...columns].map(([column, [low, high]]) => `M${column} ${low.toFixed(1)}V${(high - 1).toFixed(1)}`);
	return [svg('path', { d: path.join(''), class: 'range' }), ...judged.values()];
}

// Draws a level as a line, with a band for its error.
function bandOf(points, x, y) {
	const place = (value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`;
	const upper = points.map((p, i) => place(p.band[1], i));
	const lower = points.map((p, i) => place(p.band[0], i)).toReversed();
	return [svg('polygon', { class: 'error-band', points: [...upper, ...lower].join(' ') }),
		svg('polyline', { class: 'chained', points: points.map((p, i) => place(p.value, i)).join(' ') })];
}

function medianOf(points) {
	return quantile(points.map((p) => p.value).filter(finite).sort((a, b) => a - b), 0.5);
}

// data: { title, unit, better, points, changes, threshold, notes, range, card(point), onPick(point), onRange([first, last] | null) }
// Points: { value, label, verdict, time, tag, run }; changes: [{ index, before, after }].
class TrendChart {
	constructor(data) {
		this.data = data;
		this.cursor = -1;
		this.setRange(data.range, false);
		this.picture = el('div', { class: 'picture' });
		this.card = el('div', { class: 'card', hidden: true });
		this.place = el('div', { class: 'plot trend', tabindex: 0, role: 'slider', 'aria-label': data.title,
			'aria-valuemin': 0, 'aria-valuemax': Math.max(0, data.points.length - 1), 'aria-valuenow': 0 }, this.picture, this.card);
		this.words = el('p', { class: 'quiet readout' }, 'Arrow keys or the pointer show individual runs; drag, or press + and −, to zoom.');
		this.all = el('button', { type: 'button', onclick: () => this.zoomTo(null) }, 'All runs');
		this.caption = el('figcaption');
		this.element = el('figure', {}, this.toolbar(), this.place, this.words, this.caption);
		this.listen();
		queueMicrotask(() => {
			this.draw();
			onResize(this.place, () => {
				this.card.hidden = true;
				this.draw();
			});
		});
	}

	toolbar() {
		const button = (words, name, work) => el('button', { type: 'button', 'aria-label': name, title: name, onclick: work }, words);
		return el('div', { class: 'toolbar' }, button('+', 'Zoom in', () => this.zoomBy(0.5)), button('−', 'Zoom out', () => this.zoomBy(2)),
			button('‹', 'Earlier runs', () => this.pan(-0.5)), button('›', 'Later runs', () => this.pan(0.5)), this.all);
	}

	// --- visible range ---

	setRange(range, redraw = true) {
		const last = Math.max(0, this.data.points.length - 1);
		const [from, to] = range ?? [0, last];
		this.first = Math.max(0, Math.min(from, last));
		this.last = Math.max(this.first, Math.min(to, last));
		if (redraw)
			this.draw();
	}

	zoomTo(range) {
		const all = !range || (range[0] <= 0 && range[1] >= this.data.points.length - 1);
		this.setRange(all ? null : range);
		this.data.onRange?.(all ? null : [this.first, this.last]);
	}

	// Zooms around the cursor if it is inside the range, otherwise around the newest run.
	zoomBy(factor) {
		const shown = this.last - this.first + 1;
		const wanted = Math.max(MIN_SHOWN, Math.round(shown * factor));
		const middle = this.cursor >= this.first && this.cursor <= this.last ? this.cursor : this.last;
		const from = Math.round(middle - (middle - this.first) / shown * wanted);
		const first = Math.max(0, Math.min(from, this.data.points.length - wanted));
		this.zoomTo([first, first + wanted - 1]);
	}

	pan(share) {
		const shown = this.last - this.first;
		const first = Math.max(0, Math.min(this.first + Math.round(shown * share), this.data.points.length - 1 - shown));
		this.zoomTo([first, first + shown]);
	}

	setChanges(changes) {
		this.data.changes = changes;
		this.draw();
	}

	// --- drawing ---

	draw() {
		const width = Math.max(280, this.place.clientWidth || 720);
		const height = width > 1100 ? 360 : 280;
		const shown = this.data.points.slice(this.first, this.last + 1);
		const edges = shown.flatMap((p) => p.band ?? []);
		const { box, y, parts } = axis([...shown.map((p) => p.value), ...edges], this.data.unit, width, height);
		const x = (index) => box.left + (shown.length < 2 ? 0.5 : index / (shown.length - 1)) * (box.right - box.left);
		this.x = (index) => x(index - this.first);
		this.y = y;
		this.box = box;
		parts.push(...timeLabels(shown, x, box), ...this.releases(box), ...(edges.length > 0 ? [...bandOf(shown, x, y), ...this.steps(box)] : this.levels(box)));
		parts.push(drawPoints(shown, x, y, box), ...this.noteMarks());
		this.overlay = svg('g');
		replace(this.picture, svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' }, parts, this.overlay));
		this.all.disabled = shown.length === this.data.points.length;
		this.notify();
		this.drawCursor();
	}

	step(index, ratio, box) {
		const isWorse = (ratio > 1) !== (this.data.better === 'higher');
		return [line(this.x(index), box.top, this.x(index), box.bottom, `step ${isWorse ? 'worse' : 'better'}`),
			label(this.x(index) + (index === this.last ? -4 : 4), box.top + 10, formatChange(ratio - 1), 'step-label', index === this.last ? 'end' : 'start')];
	}

	// Marks the points of a chain at which a gate failed or the benchmark became faster.
	steps(box) {
		const { points } = this.data;
		return points.flatMap((p, i) => (i > 0 && i >= this.first && i <= this.last && ['regression', 'improvement'].includes(p.verdict) ? this.step(i, p.value / points[i - 1].value, box) : []));
	}

	levels(box) {
		const { points, changes, threshold } = this.data;
		const parts = [];
		let from = 0;
		for (const change of [...changes, { index: points.length, end: true }]) {
			const [a, b] = [Math.max(from, this.first), Math.min(change.index - 1, this.last)];
			const middle = medianOf(points.slice(from, change.index));
			if (a <= b && finite(middle)) {
				const [left, right] = [this.x(a), this.x(b)];
				const [top, bottom] = [this.y(middle * (1 + (threshold ?? 0))), this.y(middle * (1 - (threshold ?? 0)))];
				if (threshold > 0)
					parts.push(svg('rect', { x: left, y: top, width: Math.max(1, right - left), height: Math.max(0, bottom - top), class: 'threshold' }));
				parts.push(line(left, this.y(middle), right, this.y(middle), 'level'));
			}
			if (!change.end && change.index >= this.first && change.index <= this.last)
				parts.push(...this.step(change.index, change.after / change.before, box));
			from = change.index;
		}
		return parts;
	}

	releases(box) {
		const parts = [];
		let room = -Infinity;
		for (let i = this.first; i <= this.last; i += 1) {
			const { tag } = this.data.points[i] ?? {};
			if (!tag || tag === this.data.points[i - 1]?.tag)
				continue;
			parts.push(line(this.x(i), box.top, this.x(i), box.bottom, 'release'));
			if (this.x(i) > room) {
				parts.push(label(this.x(i) + 3, box.bottom - 4, tag.slice(0, 16), 'tick', this.x(i) > box.right - 60 ? 'end' : 'start'));
				room = this.x(i) + 8 * Math.min(16, tag.length) + 8;
			}
		}
		return parts;
	}

	noteMarks() {
		const { points, notes } = this.data;
		return points.flatMap((p, i) => (notes?.has(p.run) && i >= this.first && i <= this.last && finite(p.value)
			? [svg('path', { class: 'note-mark', d: `M${this.x(i)} ${this.y(p.value) - 6}l-5 -10h10z` })] : []));
	}

	notify() {
		const { points, changes, title } = this.data;
		const shown = this.last - this.first + 1;
		const judged = points.slice(this.first, this.last + 1).filter((p) => p.verdict === 'regression').length;
		replace(this.caption, names(this.data.caption ?? `${title}: ${shown === points.length ? points.length : `${shown} of ${points.length}`} run${points.length === 1 ? '' : 's'}, `
			+ `${changes.length === 0 ? 'no change point found (a change point needs five runs on either side)' : `${changes.length} change point${changes.length === 1 ? '' : 's'}`}`
			+ `${judged > 0 ? `; the gate called ${judged} of these runs slower or larger (▲)` : ''}.`
			+ `${this.data.threshold > 0 && points.length > 0 ? ` The band is ±${formatChange(this.data.threshold).slice(1)} around each level: the smallest change for which the gate fails.` : ''}`));
	}

	// --- the run under the cursor ---

	drawCursor(from) {
		const p = this.data.points[this.cursor];
		const parts = [];
		if (from !== undefined)
			parts.push(svg('rect', { class: 'chosen', x: Math.min(from, this.pointer), y: this.box.top, width: Math.abs(this.pointer - from), height: this.box.bottom - this.box.top }));
		if (p && finite(p.value) && this.cursor >= this.first && this.cursor <= this.last)
			parts.push(line(this.x(this.cursor), this.box.top, this.x(this.cursor), this.box.bottom, 'cursor'),
				svg('circle', { cx: this.x(this.cursor), cy: this.y(p.value), r: 6, class: 'cursor' }));
		replace(this.overlay, parts);
	}

	move(to) {
		const next = Math.max(0, Math.min(this.data.points.length - 1, to));
		const point = this.data.points[next];
		if (!point)
			return;
		if (next === this.cursor && !this.card.hidden)
			return;
		this.cursor = next;
		if (next < this.first || next > this.last)
			this.pan((next - (this.first + this.last) / 2) / Math.max(1, this.last - this.first));
		const text = `${point.label}: ${formatValue(point.value, this.data.unit)}${point.verdict ? `, ${point.verdict}` : ''}`;
		this.place.setAttribute('aria-valuenow', String(this.cursor));
		this.place.setAttribute('aria-valuetext', text);
		this.words.textContent = text;
		this.drawCursor(this.dragFrom);
		this.showCard(point);
	}

	// Shows known facts at once, and the server's details of the run when they arrive.
	showCard(point) {
		const { notes } = this.data;
		const first = [el('strong', {}, point.label), el('div', {}, formatValue(point.value, this.data.unit), point.verdict && `, ${point.verdict}`, point.tag && ` · ${point.tag}`),
			(notes?.get(point.run) ?? []).map((text) => el('div', { class: 'quiet' }, `✎ ${text}`))];
		replace(this.card, first);
		this.card.hidden = false;
		this.placeCard();
		clearTimeout(this.asking);
		this.asking = setTimeout(async () => {
			const more = await this.data.card?.(point);
			if (more && this.data.points[this.cursor] === point) {
				replace(this.card, first, more);
				this.placeCard();
			}
		}, CARD_MS);
	}

	placeCard() {
		const left = this.x(this.cursor);
		const width = this.card.offsetWidth;
		this.card.style.left = `${left + width + 24 > this.place.clientWidth ? Math.max(0, left - width - 12) : left + 12}px`;
		this.card.style.top = `${this.box.top + 8}px`;
	}

	indexAt(event) {
		const { left } = this.place.getBoundingClientRect();
		this.pointer = Math.max(this.box.left, Math.min(this.box.right, event.clientX - left));
		return this.first + Math.round((this.pointer - this.box.left) / (this.box.right - this.box.left) * (this.last - this.first));
	}

	listen() {
		const { place } = this;
		place.addEventListener('keydown', (event) => this.key(event));
		place.addEventListener('pointermove', (event) => {
			const index = this.indexAt(event);
			if (this.dragFrom !== undefined)
				this.drawCursor(this.dragFrom);
			this.move(index);
		});
		place.addEventListener('pointerleave', () => { this.card.hidden = true; });
		place.addEventListener('blur', () => { this.card.hidden = true; });
		place.addEventListener('pointerdown', (event) => {
			if (event.button !== 0 || event.pointerType === 'touch')
				return;
			this.dragIndex = this.indexAt(event);
			this.dragFrom = this.pointer;
			place.setPointerCapture(event.pointerId);
		});
		place.addEventListener('pointerup', (event) => {
			const index = this.indexAt(event);
			const from = this.dragFrom;
			this.dragFrom = undefined;
			this.hasDragged = from !== undefined && Math.abs(this.pointer - from) > DRAG_PIXELS;
			if (this.hasDragged)
				this.zoomTo([Math.min(this.dragIndex, index), Math.max(this.dragIndex, index)]);
		});
		place.addEventListener('click', () => {
			if (!this.hasDragged && this.cursor >= 0)
				this.data.onPick?.(this.data.points[this.cursor]);
			this.hasDragged = false;
		});
	}

	key(event) {
		const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key in steps)
			this.move((this.cursor < 0 ? 0 : this.cursor) + steps[event.key]);
		else if (event.key === '+' || event.key === '=')
			this.zoomBy(0.5);
		else if (event.key === '-')
			this.zoomBy(2);
		else if (event.key === '0' || event.key === 'Escape')
			this.zoomTo(null);
		else if (event.key === 'Enter' && this.cursor >= 0)
			this.data.onPick?.(this.data.points[this.cursor]);
		else
			return;
		event.preventDefault();
	}
}

// Returns an object with `element`, setRange(range) and setChanges(changes).
export function trendChart(data) {
	return new TrendChart({ changes: [], ...data });
}
