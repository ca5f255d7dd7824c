// SPDX-License-Identifier: Apache-2.0
// Differential flame graph on a canvas: time as width, change as colour, sign and hatching; callees below their callers, or callers above their callees.
//
// Tens of thousands of frames are laid out once; drawing visits only frames at least half a pixel wide, so a zoom costs no more than the visible frames. A canvas is opaque to a screen reader, so a
// tree next to it has the frames around the focused frame, with the same keys.

import { color, el, onResize, onThemeChange, replace } from './dom.js';
import { clip, fitName, formatChange, formatShare, place, shortName } from './format.js';
import { linked } from './links.js';
import { appearance, childLists, pathOf, tints } from './profile.js';

const ROW = 19;
const LEVELS = 8; // number of shades in each direction
const MIN_PIXELS = 0.5;
const MIRRORED = 25;
const READABLE = 0.05; // minimum share of the width that is readable

// Computes width and left edge of every node in one of three modes; siblings are sorted by width.
function layOut(profile, mode) {
	const width = new Float64Array(profile.count);
	if (mode === 'both') {
		for (let i = profile.count - 1; i >= 0; i -= 1) {
			width[i] += Math.max(profile.self[0][i], profile.self[1][i]);
			if (i > 0)
				width[profile.parent[i]] += width[i];
		}
	} else {
		width.set(profile.inclusive[mode === 'baseline' ? 0 : 1]);
	}
	const children = childLists(profile, width);
	const left = new Float64Array(profile.count);
	for (let i = 0; i < profile.count; i += 1) {
		let at = left[i];
		for (let c = children.start[i]; c < children.start[i + 1]; c += 1) {
			left[children.list[c]] = at;
			at += width[children.list[c]];
		}
	}
	return { width, left, children };
}

function mix(from, to, share) {
	return `rgb(${from.map((v, i) => Math.round(v + (to[i] - v) * share)).join(',')})`;
}

function parseColor(text) {
	const hex = /^#(..)(..)(..)$/.exec(text);
	return hex ? hex.slice(1).map((h) => parseInt(h, 16)) : [128, 128, 128];
}

// Makes the shades from faster through unchanged to slower, in the theme's colours.
function makePalette() {
	const [faster, same, slower] = ['faster', 'same', 'slower'].map((name) => parseColor(color(name)));
	const shades = [];
	for (let level = -LEVELS; level <= LEVELS; level += 1)
		shades.push(mix(same, level < 0 ? faster : slower, Math.abs(level) / LEVELS));
	return { shades, text: color('flame-text'), line: color('background'), found: color('found'), focus: color('focus') };
}

const shared = new WeakMap(); // profile → data shared by all its graphs

function once(profile, key, make) {
	const made = shared.get(profile) ?? shared.set(profile, new Map()).get(profile);
	return made.get(key) ?? made.set(key, make()).get(key);
}

// Lays out a graph with these options ahead of time.
export function prepareGraph(profile, { only, byAll }) {
	const isDifferential = profile.hasBaseline && profile.hasCandidate;
	const mode = only ?? (isDifferential ? 'both' : profile.hasCandidate ? 'candidate' : 'baseline');
	return {
		layout: once(profile, mode, () => layOut(profile, mode)),
		shades: once(profile, `shades ${Boolean(byAll)}`, () => (isDifferential ? Int8Array.from(tints(profile, byAll), (tint) => Math.round(tint * LEVELS)) : new Int8Array(profile.count))),
	};
}

class FlameGraph {
	constructor(profile, options) {
		this.profile = profile;
		this.options = options;
		this.names = once(profile, 'names', () => []);
		this.zoomed = 0;
		this.focused = 0;
		this.found = null;
		this.drawn = { count: 0, node: new Int32Array(profile.count), x: new Float64Array(profile.count), width: new Float64Array(profile.count) };
		this.byShade = new Int32Array(profile.count);
		this.stack = new Int32Array(profile.count);
		Object.assign(this, prepareGraph(profile, options));
		this.palette = makePalette();
		this.build();
	}

	get isDifferential() {
		return this.profile.hasBaseline && this.profile.hasCandidate;
	}

	// --- the elements around the canvas ---

