// SPDX-License-Identifier: Apache-2.0
// The flame graph of a profile with its toolbar, and other views of the profile: both sides next to
// each other, own time first, one function with its callers and callees.

import { el, replace, whenIdle } from './dom.js';
import { clip, shortName } from './format.js';
import { flameGraph, prepareGraph } from './flame.js';
import { readProfile } from './profile.js';

const DEEPEST = 256;

// A tree under construction: one node per parent and function, parents before children.
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
		const made = this.append(parent, functionIndex);
		this.index.set(key, made);
		return made;
	}

	append(parent, functionIndex) {
		const made = this.parent.length;
		this.parent.push(made - parent);
		this.function.push(functionIndex);
		for (const column of this.self)
			column.push(0);
		return made;
	}

	weigh(node, before, after) {
		this.self[0][node] += before;
		this.self[1][node] += after;
	}

	add(node, weights) {
		weights.forEach((weight, arm) => { this.self[arm][node] += weight; });
	}

	read(profile) {
		return readProfile({ functions: profile.functions, unit: profile.unit, nodes: { parent: this.parent, function: this.function, self: this.self } });
	}
}

// Adds the path from a node up to the root as a path below `start`.
function growCallers(tree, profile, node, start) {
	const count = profile.functions.name.length;
	let at = start;
	let depth = 0;
	for (let n = node; n > 0 && depth < DEEPEST; n = profile.parent[n], depth += 1)
		at = tree.child(at, profile.function[n], count);
	return at;
}

// Minimum share of the time for a caller: a smaller caller would be invisible, so it is counted
// with its callee.
const SMALLEST_SHARE = 1 / 2000;

// Returns all nodes with self time (`origin`), each with the ancestor reached so far (`at`).
// Entries that belong to one node of the tree are contiguous.
function everySelf(profile) {
	const nodes = [];
	for (let i = 1; i < profile.count; i += 1)
		if (profile.self[0][i] > 0 || profile.self[1][i] > 0)
			nodes.push(i);
	return { origin: Int32Array.from(nodes), at: Int32Array.from(nodes), groups: [{ node: 0, end: nodes.length }] };
}

// Makes a tree of the functions by self time, with their callers below, level by level: of millions
// of callers, only a few thousand are large enough to be seen.
export function invertedProfile(profile) {
	const tree = new Growing(profile.function[0], 2);
	const { parent: up, function: functionOf } = profile;
	const [self0, self1] = profile.self;
	const [least0, least1] = profile.inclusive.map((column) => column[0] * SMALLEST_SHARE);
	const size = profile.functions.name.length;
	// For each function among a node's members: weights, number of members that have callers,
	// the function's new node, and where its members go in the next level.
	const [sum0, sum1] = [new Float64Array(size), new Float64Array(size)];
	const [further, made, place] = [new Int32Array(size), new Int32Array(size), new Int32Array(size)];
	let folded = 0;
	tree.weigh(0, self0[0], self1[0]);
	let level = everySelf(profile);
	for (let depth = 1; level.groups.length > 0; depth += 1) {
		const goesOn = (at) => up[at] > 0 && depth < DEEPEST;
		const next = { origin: new Int32Array(level.at.length), at: new Int32Array(level.at.length), groups: [] };
		let filled = 0;
		let start = 0;
		for (const { node, end } of level.groups) {
			const seen = [];
			for (let m = start; m < end; m += 1) {
				const f = functionOf[level.at[m]];
				if (made[f] === 0) {
					made[f] = -1;
					seen.push(f);
				}
				sum0[f] += self0[level.origin[m]];
				sum1[f] += self1[level.origin[m]];
				further[f] += goesOn(level.at[m]) ? 1 : 0;
			}
			for (const f of seen) {
				if (depth > 1 && sum0[f] < least0 && sum1[f] < least1) {
					folded += 1;
					tree.weigh(node, sum0[f], sum1[f]);
					continue;
				}
				made[f] = tree.append(node, f);
				place[f] = filled;
				filled += further[f];
				if (further[f] > 0)
					next.groups.push({ node: made[f], end: filled });
			}
			for (let m = start; m < end; m += 1) {
				const [origin, at] = [level.origin[m], level.at[m]];
				const f = functionOf[at];
				if (made[f] > 0 && goesOn(at)) {
					next.origin[place[f]] = origin;
					next.at[place[f]] = up[at];
					place[f] += 1;
				} else if (made[f] > 0) {
					tree.weigh(made[f], self0[origin], self1[origin]);
				}
			}
			for (const f of seen) {
				sum0[f] = 0;
				sum1[f] = 0;
				further[f] = 0;
				made[f] = 0;
			}
			start = end;
		}
		level = next;
	}
	return Object.assign(tree.read(profile), { folded });
}

