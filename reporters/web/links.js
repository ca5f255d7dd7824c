// SPDX-License-Identifier: Apache-2.0
// Links built from a run's own templates. Runs are not trusted: only plain http and https addresses become links.

import { el } from './dom.js';

export const PLAIN_ADDRESS = /^https?:\/\/[A-Za-z0-9[][!#-&(-;=?-[\]^_a-{}~]{0,1990}$/;

function escapeValue(value) {
	return encodeURIComponent(String(value).toWellFormed?.() ?? value).replaceAll('%2F', '/');
}

function fileInTree(file) {
	return !file || /^\/|^\.\.\/|\/\.\.\//.test(file) ? '' : file.replace(/^\.\//, '');
}

// Returns undefined if the template is missing or not a plain address, or a placeholder's value is
// unknown.
export function expandLink(pattern, values) {
	if (typeof pattern !== 'string' || !PLAIN_ADDRESS.test(pattern))
		return undefined;
	const known = { ...values, file: fileInTree(values.file) };
	const places = [...pattern.matchAll(/\{(project|commit|file|line)\}/g)].map(([, name]) => name);
	return places.every((name) => known[name]) ? pattern.replace(/\{(project|commit|file|line)\}/g, (_, name) => escapeValue(known[name])) : undefined;
}

// Returns the templates and placeholder values of a report's `run`.
export function linksOfRun(run) {
	const build = run?.candidate?.build ?? {};
	return { project: run?.project, head: run?.candidate?.dirty ? undefined : run?.candidate?.commit, commit: build['link.commit'], file: build['link.file'], line: build['link.line'] };
}

export function commitAddress(links, commit) {
	return links && expandLink(links.commit, { project: links.project, commit });
}

export function placeAddress(links, file, line) {
	const values = { project: links?.project, commit: links?.head, file, line };
	return links && (expandLink(links.line, values) ?? expandLink(links.file, values));
}

export function linked(href, ...words) {
	return href ? el('a', { href, rel: 'noreferrer' }, words) : words;
}
