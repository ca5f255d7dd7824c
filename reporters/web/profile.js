// SPDX-License-Identifier: Apache-2.0
// Converts a profile of two arms from its columns to arrays that can be drawn.
//
// Columns of functions: { name, library, file, line, self: [b, c], inclusive: [b, c] }.
// Columns of nodes: { parent (distance to the parent, 0 for the root), function, self: [b, c] }.
// Values are in microseconds per repetition.

import { formatDeltaMs, formatMs, formatValue, isSampler, isStarter } from './format.js';

// Returns formatters for values in milliseconds or, with `unit`, in millions of the unit. (Weights
// are in microseconds or in thousands of the unit.)
function amounts(unit) {
	if (!unit)
		return { unit, amount: formatMs, delta: formatDeltaMs };
	const amount = (value) => formatValue(value * 1e6, unit);
	return { unit, amount, delta: (value) => (value === 0 ? '0' : (value < 0 ? '−' : '+') + amount(Math.abs(value))) };
}

// Finds for each node the node shown instead: startup nodes and the sampler's nodes count as their
// callers.
function shownAs(nodes, names) {
	const count = nodes.function.length;
	const as = new Int32Array(count);
	const [starts, samples] = [names.map(isStarter), names.map(isSampler)];
	const inSampler = new Uint8Array(count);
	let kept = 1;
	for (let i = 1; i < count; i += 1) {
		const parent = i - nodes.parent[i];
		const f = nodes.function[i];
		inSampler[i] = inSampler[parent] || samples[f] ? 1 : 0;
		as[i] = inSampler[i] || (starts[f] && as[parent] === 0) ? as[parent] : kept;
		kept += as[i] === kept ? 1 : 0;
	}
	return { as, kept };
}

export function readProfile(data) {
	const { nodes, functions } = data;
	const { as, kept: count } = shownAs(nodes, functions.name);
	const parent = new Int32Array(count);
	const functionOf = new Array(count).fill(0);
	const depth = new Uint16Array(count);
	const self = nodes.self.map(() => new Float64Array(count));
	const hidden = new Set();
	let deepest = 0;

	functionOf[0] = nodes.function[0];
	for (let i = 1, last = 0; i < as.length; i += 1) {
		if (as[i] <= last) {
			hidden.add(nodes.function[i]);
		} else {
			last = as[i];
			functionOf[last] = nodes.function[i];
			parent[last] = as[i - nodes.parent[i]];
			depth[last] = depth[parent[last]] + 1;
			deepest = Math.max(deepest, depth[last]);
		}
	}
	functionOf.forEach((f) => hidden.delete(f));
	for (let i = 0; i < as.length; i += 1) {
		self[0][as[i]] += nodes.self[0][i];
		self[1][as[i]] += nodes.self[1][i];
	}
	const inclusive = self.map((column) => new Float64Array(column));
	for (let i = count - 1; i > 0; i -= 1) {
		inclusive[0][parent[i]] += inclusive[0][i];
		inclusive[1][parent[i]] += inclusive[1][i];
	}
	return {
		count,
		parent,
		depth,
		deepest,
		function: functionOf,
		self,
		inclusive,
		functions,
		isHidden: (f) => hidden.has(f),
		folded: data.folded ?? 0,
		...amounts(data.unit),
		hasBaseline: inclusive[0][0] > 0,
		hasCandidate: inclusive[1][0] > 0,
	};
}

// Sorts by weight. Most lists of children are short, where insertion sort beats the general sort,
// which calls back for each comparison.
function widestFirst(list, from, to, weight) {
	if (to - from > 24) {
		list.subarray(from, to).sort((a, b) => weight[b] - weight[a] || a - b);
		return;
	}
	for (let i = from + 1; i < to; i += 1) {
		const node = list[i];
		let k = i;
		for (; k > from && weight[list[k - 1]] < weight[node]; k -= 1)
			list[k] = list[k - 1];
		list[k] = node;
	}
}

// Returns the children of each node as slices of one array, sorted by `weight`.
export function childLists(profile, weight) {
	const start = new Int32Array(profile.count + 1);
	const list = new Int32Array(Math.max(0, profile.count - 1));
	for (let i = 1; i < profile.count; i += 1)
		start[profile.parent[i] + 1] += 1;
	for (let i = 0; i < profile.count; i += 1)
		start[i + 1] += start[i];
	const next = start.slice(0, profile.count);
	for (let i = 1; i < profile.count; i += 1)
		list[next[profile.parent[i]]++] = i;
	for (let i = 0; i < profile.count; i += 1)
		widestFirst(list, start[i], start[i + 1], weight);
	const position = new Int32Array(profile.count); // index among its siblings
	for (let i = 0; i < profile.count; i += 1) {
		for (let c = start[i]; c < start[i + 1]; c += 1)
			position[list[c]] = c - start[i];
	}
	return { start, list, position };
}

// Returns the share of the time of new or gone callees that moved from or to the frame itself.
function movedShare(own, callees) {
	return own < 0 && callees > 0 ? Math.min(1, -own / callees) : own > 0 && callees < 0 ? Math.min(1, own / -callees) : 0;
}

// Returns the change of each frame's own time, without time that only moved between a function and
// a new or gone callee.
function ownChanges(profile) {
	const { count, parent, inclusive, self } = profile;
	const own = Float64Array.from(self[0], (before, i) => self[1][i] - before);
	const callees = new Float64Array(count); // time of new and gone callees
	const kept = new Float64Array(count).fill(1); // share of the change below this frame that did not move
	const isOnOneSide = (i) => i > 0 && (inclusive[0][i] === 0) !== (inclusive[1][i] === 0) && inclusive[0][parent[i]] > 0 && inclusive[1][parent[i]] > 0;
	for (let i = 1; i < count; i += 1)
		callees[parent[i]] += isOnOneSide(i) ? inclusive[1][i] - inclusive[0][i] : 0;
	for (let i = 1; i < count; i += 1) {
		const above = parent[i];
		kept[i] = kept[above] * (isOnOneSide(i) ? 1 - movedShare(self[1][above] - self[0][above], callees[above]) : 1);
	}
	for (let i = 0; i < count; i += 1)
		own[i] = own[i] * kept[i] + movedShare(own[i], callees[i]) * callees[i];
	return own;
}

const FULL = 0.5; // share of the whole change that gets the full colour
const MIN_CHANGE = 0.02; // a smaller share of the time is noise, not a change of the whole

// Returns the tint of each frame, from −1 to +1, by the change of its own time, so that a caller is
// not coloured for its callees; with `byAll`, by the change of all time below the frame.
export function tints(profile, byAll) {
	const [before, after] = profile.inclusive.map((side) => side[0]);
	const whole = Math.max(Math.abs(after - before), MIN_CHANGE * Math.max(before, after));
	const changes = byAll ? Float64Array.from(profile.inclusive[0], (value, i) => profile.inclusive[1][i] - value) : ownChanges(profile);
	return changes.map((change) => Math.max(-1, Math.min(1, change / whole / FULL)));
}

// A single sample on one side is noise: "new" and "gone" require this share of the total.
const NOTICEABLE = 0.0025;

export function appearance(profile, before, after) {
	if ((before === 0) === (after === 0) || Math.max(before, after) < NOTICEABLE * Math.max(profile.inclusive[0][0], profile.inclusive[1][0]))
		return '';
	return before === 0 ? 'new' : 'gone';
}

export function pathOf(profile, node) {
	const path = [];
	for (let n = node; n > 0; n = profile.parent[n])
		path.unshift(n);
	return [0, ...path];
}