	build() {
		this.canvas = el('canvas', { 'aria-hidden': 'true' });
		this.spacer = el('div', { class: 'spacer' });
		this.tree = el('div', { class: 'mirror hidden', role: 'tree', 'aria-label': 'Frames around the focused one' });
		this.pane = el('div', { class: 'flame', tabindex: 0, role: 'application', 'aria-roledescription': 'flame graph',
			'aria-label': 'Flame graph: arrows move, Enter zooms, Escape zooms out, slash searches' },
		this.canvas, this.spacer);
		this.tip = el('div', { class: 'card tip', hidden: true, 'aria-hidden': 'true' });
		this.readout = el('div', { class: 'readout', role: 'status' });
		this.element = el('div', { class: 'flame-box' }, this.pane, this.tip, this.readout, this.tree);
		this.listen();
		queueMicrotask(() => {
			this.resize();
			this.open();
			onResize(this.pane, () => {
				this.resize();
				this.focus(this.focused);
			});
			onThemeChange(() => {
				this.palette = makePalette();
				this.draw();
			});
		});
	}

	// Opens at the frame to show first, in the widest view that makes it readable.
	open() {
		const node = this.options.first ?? 0;
		const { width } = this.layout;
		if (this.zoomed === 0)
			this.zoomed = pathOf(this.profile, node).find((above) => width[node] >= READABLE * width[above]) ?? 0;
		this.options.onZoom?.(this.zoomed, true);
		this.focus(node);
	}

	listen() {
		this.pane.addEventListener('scroll', () => this.draw());
		this.pane.addEventListener('click', (event) => {
			const node = this.nodeAt(event);
			if (node >= 0) {
				this.focus(node, false);
				this.zoom(node);
			}
		});
		this.pane.addEventListener('pointermove', (event) => {
			const node = this.nodeAt(event);
			if (node >= 0 && node !== this.hovered)
				this.describe(node);
			this.showTip(node, event);
			this.hovered = node;
			this.pane.classList.toggle('pointing', node >= 0);
		});
		this.pane.addEventListener('pointerleave', () => {
			this.tip.hidden = true;
			this.describe(this.focused);
		});
		this.pane.addEventListener('keydown', (event) => this.key(event));
	}

	// --- text ---

	name(node) {
		const f = this.profile.function[node];
		this.names[f] ??= shortName(this.profile.functions.name[f]);
		return this.names[f];
	}

	state(node) {
		const [before, after] = [this.profile.inclusive[0][node], this.profile.inclusive[1][node]];
		return this.isDifferential ? appearance(this.profile, before, after) : '';
	}

	words(node) {
		const { inclusive, self, functions } = this.profile;
		const f = this.profile.function[node];
		const full = clip(functions.name[f] || '[no name]', 600);
		const where = [functions.library[f], place(functions.file[f], functions.line[f])].filter(Boolean).join(', ');
		const [before, after] = [inclusive[0][node] / 1e3, inclusive[1][node] / 1e3];
		const { amount, delta } = this.profile;
		const side = this.profile.hasCandidate ? 1 : 0;
		const shares = [0, 1].map((arm) => formatShare(inclusive[arm][node] / inclusive[arm][0]));
		const times = !this.isDifferential ? `${amount(before || after)} (${shares[side]})${this.options.byAll ? '' : `, own ${amount(self[side][node] / 1e3)}`}`
			: `${amount(before)} → ${amount(after)} (${shares.join(' → ')} of ${this.options.of ?? 'all'}), ${delta(after - before)}${before > 0 ? ` (${formatChange(after / before - 1)})` : ''}`
				+ (this.options.byAll ? '' : `, own ${amount(self[0][node] / 1e3)} → ${amount(self[1][node] / 1e3)}`);
		return { full, where, href: this.options.placeHref?.(functions.file[f], functions.line[f]), times, state: this.state(node) };
	}

	describe(node) {
		const { full, where, href, times, state } = this.words(node);
		replace(this.readout, el('strong', {}, full), el('span', { class: 'quiet' }, linked(href, where)), el('span', {}, times),
			state && el('span', { class: 'state' }, state));
	}

	// Shows a description of the frame under the pointer, next to it.
	showTip(node, event) {
		this.tip.hidden = node < 0;
		if (node < 0)
			return;
		const { full, where, times, state } = this.words(node);
		replace(this.tip, el('strong', {}, clip(full, 160)), el('div', { class: 'quiet' }, where), el('div', {}, times), state && el('div', { class: 'state' }, state));
		const box = this.element.getBoundingClientRect();
		const left = event.clientX - box.left;
		this.tip.style.left = `${Math.max(0, left + this.tip.offsetWidth + 20 > box.width ? left - this.tip.offsetWidth - 12 : left + 14)}px`;
		this.tip.style.top = `${event.clientY - box.top + 16}px`;
	}