// Marks each node: 1 for the function's first occurrence on a path, 2 below it.
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

// Makes a tree of everything that one function calls, from all callers combined.
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

// Makes a tree of everything that leads to a function, weighted by the function's inclusive time.
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

function legend() {
	return el('p', { class: 'legend' }, [['faster', '− faster'], ['same', 'unchanged'], ['slower', '+ slower'], ['new', 'new'], ['gone', 'gone']].map(([key, words]) => el('span', { class: `key ${key}` }, words)),
		el('span', {}, 'full colour: at least half of the whole change'));
}

// Returns the function's frame with the largest change.
function frameOf(profile, functionIndex) {
	let first = 0;
	for (let i = 1, most = 0; i < profile.count; i += 1) {
		const change = Math.abs(profile.inclusive[1][i] - profile.inclusive[0][i]);
		if (profile.function[i] === functionIndex && change > most)
			[first, most] = [i, change];
	}
	return first;
}

// A choice of flame graphs below one toolbar.
// Options: { culprit: function to look at first, onState(state), placeHref(file, line) }.
// The state has `node`, `search`, `view` and, for one function, `of`.
export function flameViews(profile, options = {}) {
	const isDifferential = profile.hasBaseline && profile.hasCandidate;
	const canShow = (name) => name !== 'beside' || isDifferential;
	const choice = el('select', { 'aria-label': 'View of the call paths', onchange: () => show(choice.value, of, true) },
		Object.entries(VIEWS).filter(([name]) => canShow(name)).map(([value, text]) => el('option', { value }, text)));
	const search = el('input', { type: 'search', 'aria-label': 'Search frames', placeholder: 'Search frames  ( / )' });
	const result = el('span', { class: 'quiet', role: 'status' });
	const whole = el('button', { type: 'button', disabled: true, onclick: () => graphs.forEach((graph) => graph.zoom(0)) }, 'Whole program');
	const copy = el('button', { type: 'button', title: 'Copies the call path of the focused frame (key: c)', onclick: copyStack }, 'Copy stack');
	const spot = el('div');
	const element = el('div', { class: 'flame-views' }, el('div', { class: 'toolbar' }, choice, search, result, whole, copy), isDifferential && legend(), spot);
	let view = '';
	let of;
	let graphs = [];
	let inverted;
	let telling = 0;
	const invertedOnce = () => (inverted ??= invertedProfile(profile));

	// Updates the address after drawing, once for several changes.
	function notify() {
		telling ||= setTimeout(() => {
			telling = 0;
			options.onState?.({ node: graphs[0].zoomed || undefined, search: search.value || undefined, view: view || undefined, of: view === 'sandwich' ? of : undefined });
		});
	}
	async function copyStack() {
		const lines = (graphs.find((graph) => graph.pane === document.activeElement) ?? graphs.at(-1)).stack();
		await navigator.clipboard.writeText(lines.join('\n')).then(() => { result.textContent = `${lines.length} frame${lines.length === 1 ? '' : 's'} copied`; },
			() => { result.textContent = 'this browser does not let the page copy text'; });
	}
	function find() {
		result.textContent = graphs.map((graph) => graph.find(search.value)).at(-1);
	}
	function graphOf(data, more = {}) {
		const graph = flameGraph(data, { placeHref: options.placeHref, onSearch: () => search.focus(), onCopy: copyStack, ...more, onZoom: (node, isOpening) => {
			whole.disabled = graphs.every(({ zoomed }) => zoomed === 0);
			more.onZoom?.(node);
			if (!isOpening)
				notify();
		} });
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
	// Returns the focused function, else the culprit, else the function with the largest
	// change.
	function anyFunction() {
		const focused = graphs[0]?.profile === profile ? profile.function[graphs[0].focused] : 0;
		if (focused > 0 || options.culprit > 0)
			return focused || options.culprit;
		const change = profile.functions.name.map((_, f) => (f > 0 ? Math.abs(profile.functions.self[1][f] - profile.functions.self[0][f]) : -1));
		return change.indexOf(Math.max(...change));
	}
	function sandwich() {
		const words = clip(shortName(profile.functions.name[of]), 80);
		const callers = callersOf(profile, of);
		return [callers.deepest > 0 && figure(`Callers of ${words}`, graphOf(callers, { upward: true, byAll: true, of: 'the function' })), figure(`${words} and its callees`, graphOf(calleesOf(profile, of), { of: 'the function' }))];
	}
	function show(name, functionIndex, isChosen) {
		view = Object.hasOwn(VIEWS, name ?? '') && canShow(name) ? name : '';
		choice.value = view;
		if (view === 'sandwich')
			of = functionIndex > 0 && functionIndex < profile.functions.name.length ? functionIndex : anyFunction();
		graphs = [];
		if (view === 'beside') {
			replace(spot, el('div', { class: 'beside' }, ['baseline', 'candidate'].map((side) => figure(side, graphOf(profile, { only: side, onZoom: together, first: frameOf(profile, options.culprit) })))));
		} else if (view === 'inverted') {
			replace(spot, graphOf(invertedOnce(), { byAll: true, first: frameOf(invertedOnce(), options.culprit) }), inverted.folded > 0 && el('p', { class: 'quiet' }, `${inverted.folded} callers too small to be seen were added to the functions that they call.`));
		} else if (view === 'sandwich') {
			replace(spot, sandwich());
		} else {
			replace(spot, graphOf(profile, { first: frameOf(profile, options.culprit) }));
		}
		find();
		if (isChosen)
			notify();
	}
	search.addEventListener('input', () => {
		find();
		notify();
	});
	search.addEventListener('keydown', (event) => {
		if (event.key === 'Enter')
			graphs.at(-1).nextFound(event.shiftKey ? -1 : 1);
		else if (event.key === 'Escape')
			graphs.at(-1).pane.focus();
	});
	show('');
	const ahead = [() => prepareGraph(invertedOnce(), { byAll: true }), ...isDifferential ? ['baseline', 'candidate'].map((only) => () => prepareGraph(profile, { only })) : []];
	const prepare = () => whenIdle(() => {
		ahead.shift()();
		if (ahead.length > 0)
			prepare();
	});
	prepare();
	return {
		element,
		// Restores the state that a link contains.
		restore(state) {
			const wanted = state.view ?? '';
			const wantedOf = /^\d+$/.test(state.of ?? '') ? Number(state.of) : undefined;
			if (wanted !== view || (wanted === 'sandwich' && wantedOf !== of))
				show(wanted, wantedOf, false);
			if ((state.search ?? '') !== search.value) {
				search.value = state.search ?? '';
				find();
			}
			const [graph] = graphs;
			const node = state.node > 0 && state.node < graph.profile.count ? state.node : 0;
			if (node !== graph.zoomed)
				graph.zoom(node);
		},
	};
}
