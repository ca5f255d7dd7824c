// SPDX-License-Identifier: Apache-2.0
// The pages of perfdb.  The address holds everything that is shown: ?view=...&..., and behind # what compare.js adds.

import { afterPaint, el, replace } from './dom.js';
import { clip } from './format.js';
import { Missing, Refused, ask, canAdminister, useToken } from './server.js';
import { address, heading, link, listenForSearch, page, showTrail, status } from './shell.js';
import { summary } from './dashboard.js';
import { showProject } from './project.js';
import { showVerdict } from './run.js';
import { showLimits } from './limits.js';
import { showSearch } from './search.js';
import { showTokens } from './tokens.js';
import { showFunction, showTrend } from './trend.js';
import { showWebhook } from './webhook.js';

const SUMMED_UP = 30; // projects whose state is asked for

// The front page: all projects, or the only one there is.
async function showProjects(state) {
	const [{ projects }, administers] = await Promise.all([ask('projects'), canAdminister()]);
	const tokens = administers && el('p', {}, link('Tokens', 'tokens', {}), ' · ', link('Limits', 'limits', {}),
		' · ', link('Webhook', 'webhook', {}));
	if (projects.length === 1 && !state.view) {
		await showProject({ project: projects[0] });
		if (tokens)
			page.querySelector('main').append(tokens);
		return;
	}
	const rows = projects.map((name) => ({ name, at: el('span') }));
	showTrail();
	replace(page, el('main', {}, heading('Projects'), projects.length === 0
		? el('p', {}, 'No run was uploaded yet: ', el('code', {}, 'fastgate push'), ' sends one.')
		: el('ul', { class: 'projects' }, rows.map(({ name, at }) => el('li', {}, link(clip(name, 200), 'project', { project: name }), ' ', at))), tokens));
	afterPaint(async () => {
		for (const { name, at } of rows.slice(0, SUMMED_UP))
			replace(at, ...await summary(name).catch(() => []));
	});
}

const VIEWS = { projects: showProjects, project: showProject, run: showVerdict, compare: showVerdict, trend: showTrend, function: showFunction,
	search: showSearch, tokens: showTokens, limits: showLimits, webhook: showWebhook };

function askToken(words) {
	showTrail();
	replace(page, el('main', {}, heading('A token is needed'), el('p', {}, words),
		el('form', { class: 'note', onsubmit: (event) => {
			event.preventDefault();
			useToken(new FormData(event.target).get('token').trim());
			show();
		} }, el('label', {}, 'Token ', el('input', { name: 'token', type: 'password', autocomplete: 'off', required: true })), el('button', {}, 'Use it')),
		el('p', { class: 'quiet' }, 'It is kept in this tab only, until you close it.')));
}

// The trail of a page that could not be shown leads as far back as its address says.
function showError(error, state) {
	showTrail(state.project && link(clip(state.project, 60), 'project', { project: state.project }),
		state.project && state.benchmark && state.view !== 'trend' && link(clip(state.benchmark, 60), 'trend', { project: state.project, benchmark: state.benchmark }));
	replace(page, el('main', {}, heading(error instanceof Missing ? 'Page not found' : 'This cannot be shown'), el('p', { role: 'alert' }, clip(error.message, 600)),
		el('p', {}, 'Search for it above (press ', el('kbd', {}, '/'), '), or go to ', link('all projects', 'projects', {}), '.')));
}

async function show() {
	const state = Object.fromEntries(new URLSearchParams(location.search));
	status.textContent = 'Loading…';
	delete page.dataset.ready;
	if (page.childElementCount === 0)
		replace(page, el('main', {}, el('h1', { class: 'hidden' }, 'perfdb')));
	try {
		if (location.pathname !== '/')
			throw new Missing(`There is nothing at ${location.pathname}.`);
		if (state.view && !Object.hasOwn(VIEWS, state.view))
			throw new Missing(`There is no page '${state.view}'.`);
		await (VIEWS[state.view] ?? showProjects)(state);
		page.dataset.ready ??= 'true'; // a comparison says so itself, once its lower parts stand
	} catch (error) {
		if (error instanceof Refused)
			askToken(error.message);
		else
			showError(error, state);
		page.dataset.ready = 'true';
	}
	status.textContent = '';
}

document.getElementById('skip').addEventListener('click', (event) => {
	event.preventDefault();
	page.focus();
});
const words = document.getElementById('words');
const asked = new URLSearchParams(location.search);
words.value = asked.get('q') ?? '';
listenForSearch(words);
document.getElementById('find').addEventListener('submit', (event) => {
	event.preventDefault();
	location.href = address('search', { q: words.value.trim(), project: asked.get('project') });
});
show();
