// SPDX-License-Identifier: Apache-2.0
// Call graph diagram: the most important functions, in layers from callers to callees.
//
// It shows the functions with the most time or change. A call path between two shown functions through hidden
// functions becomes one dashed edge. A function's layer is the length of the longest path to it, after cycles are
// broken. Within a layer, a few sweeps sort functions by the mean place of their neighbours, which removes most
// crossings in graphs of this size.

import { el, onResize, scroller, svg } from './dom.js';
import { clip, fitName, formatChange, formatMs, shortName } from './format.js';
import { appearance, tints } from './profile.js';

const MOST = 26;
const BOX = { width: 176, across: 18, down: 40, line: 15, letters: 24 };

// Breaks a name, or only its class and function if it is too long, into lines between its parts.
function lines(name) {
	const list = [];
	for (const part of fitName(shortName(name), 3 * BOX.letters).split(/(?<=::|_)/).flatMap((word) => word.match(new RegExp(`[^]{1,${BOX.letters}}`, 'gu')))) {
		if (list.length > 0 && list.at(-1).length + part.length <= BOX.letters)
			list[list.length - 1] += part;
		else
			list.push(part);
	}
	return list;
}

function choose(profile) {
	const { functions } = profile;
	const total = Math.max(profile.inclusive[0][0], profile.inclusive[1][0]);
	const scores = functions.name.map((_, f) => {
		const [before, after] = [functions.inclusive[0][f], functions.inclusive[1][f]];
		const [selfBefore, selfAfter] = [functions.self[0][f], functions.self[1][f]];
		return Math.max(before, after) * 0.2 + Math.max(selfBefore, selfAfter) + Math.abs(selfAfter - selfBefore) * 10 + Math.abs(after - before) * 3;
	});
	return scores.map((score, f) => [score, f]).filter(([score, f]) => f > 0 && score > total * 0.002 && !profile.isHidden(f))
		.sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, MOST).map(([, f]) => f);
}

// Returns the edges between chosen functions, with the time that flows along each edge.
function collectEdges(profile, chosen) {
	const isChosen = new Set(chosen);
	const nearest = new Int32Array(profile.count).fill(-1); // nearest chosen function above each node
	const direct = new Uint8Array(profile.count);
	const edges = new Map();
	for (let i = 1; i < profile.count; i += 1) {
		const parent = profile.parent[i];
		const parentFunction = profile.function[parent];
		const above = isChosen.has(parentFunction);
		nearest[i] = above ? parentFunction : nearest[parent];
		direct[i] = above ? 1 : 0;
		const to = profile.function[i];
		if (!isChosen.has(to) || nearest[i] < 0 || nearest[i] === to)
			continue;
		const key = nearest[i] * profile.functions.name.length + to;
		const edge = edges.get(key) ?? { from: nearest[i], to, time: [0, 0], direct: false };
		edge.time[0] += profile.inclusive[0][i];
		edge.time[1] += profile.inclusive[1][i];
		edge.direct ||= direct[i] === 1;
		edges.set(key, edge);
	}
	return [...edges.values()].filter((e) => Math.max(...e.time) > 0);
}

function dropBackEdges(chosen, edges) {
	const out = new Map(chosen.map((f) => [f, []]));
	edges.sort((a, b) => Math.max(...b.time) - Math.max(...a.time));
	for (const edge of edges)
		out.get(edge.from).push(edge);
	const state = new Map();
	const visit = (f) => {
		state.set(f, 1);
		for (const edge of out.get(f)) {
			edge.back = state.get(edge.to) === 1;
			if (!state.has(edge.to))
				visit(edge.to);
		}
		state.set(f, 2);
	};
	const called = new Set(edges.map((e) => e.to));
	for (const f of [...chosen.filter((c) => !called.has(c)), ...chosen]) {
		if (!state.has(f))
			visit(f);
	}
	return edges.filter((e) => !e.back);
}

function makeLayers(chosen, edges) {
	const layer = new Map(chosen.map((f) => [f, 0]));
	for (let round = 0; round < chosen.length; round += 1) {
		let moved = false;
		for (const { from, to } of edges) {
			if (layer.get(to) < layer.get(from) + 1) {
				layer.set(to, layer.get(from) + 1);
				moved = true;
			}
		}
		if (!moved)
			break;
	}
	const layers = [];
	for (const f of chosen)
		(layers[layer.get(f)] ??= []).push(f);
	return layers.filter(Boolean);
}