	// Returns the path to the focused frame: one name per frame, callers first.
	stack() {
		return pathOf(this.profile, this.focused).map((node) => this.profile.functions.name[this.profile.function[node]]);
	}

	// --- zoom, focus, search ---

	zoom(node) {
		if (this.layout.width[node] <= 0)
			return;
		this.zoomed = node;
		this.draw();
		this.options.onZoom?.(node);
	}

	// Returns a frame's row from the top of the graph; in a view of callers, the function
	// itself has no row.
	row(node) {
		return this.options.upward ? this.profile.deepest - this.profile.depth[node] : this.profile.depth[node];
	}

	get rows() {
		return this.profile.deepest + (this.options.upward ? 0 : 1);
	}

	focus(node, scroll = true) {
		this.focused = node;
		if (scroll) {
			const top = this.row(node) * ROW;
			if (top < this.pane.scrollTop || top + ROW > this.pane.scrollTop + this.pane.clientHeight)
				this.pane.scrollTop = top - this.pane.clientHeight / 2;
		}
		this.describe(node);
		this.mirror();
		this.draw();
	}

	// Returns the nearest visible sibling in this direction, or the frame itself.
	sibling(node, step) {
		const { start, list, position } = this.layout.children;
		const parent = this.profile.parent[node];
		const at = start[parent] + position[node] + step;
		return node > 0 && at >= start[parent] && at < start[parent + 1] && this.layout.width[list[at]] > 0 ? list[at] : node;
	}

	neighbour(node, key) {
		const { start, list } = this.layout.children;
		switch (key) {
		case this.options.upward ? 'ArrowUp' : 'ArrowDown': return start[node] < start[node + 1] && this.layout.width[list[start[node]]] > 0 ? list[start[node]] : node;
		case this.options.upward ? 'ArrowDown' : 'ArrowUp': return this.profile.parent[node];
		case 'ArrowLeft': return this.sibling(node, -1);
		case 'ArrowRight': return this.sibling(node, 1);
		case 'Home': return 0;
		default: return -1;
		}
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const next = this.neighbour(this.focused, event.key);
		if (next >= 0) {
			this.focus(next);
			if (!this.isInside(next, this.zoomed) && !this.isInside(this.zoomed, next))
				this.zoom(this.profile.parent[next]);
		} else if (event.key === 'Enter' || event.key === ' ') {
			this.zoom(this.focused);
		} else if (event.key === 'Escape') {
			this.zoom(0);
		} else if (event.key === '/') {
			this.options.onSearch?.();
		} else if (event.key === 'c') {
			this.options.onCopy?.();
		} else {
			return;
		}
		event.preventDefault();
	}

	isInside(node, ancestor) {
		let n = node;
		while (this.profile.depth[n] > this.profile.depth[ancestor])
			n = this.profile.parent[n];
		return n === ancestor;
	}

	// Marks frames by name, and reports their number and share.
	find(text) {
		const needle = text.trim().toLowerCase();
		const { profile } = this;
		if (!needle) {
			this.found = null;
			this.draw();
			return '';
		}
		const hit = profile.functions.name.map((name) => name.toLowerCase().includes(needle));
		const below = new Uint8Array(profile.count);
		const sums = [0, 0];
		this.found = new Uint8Array(profile.count);
		let count = 0;
		for (let i = 0; i < profile.count; i += 1) {
			below[i] = i > 0 ? below[profile.parent[i]] : 0;
			if (!hit[profile.function[i]])
				continue;
			this.found[i] = 1;
			count += 1;
			if (!below[i]) {
				sums[0] += profile.inclusive[0][i];
				sums[1] += profile.inclusive[1][i];
			}
			below[i] = 1;
		}
		const shares = sums.map((sum, arm) => formatShare(sum / profile.inclusive[arm][0]));
		this.draw();
		return count === 0 ? 'nothing found'
			: `${count} frame${count === 1 ? '' : 's'}, ${this.isDifferential ? shares.join(' → ') : shares[profile.hasCandidate ? 1 : 0]} of the time`;
	}

	nextFound(step) {
		if (!this.found)
			return;
		for (let i = 1; i <= this.profile.count; i += 1) {
			const node = (this.focused + step * i + this.profile.count * 2) % this.profile.count;
			if (this.found[node] && this.layout.width[node] > 0) {
				this.zoom(node);
				this.focus(node);
				return;
			}
		}
	}

