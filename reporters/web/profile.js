// SPDX-License-Identifier: Apache-2.0 Converts a profile of two arms from its columns to arrays that can be drawn.
//
// Columns: functions { name, library, file, line, self: [b, c], inclusive: [b, c] } and
// nodes { parent (distance to the parent, 0 for the root), function, self: [b, c] }, values in microseconds per repetition.

import { formatDeltaMs, formatMs, formatValue } from './format.js';

// The format of values: times, unless the profile has another measure. Weights are thousandths of the displayed values.
function amounts(unit) {
	if (!unit)
		return { unit, amount: formatMs, delta: formatDeltaMs };
	const amount = (value) => formatValue(value * 1e6, unit);
	return { unit, amount, delta: (value) => (value === 0 ? '0' : (value < 0 ? '−' : '+') + amount(Math.abs(value))) };
}

export function readProfile(data) {
	const count = data.nodes.function.length;
	const parent = new Int32Array(count);
	const depth = new Uint16Array(count);
	const inclusive = data.nodes.self.map((self) => new Float64Array(self));
	let deepest = 0;

	for (let i = 1; i < count; i += 1) {
		parent[i] = i - data.nodes.parent[i];
		depth[i] = depth[parent[i]] + 1;
		deepest = Math.max(deepest, depth[i]);
	}
	for (let i = count - 1; i > 0; i -= 1) {
		inclusive[0][parent[i]] += inclusive[0][i];
		inclusive[1][parent[i]] += inclusive[1][i];
	}
	return {
		count,
		parent,
		depth,
		deepest,
		function: data.nodes.function,
		self: data.nodes.self,
		inclusive,
		functions: data.functions,
		folded: data.folded ?? 0,
		...amounts(data.unit),
		hasBaseline: inclusive[0][0] > 0,
		hasCandidate: inclusive[1][0] > 0,
	};
}

// Most lists of children are short, where insertion sort beats the general sort, which calls back for each comparison.
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

// Children of each node as slices of one array, sorted by `weight`, or in input order.
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
	for (let i = 0; weight && i < profile.count; i += 1)
		widestFirst(list, start[i], start[i + 1], weight);
	const position = new Int32Array(profile.count); // among its siblings
	for (let i = 0; i < profile.count; i += 1) {
		for (let c = start[i]; c < start[i + 1]; c += 1)
			position[list[c]] = c - start[i];
	}
	return { start, list, position };
}

// −1 … +1: the change of this frame's time, saturated at ±25 %; small frames are mostly noise and stay pale.
export function tint(baseline, candidate, total) {
	const size = Math.max(baseline, candidate);
	if (size <= 0)
		return 0;
	const change = (candidate - baseline) / size;
	const weight = Math.min(1, Math.sqrt(size / (0.01 * total)));
	return Math.max(-1, Math.min(1, change / 0.25)) * weight;
}

// A single sample on one side is noise: "new" and "gone" need a noticeable part of the total.
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