function orderLayers(layers, edges) {
	const at = new Map();
	const number = () => layers.forEach((row) => row.forEach((f, i) => at.set(f, (i + 0.5) / row.length)));
	number();
	for (let sweep = 0; sweep < 8; sweep += 1) {
		const [mine, other] = sweep % 2 === 0 ? ['to', 'from'] : ['from', 'to'];
		for (const row of layers) {
			const mean = new Map(row.map((f) => {
				const near = edges.filter((e) => e[mine] === f).map((e) => at.get(e[other]));
				return [f, near.length ? near.reduce((a, b) => a + b, 0) / near.length : at.get(f)];
			}));
			row.sort((a, b) => mean.get(a) - mean.get(b));
		}
		number();
	}
}

// Returns the shade of each function, by the change of its own time as in the flame graph.
function shadesOf(profile) {
	const shades = new Float64Array(profile.functions.name.length);
	tints(profile).forEach((tint, node) => { shades[profile.function[node]] += tint; });
	return shades.map((sum) => Math.max(-1, Math.min(1, sum)));
}

function drawBox(profile, f, { x, y, height }, shade) {
	const { functions } = profile;
	const [before, after] = [functions.inclusive[0][f], functions.inclusive[1][f]];
	const both = profile.hasBaseline && profile.hasCandidate;
	const change = !both ? '' : before === 0 || after === 0 ? appearance(profile, before, after) : formatChange(after / before - 1);
	const words = lines(functions.name[f]);
	const box = (name, opacity) => svg('rect', { width: BOX.width, height, rx: 5, class: name, opacity });
	return svg('g', { class: 'box', transform: `translate(${x} ${y})` },
		svg('title', {}, `${clip(functions.name[f], 400)}\n${formatMs(before / 1e3)} → ${formatMs(after / 1e3)}`),
		box('same'), shade !== 0 && box(shade > 0 ? 'slower' : 'faster', Math.abs(shade)),
		words.map((line, i) => svg('text', { x: 8, y: 17 + i * BOX.line, class: 'name' }, line)),
		svg('text', { x: 8, y: 17 + words.length * BOX.line, class: 'time' }, `${formatMs((profile.hasCandidate ? after : before) / 1e3)}  ${change}`));
}

function drawEdge(edge, from, to, total) {
	const weight = Math.max(...edge.time) / total;
	const [x1, y1, x2, y2] = [from.x + BOX.width / 2, from.y + from.height, to.x + BOX.width / 2, to.y];
	const bend = Math.max(18, (y2 - y1) / 2);
	return svg('path', { d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, class: edge.direct ? 'edge' : 'edge far',
		'stroke-width': (1 + 6 * Math.sqrt(weight)).toFixed(1), 'marker-end': 'url(#fg-arrow)' });
}

export function callGraph(profile) {
	const chosen = choose(profile);
	if (chosen.length < 2)
		return el('p', { class: 'quiet' }, 'There are too few functions for a picture.');
	const edges = dropBackEdges(chosen, collectEdges(profile, chosen));
	const layers = makeLayers(chosen, edges);
	orderLayers(layers, edges);
	const widest = Math.max(...layers.map((row) => row.length));
	const width = widest * (BOX.width + BOX.across) + BOX.across;
	const total = Math.max(profile.inclusive[0][0], profile.inclusive[1][0]) || 1;
	const places = new Map();
	const shades = profile.hasBaseline && profile.hasCandidate ? shadesOf(profile) : [];
	let height = 8;
	for (const row of layers) {
		const tallest = 26 + BOX.line * Math.max(...row.map((f) => lines(profile.functions.name[f]).length));
		row.forEach((f, i) => places.set(f, { x: (width - row.length * (BOX.width + BOX.across) + BOX.across) / 2 + i * (BOX.width + BOX.across), y: height, height: tallest }));
		height += tallest + BOX.down;
	}
	height += 8 - BOX.down;
	const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
		'aria-label': `Call graph of ${chosen.length} functions; the table of functions has the same data` },
	svg('defs', {}, svg('marker', { id: 'fg-arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
		markerUnits: 'userSpaceOnUse', orient: 'auto' }, svg('path', { d: 'M0 0L8 4L0 8z', class: 'arrow' }))),
	edges.map((edge) => drawEdge(edge, places.get(edge.from), places.get(edge.to), total)),
	chosen.map((f) => drawBox(profile, f, places.get(f), shades[f] ?? 0)));
	const box = scroller('Call graph', picture);
	onResize(box, () => { box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2; }); // scroll to the middle, where the program starts
	return el('figure', { class: 'callgraph' }, box, el('figcaption', {},
		`The ${chosen.length} functions with the most time or the largest change, callers above. Times include callees; colours show the change of the function's own time. Dashed lines pass through functions that are not shown.`));
}
