// SPDX-License-Identifier: Apache-2.0
// What stands around every page: the trail, links, the search, the line of status.

import { el, replace } from './dom.js';
import { clip } from './format.js';

export const page = document.getElementById('page');
export const status = document.getElementById('status');
const trail = document.getElementById('trail');

export function address(view, parameters) {
	return `/?${new URLSearchParams(Object.entries({ view, ...parameters }).filter(([, value]) => value !== undefined && value !== null && value !== ''))}`;
}

export function link(text, view, parameters) {
	return el('a', { href: address(view, parameters) }, text);
}

export function showTrail(...parts) {
	replace(trail, el('ol', {}, [link('perfdb', 'projects', {}), ...parts.filter(Boolean)].map((part) => el('li', {}, part))));
}

export function heading(text) {
	document.title = `${clip(text, 80)} · perfdb`;
	return el('h1', {}, clip(text, 120));
}

export function runWords(run) {
	return run.commit ? `${run.commit.slice(0, 10)}${run.dirty ? '+' : ''}` : run.id.slice(0, 13);
}

// "3ab2cd9 parse: keep the table"
export function commitWords(run) {
	const hash = run.commit ? `${run.commit.slice(0, 10)}${run.dirty ? '+' : ''}` : (run.id ?? run.run).slice(0, 13);
	return run.subject ? `${hash} ${clip(run.subject, 60)}` : hash;
}

// A failure is shown where the work was tried, and never looks like a success.
export async function attempt(work) {
	status.classList.remove('failure');
	try {
		await work();
	} catch (error) {
		status.classList.add('failure');
		status.textContent = error.message;
	}
}

// "/" leads to the search from everywhere but a field that takes text, and the flame graph, which has a search of its own.
export function listenForSearch(input) {
	document.addEventListener('keydown', (event) => {
		if (event.key !== '/' || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, select, textarea'))
			return;
		event.preventDefault();
		input.focus();
		input.select();
	});
}
