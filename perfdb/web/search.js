// SPDX-License-Identifier: Apache-2.0
// Search by name: benchmarks, functions, commits, projects.

import { el, replace } from './dom.js';
import { clip } from './format.js';
import { query } from './server.js';
import { ago, commitWords, heading, link, page } from './shell.js';
import { badge } from './table.js';

function group(title, id, items) {
	return items.length > 0 && el('section', { 'aria-labelledby': id }, el('h2', { id }, title), el('ul', { class: 'found' }, items.map((item) => el('li', {}, item))));
}

const inProject = (item) => el('span', { class: 'quiet' }, ` in ${clip(item.project, 60)}`);

export async function showSearch(state) {
	const q = state.q ?? '';
	const found = q ? await query('search', { q, project: state.project }) : {};
	const { benchmarks = [], functions = [], runs = [], projects = [] } = found;
	const groups = [
		group('Benchmarks', 'benchmarks', benchmarks.map((b) => [link(clip(b.name, 200), 'trend', { project: b.project, benchmark: b.name }), inProject(b)])),
		group('Functions', 'functions', functions.map((f) => [link(clip(f.name, 200), 'function', { project: f.project, benchmark: f.benchmark, name: f.name, library: f.library }),
			el('span', { class: 'quiet' }, ` of ${clip(f.benchmark, 60)}`), inProject(f)])),
		group('Commits', 'commits', runs.map((run) => [link(commitWords(run), 'run', { run: run.id }), ' ', run.outcome && badge(run.outcome),
			el('span', { class: 'quiet' }, ...[run.tag, run.branch].filter(Boolean).map((word) => ` ${clip(word, 60)} ·`), ' ', ago(run.started_at)), inProject(run)])),
		group('Projects', 'projects', projects.map((name) => link(clip(name, 200), 'project', { project: name }))),
	].filter(Boolean);
	replace(page, el('main', {}, heading(q ? `Search: ${q}` : 'Search'), groups.length > 0 ? groups
		: el('p', {}, q ? 'No name contains this text.' : 'Type a word above: part of the name of a benchmark, function or project; or a commit\'s subject, tag, branch, or first digits.')));
}
