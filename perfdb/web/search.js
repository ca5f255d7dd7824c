// SPDX-License-Identifier: Apache-2.0
// What has a word in its name: projects, benchmarks, runs.

import { el, replace } from './dom.js';
import { clip, formatTime } from './format.js';
import { ask } from './server.js';
import { heading, link, page, runWords, showTrail } from './shell.js';
import { badge } from './table.js';

function group(title, id, items) {
	return items.length > 0 && el('section', { 'aria-labelledby': id }, el('h2', { id }, title), el('ul', { class: 'found' }, items.map((item) => el('li', {}, item))));
}

export async function showSearch(state) {
	const q = state.q ?? '';
	const found = q ? await ask('search', { q, project: state.project }) : { projects: [], benchmarks: [], runs: [] };
	const inProject = (item) => el('span', { class: 'quiet' }, ` in ${clip(item.project, 60)}`);
	const groups = [
		group('Projects', 'projects', found.projects.map((name) => link(clip(name, 200), 'project', { project: name }))),
		group('Benchmarks', 'benchmarks', found.benchmarks.map((b) => [link(clip(b.name, 200), 'trend', { project: b.project, benchmark: b.name }), inProject(b)])),
		group('Runs', 'runs', found.runs.map((run) => [link(runWords(run), 'run', { run: run.id }), ' ', run.outcome && badge(run.outcome),
			el('span', { class: 'quiet' }, ` ${[run.tag, run.branch, formatTime(run.started_at)].filter(Boolean).map((word) => clip(word, 60)).join(' · ')} in ${clip(run.project, 60)}`)])),
	];
	showTrail(state.project && link(clip(state.project, 60), 'project', { project: state.project }), 'Search');
	replace(page, el('main', {}, heading(q ? `Search: ${q}` : 'Search'), groups.some(Boolean) ? groups
		: el('p', {}, q ? 'Nothing has this in its name. Runs are found by commit (at least 4 digits), id, tag or branch.' : 'Type a word above.')));
}
