// SPDX-License-Identifier: Apache-2.0
// Other ways to look at a profile as a flame graph: both sides beside each other, callees first, and one function with all
// its callers and callees.

import { el, replace } from './dom.js';
import { clip, shortName } from './format.js';
import { flameGraph } from './flame.js';
import { readProfile } from './profile.js';

const DEEPEST = 256;

// A tree that grows: a node for each parent and function, parents before their children.
class Growing {
	constructor(rootFunction, arms) {
		this.parent = [0];
		this.function = [rootFunction];
		this.self = Array.from({ length: arms }, () => [0]);
		this.index = new Map();
	}

	child(parent, functionIndex, functionCount) {
		const key = parent * functionCount + functionIndex;
		const found = this.index.get(key);
		if (found !== undefined)
			return found;
		const made = this.parent.length;
		this.index.set(key, made);
		this.parent.push(made - parent);
		this.function.push(functionIndex);
		for (const column of this.self)
			column.push(0);
		return made;
	}

	add(node, weights) {
		weights.forEach((weight, arm) => { this.self[arm][node] += weight; });
	}

	read(profile) {
		return readProfile({ functions: profile.functions, unit: profile.unit, nodes: { parent: this.parent, function: this.function, self: this.self } });
	}
}

// The way from a node up to where the program began, as a path below `start`.
function growCallers(tree, profile, node, start) {
	const count = profile.functions.name.length;
	let at = start;
	let depth = 0;
	for (let n = node; n > 0 && depth < DEEPEST; n = profile.parent[n], depth += 1)
		at = tree.child(at, profile.function[n], count);
	return at;
}

// Functions by what they took themselves, their callers below.
export function invertedProfile(profile) {
	const tree = new Growing(profile.function[0], 2);
	for (let i = 0; i < profile.count; i += 1) {
		const weights = [profile.self[0][i], profile.self[1][i]];
		if (weights[0] > 0 || weights[1] > 0)
			tree.add(growCallers(tree, profile, i, 0), weights);
	}
	return tree.read(profile);
}

// 1 where the function stands the first time on a path, 2 below that.
function places(profile, functionIndex) {
	const place = new Uint8Array(profile.count);
	for (let i = 0; i < profile.count; i += 1) {
		if (i > 0 && place[profile.parent[i]])
			place[i] = 2;
		else if (profile.function[i] === functionIndex)
			place[i] = 1;
	}
	return place;
}

// All that one function calls, wherever it was called from.
export function calleesOf(profile, functionIndex) {
	const tree = new Growing(functionIndex, 2);
	const count = profile.functions.name.length;
	const place = places(profile, functionIndex);
	const to = new Int32Array(profile.count);
	for (let i = 0; i < profile.count; i += 1) {
		if (place[i] === 2)
			to[i] = tree.child(to[profile.parent[i]], profile.function[i], count);
		if (place[i])
			tree.add(to[i], [profile.self[0][i], profile.self[1][i]]);
	}
	return tree.read(profile);
}

// All that leads to it, with what it took including its callees.
export function callersOf(profile, functionIndex) {
	const tree = new Growing(functionIndex, 2);
	const place = places(profile, functionIndex);
	for (let i = 0; i < profile.count; i += 1) {
		if (place[i] === 1)
			tree.add(growCallers(tree, profile, profile.parent[i], 0), [profile.inclusive[0][i], profile.inclusive[1][i]]);
	}
	return tree.read(profile);
}

const VIEWS = { '': 'from the start of the program', beside: 'both sides, same scale', inverted: 'inverted: own time first', sandwich: 'one function: callers and callees' };

// As flameGraph(), with a choice of views.  The state has `view` and, for one function, `of`.
export function flameViews(profile, options = {}) {
	const isDifferential = profile.hasBaseline && profile.hasCandidate;
	const choice = el('select', { 'aria-label': 'View of the call paths', onchange: () => show(choice.value, of, true) },
		Object.entries(VIEWS).filter(([name]) => name !== 'beside' || isDifferential).map(([value, text]) => el('option', { value }, text)));
	const spot = el('div');
	const element = el('div', {}, el('p', { class: 'toolbar' }, el('label', {}, 'Shown ', choice)), spot);
	let view = '';
	let of;
	let graphs = [];

	function tell(flame) {
		options.onState?.({ ...flame, view: view || undefined, of: view === 'sandwich' ? of : undefined });
	}
	function graphOf(data, more = {}) {
		const graph = flameGraph(data, { onState: tell, placeHref: options.placeHref, ...more });
		graphs.push(graph);
		return graph.element;
	}
	function figure(words, graph) {
		return el('div', { class: 'flame-part' }, el('h4', {}, words), graph);
	}
	function together(node) {
		for (const graph of graphs) {
			if (graph.zoomed !== node)
				graph.zoom(node);
		}
	}
	// The function that was looked at last, else the one with the largest change.
	function anyFunction() {
		const focused = graphs[0]?.profile === profile ? profile.function[graphs[0].focused] : 0;
		if (focused > 0)
			return focused;
		const change = profile.functions.name.map((_, f) => (f > 0 ? Math.abs(profile.functions.self[1][f] - profile.functions.self[0][f]) : -1));
		return change.indexOf(Math.max(...change));
	}
	function show(name, functionIndex, isChosen) {
		view = Object.hasOwn(VIEWS, name ?? '') && (name !== 'beside' || isDifferential) ? name : '';
		choice.value = view;
		if (view === 'sandwich')
			of = functionIndex > 0 && functionIndex < profile.functions.name.length ? functionIndex : anyFunction();
		graphs = [];
		if (view === 'beside') {
			replace(spot, el('div', { class: 'beside' }, ['baseline', 'candidate'].map((side) => figure(side, graphOf(profile, { only: side, onZoom: together })))));
		} else if (view === 'inverted') {
			replace(spot, graphOf(invertedProfile(profile)));
		} else if (view === 'sandwich') {
			const words = clip(shortName(profile.functions.name[of]), 80);
			replace(spot, figure(`Callers of ${words}`, graphOf(callersOf(profile, of))), figure(`${words} and what it calls`, graphOf(calleesOf(profile, of))));
		} else {
			replace(spot, graphOf(profile));
		}
		if (isChosen)
			tell({ node: 0, mode: graphs[0].mode, search: '' });
	}
	show('');
	return {
		element,
		// What a link said.
		restore(state) {
			const wanted = state.view ?? '';
			const wantedOf = /^\d+$/.test(state.of ?? '') ? Number(state.of) : undefined;
			if (wanted !== view || (wanted === 'sandwich' && wantedOf !== of))
				show(wanted, wantedOf, false);
			graphs[0].restore(state);
		},
	};
}