	// Lists the frames around the focused frame for screen readers.
	mirror() {
		const { start, list, position } = this.layout.children;
		const { parent, depth } = this.profile;
		const item = (node) => el('div', { role: 'treeitem', 'aria-level': depth[node] + 1, 'aria-selected': node === this.focused ? 'true' : 'false',
			'aria-setsize': node > 0 ? start[parent[node] + 1] - start[parent[node]] : 1, 'aria-posinset': node > 0 ? position[node] + 1 : 1,
			'aria-expanded': start[node] < start[node + 1] ? 'true' : undefined },
		Object.values(this.words(node)).filter(Boolean).join(', '));
		const path = pathOf(this.profile, this.focused).slice(-MIRRORED);
		const below = list.subarray(start[this.focused], Math.min(start[this.focused + 1], start[this.focused] + MIRRORED));
		replace(this.tree, path.map(item), Array.from(below, item));
	}

	// --- drawing ---

	resize() {
		const ratio = devicePixelRatio || 1;
		const rows = Math.min(this.rows, this.options.upward ? 15 : 30);
		this.pane.style.height = `${rows * ROW + 2}px`;
		this.spacer.style.height = `${(this.rows - rows) * ROW}px`;
		this.pixels = Math.max(200, this.pane.clientWidth);
		this.height = rows * ROW;
		this.canvas.width = Math.round(this.pixels * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.width = `${this.pixels}px`;
		this.canvas.style.height = `${this.height}px`;
		this.context = this.canvas.getContext('2d');
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.hatch = null;
	}

	put(node, x, width) {
		const { drawn } = this;
		const row = this.row(node);
		if (row < this.firstRow || row > this.lastRow)
			return;
		drawn.node[drawn.count] = node;
		drawn.x[drawn.count] = x;
		drawn.width[drawn.count] = width;
		drawn.count += 1;
	}

	// Collects the visible frames into preallocated arrays: zooming creates no garbage.
	collect() {
		const { width, left, children } = this.layout;
		const { profile, zoomed, stack } = this;
		// Next to another graph, both sides share one scale.
		const scale = this.pixels / ((this.options.only ? Math.max(profile.inclusive[0][zoomed], profile.inclusive[1][zoomed]) : width[zoomed]) || 1);
		this.firstRow = Math.floor(this.scrolled / ROW);
		this.lastRow = this.firstRow + Math.ceil(this.height / ROW) + 1;
		this.drawn.count = 0;
		for (let n = zoomed; n > 0; n = profile.parent[n])
			this.put(profile.parent[n], 0, this.pixels);
		let waiting = 1;
		stack[0] = zoomed;
		while (waiting > 0) {
			waiting -= 1;
			const node = stack[waiting];
			this.put(node, (left[node] - left[zoomed]) * scale, width[node] * scale);
			if (!this.options.upward && profile.depth[node] >= this.lastRow)
				continue;
			const end = children.start[node + 1];
			for (let c = children.start[node]; c < end; c += 1) {
				if (width[children.list[c]] * scale < MIN_PIXELS)
					break; // siblings are sorted, widest first
				stack[waiting] = children.list[c];
				waiting += 1;
			}
		}
	}

	// Sorts the indexes into `drawn` by shade, so that each colour is set once.
	sortByShade() {
		const { drawn, shades, byShade } = this;
		const next = new Int32Array(2 * LEVELS + 2);
		for (let i = 0; i < drawn.count; i += 1)
			next[shades[drawn.node[i]] + LEVELS + 1] += 1;
		for (let level = 1; level < next.length; level += 1)
			next[level] += next[level - 1];
		for (let i = 0; i < drawn.count; i += 1) {
			const level = shades[drawn.node[i]] + LEVELS;
			byShade[next[level]] = i;
			next[level] += 1;
		}
	}

	draw() {
		const { context, drawn } = this;
		if (!context)
			return;
		this.scrolled = this.pane.scrollTop; // read once per drawing, because reading it forces a layout
		this.collect();
		this.sortByShade();
		context.clearRect(0, 0, this.pixels, this.height);
		let level = NaN;
		for (let k = 0; k < drawn.count; k += 1) {
			const i = this.byShade[k];
			if (this.shades[drawn.node[i]] !== level) {
				level = this.shades[drawn.node[i]];
				context.fillStyle = this.palette.shades[level + LEVELS];
			}
			this.fillFrame(i);
		}
		if (this.isDifferential)
			this.drawHatch();
		if (this.found)
			this.drawFound();
		this.drawLabels();
		this.drawFocus();
	}

	top(node) {
		return this.row(node) * ROW - this.scrolled;
	}

	fillFrame(i) {
		const { node, x, width } = this.drawn;
		this.context.fillRect(x[i], this.top(node[i]), width[i] > 2 ? width[i] - 1 : width[i], ROW - 1);
	}

	// Hatches new and gone frames.
	drawHatch() {
		const { drawn } = this;
		const { inclusive } = this.profile;
		if (!this.hatch) {
			const tile = el('canvas', { width: 6, height: 6 });
			const brush = tile.getContext('2d');
			brush.strokeStyle = this.palette.text;
			brush.globalAlpha = 0.35;
			brush.lineWidth = 1.2;
			brush.beginPath();
			for (const at of [-6, 0, 6]) {
				brush.moveTo(at, 6);
				brush.lineTo(at + 6, 0);
			}
			brush.stroke();
			this.hatch = this.context.createPattern(tile, 'repeat');
		}
		this.context.fillStyle = this.hatch;
		for (let i = 0; i < drawn.count; i += 1) {
			if (drawn.width[i] > 3 && (inclusive[0][drawn.node[i]] === 0) !== (inclusive[1][drawn.node[i]] === 0))
				this.fillFrame(i);
		}
	}

	drawFound() {
		const { context, drawn, found } = this;
		context.globalAlpha = 0.45;
		context.fillStyle = this.palette.line;
		for (let i = 0; i < drawn.count; i += 1) {
			if (!found[drawn.node[i]])
				context.fillRect(drawn.x[i], this.top(drawn.node[i]), drawn.width[i], ROW);
		}
		context.globalAlpha = 1;
		context.fillStyle = this.palette.found;
		for (let i = 0; i < drawn.count; i += 1) {
			if (found[drawn.node[i]])
				context.fillRect(drawn.x[i], this.top(drawn.node[i]) + ROW - 5, Math.max(1, drawn.width[i] - 1), 4);
		}
	}

	label(node, room) {
		const state = this.state(node);
		const sign = state ? `${state}: ` : this.isDifferential && this.shades[node] !== 0 ? `${this.shades[node] > 0 ? '+' : '−'} ` : '';
		return sign + fitName(this.name(node), room - sign.length);
	}

	drawLabels() {
		const { context, drawn } = this;
		context.font = '12px system-ui, sans-serif';
		context.textBaseline = 'middle';
		context.fillStyle = this.palette.text;
		this.charWidth ??= context.measureText('abcdefghijklmnopqrstuvwxyz::_').width / 29;
		for (let i = 0; i < drawn.count; i += 1) {
			const room = Math.floor((drawn.width[i] - 8) / this.charWidth);
			if (room < 3)
				continue;
			context.fillText(this.label(drawn.node[i], room), drawn.x[i] + 4, this.top(drawn.node[i]) + ROW / 2);
		}
	}

	drawFocus() {
		const { drawn, focused } = this;
		const i = drawn.node.subarray(0, drawn.count).indexOf(focused);
		if (i < 0)
			return;
		this.context.strokeStyle = this.palette.focus;
		this.context.lineWidth = 2;
		this.context.strokeRect(drawn.x[i] + 1, this.top(focused) + 1, Math.max(2, drawn.width[i] - 3), ROW - 3);
	}

	nodeAt(event) {
		const { drawn } = this;
		const box = this.canvas.getBoundingClientRect();
		const x = event.clientX - box.left;
		const row = Math.floor((event.clientY - box.top + this.pane.scrollTop) / ROW);
		for (let i = 0; i < drawn.count; i += 1) {
			if (this.row(drawn.node[i]) === row && x >= drawn.x[i] && x < drawn.x[i] + drawn.width[i])
				return drawn.node[i];
		}
		return -1;
	}
}

// Callbacks in `options`: onZoom(node, isOpening), onSearch(), onCopy(), placeHref(file, line).
// Other options: { first: node to look at first, only: one side, upward: show callers above the root, of: name of the root,
// byAll: colour by the change of all callees }.
// The returned object has `element`, zoom(node) and find(text).
export function flameGraph(profile, options = {}) {
	return new FlameGraph(profile, options);
}
