// SPDX-License-Identifier: Apache-2.0
// The frame of every page: the header, links, toasts.

import { el, names, replace } from './dom.js';
import { clip, formatTime } from './format.js';
import { canAdminister, canWrite, forgetToken, hasToken, projectNames, serverFacts, untilAlive } from './server.js';

const TOAST_MS = 6000;
const TABS = { project: 'Dashboard', runs: 'Runs', trend: 'Trends', changes: 'Changes' };

export const page = document.getElementById('page');
const status = document.getElementById('status');
const search = document.getElementById('words');
const trail = document.getElementById('trail');

export function address(view, parameters) {
	return `/?${new URLSearchParams(Object.entries({ view, ...parameters }).filter(([, value]) => value !== undefined && value !== null && value !== ''))}`;
}

export function link(text, view, parameters, attributes) {
	return el('a', { ...attributes, href: address(view, parameters) }, names(text));
}

// Switches to another project, in the same tab if this page belongs to a tab.
function projectChoice(project, tab) {
	const choice = el('select', { 'aria-label': 'Project', onchange: () => {
		location.href = choice.value ? address(Object.hasOwn(TABS, tab ?? '') ? tab : 'project', { project: choice.value }) : address('projects');
	} });
	const fill = (projects) => replace(choice, el('option', { value: '' }, 'All projects'), projects.map((name) => el('option', { value: name, selected: name === project }, clip(name, 40))));
	fill(project ? [project] : []);
	serverFacts().then(projectNames).then(fill).catch(() => {});
	return choice;
}

async function account() {
	const [{ name }, writes, administers] = await Promise.all([serverFacts(), canWrite(), canAdminister()]);
	const leave = () => {
		forgetToken();
		location.href = '/';
	};
	if (!name && !writes)
		return [];
	return [el('details', {}, el('summary', {}, clip(name ?? 'Signed in', 40)), el('div', { class: 'menu' },
		administers && [link('Tokens', 'tokens')],
		hasToken() && el('button', { type: 'button', class: 'link', onclick: leave }, 'Sign out')))];
}

// `view` is the parameter from the address.
export function showHeader(project, view) {
	const tab = { run: 'runs', compare: 'runs', function: 'trend' }[view] ?? view;
	replace(document.getElementById('places'), link('perfdb', 'projects', {}, { class: 'brand' }), projectChoice(project, tab),
		project && el('ul', {}, Object.entries(TABS).map(([name, words]) => el('li', {}, link(words, name, { project }, { 'aria-current': name === tab ? 'page' : undefined })))));
	account().then((parts) => replace(document.getElementById('account'), parts), () => {});
}

// Shows the path to this page within its project.
export function showTrail(...parts) {
	replace(trail, el('ol', {}, parts.filter(Boolean).map((part) => el('li', {}, part))));
	trail.hidden = false;
}

export function heading(text) {
	document.title = `${clip(text, 80)} · perfdb`;
	return el('h1', {}, names(clip(text, 120)));
}

// Returns "3ab2cd9e01", or the beginning of the run's id.
export function runWords(run) {
	return run.commit ? `${run.commit.slice(0, 10)}${run.dirty ? '+' : ''}` : (run.id ?? run.run).slice(0, 13);
}

// Returns "3ab2cd9e01 parse: keep the table".
export function commitWords(run) {
	return `${runWords(run)}${run.subject ? ` ${clip(run.subject, 60)}` : ''}`;
}

// Returns "3 h ago", with the full time on hover.
export function ago(text) {
	const seconds = Math.max(0, (Date.now() - Date.parse(text)) / 1000);
	const [size, unit] = [[86400 * 365, 'y'], [86400 * 30, 'mo'], [86400, 'd'], [3600, 'h'], [60, 'min']].find(([unit]) => seconds >= unit) ?? [0, ''];
	return el('time', { datetime: text, title: formatTime(text) }, size ? `${Math.floor(seconds / size)} ${unit} ago` : 'just now');
}

let closing;

// Shows a message: a success disappears by itself, a failure stays until dismissed.
export function toast(words, isFailure) {
	clearTimeout(closing);
	const close = () => replace(status);
	status.className = isFailure ? 'failure' : '';
	replace(status, el('span', {}, words), el('button', { type: 'button', 'aria-label': 'Close', onclick: close }, '×'));
	closing = isFailure ? 0 : setTimeout(close, TOAST_MS);
}

// Runs `work`, and reports the text that it returns, or its error.
export async function attempt(work) {
	try {
		const words = await work();
		if (words)
			toast(words);
	} catch (error) {
		toast(error.message, true);
	}
}

// "/" and Ctrl+K open the search, except "/" in a text field, and in the flame graph, which has its own search.
export function listenForSearch(find) {
	search.placeholder = `Search  ( / or ${/Mac/.test(navigator.platform) ? '⌘' : 'Ctrl '}K )`;
	document.addEventListener('keydown', (event) => {
		const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && event.key === 'k';
		const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest?.('input, select, textarea');
		if (event.defaultPrevented || !(isCommand || isSlash))
			return;
		event.preventDefault();
		search.focus();
		search.select();
	});
	document.getElementById('find').addEventListener('submit', (event) => {
		event.preventDefault();
		find(search.value.trim());
	});
}

// Follows a link once the server answers; until then the banner says that the server does not
// answer.
export function followLinks() {
	document.addEventListener('click', (event) => {
		const anchor = event.target.closest?.('a[href^="/?"]');
		if (!anchor || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
			return;
		event.preventDefault();
		untilAlive().then(() => { location.href = anchor.href; });
	});
}
