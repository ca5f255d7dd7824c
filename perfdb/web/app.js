// SPDX-License-Identifier: Apache-2.0
// The pages of perfdb. The address holds everything that is shown: ?view=...&..., and after # the
// part that compare.js adds.

import { el, replace } from './dom.js';
import { clip } from './format.js';
import { Missing, Refused, hasToken, useToken } from './server.js';
import { address, followLinks, heading, link, listenForSearch, page, showHeader } from './shell.js';
import { showChanges, showProject, showProjects } from './dashboard.js';
import { showRuns } from './runs.js';
import { showVerdict } from './run.js';
import { showSearch } from './search.js';
import { showTokens } from './tokens.js';
import { showFunction, showTrend } from './trend.js';

const VIEWS = { projects: showProjects, project: showProject, runs: showRuns, changes: showChanges, run: showVerdict, compare: showVerdict, trend: showTrend, function: showFunction,
	search: showSearch, tokens: showTokens };

function askToken(words) {
	replace(page, el('main', { class: 'narrow' }, heading('Sign in'), el('p', { role: 'alert' }, hasToken() ? words : 'You need a token to see the runs on this server.'),
		el('form', { class: 'note', onsubmit: (event) => {
			event.preventDefault();
			useToken(new FormData(event.target).get('token').trim());
			showHeader(parameters.get('project'), parameters.get('view'));
			show();
		} }, el('label', {}, 'Token ', el('input', { name: 'token', type: 'password', autocomplete: 'off', required: true })), el('button', { class: 'primary' }, 'Sign in')),
		el('p', { class: 'quiet' }, 'Only this tab keeps the token, until you close the tab or sign out.'),
		el('h2', {}, 'Where to get a token'),
		el('ul', {}, el('li', {}, 'Ask the administrator of this server. Scope ', el('code', {}, 'read'), ' is enough for reading; scope ', el('code', {}, 'triage'), ' also allows decisions about changes.'),
			el('li', {}, 'On the server: ', el('code', {}, 'perfdb token create --scope read --note NAME'), ' prints a new token once.'),
			el('li', {}, 'After the first start, the first token is in the address that the server printed, and in the file ', el('code', {}, 'perfdb.db.key'), ' next to the database.'))));
}

function showError(error, state) {
	replace(page, el('main', {}, heading(error instanceof Missing ? 'Page not found' : 'This page cannot be shown'), el('p', { role: 'alert' }, clip(error.message, 600)),
		el('p', {}, 'Use the search above (press ', el('kbd', {}, '/'), '), or go to ', link('all projects', 'projects', {}), '.')));
}

async function show() {
	const state = Object.fromEntries(new URLSearchParams(location.search));
	delete page.dataset.ready;
	if (page.childElementCount === 0)
		replace(page, el('main', {}, el('h1', { class: 'hidden' }, 'perfdb')));
	try {
		if (location.pathname !== '/')
			throw new Missing(`There is nothing at ${location.pathname}.`);
		if (state.view && !Object.hasOwn(VIEWS, state.view))
			throw new Missing(`There is no page '${state.view}'.`);
		await (VIEWS[state.view] ?? showProjects)(state);
		page.dataset.ready ??= 'true'; // a comparison sets `ready` itself when its lower parts are complete
	} catch (error) {
		if (error instanceof Refused)
			askToken(error.message);
		else
			showError(error, state);
		page.dataset.ready = 'true';
	}
}

document.getElementById('skip').addEventListener('click', (event) => {
	event.preventDefault();
	page.focus();
});
const parameters = new URLSearchParams(location.search);
document.getElementById('words').value = parameters.get('q') ?? '';
listenForSearch((q) => {
	location.href = address('search', { q, project: parameters.get('project') });
});
followLinks();
showHeader(parameters.get('project'), parameters.get('view'));
show();
