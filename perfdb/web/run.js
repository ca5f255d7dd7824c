// SPDX-License-Identifier: Apache-2.0
// A run, or two of them compared.

import { el } from './dom.js';
import { clip } from './format.js';
import { showComparison } from './compare.js';
import { ask } from './server.js';
import { address, link, page, runWords, showTrail } from './shell.js';

const LINKED_NAME = 1500; // longer names do not fit into an address

// The runs before and after this one on its branch.
async function beside(id) {
	const { previous, next } = await ask('around', { run: id });
	return [previous && el('a', { href: address('run', { run: previous.id }), rel: 'prev' }, `‹ previous: ${runWords(previous)}`),
		next && el('a', { href: address('run', { run: next.id }), rel: 'next' }, `next: ${runWords(next)} ›`)].filter(Boolean);
}

export async function showVerdict(state) {
	const [a, b] = [state.a ?? state.run, state.b];
	const [data, around] = await Promise.all([ask('verdict', { a, b }), b ? [] : beside(a)]);
	const { project } = data.run;
	const words = b ? `${data.run.baseline.commit?.slice(0, 10) ?? 'A'} → ${data.run.candidate.commit?.slice(0, 10) ?? 'B'}` : data.run.id.slice(0, 13);
	document.title = `${words} · perfdb`;
	showTrail(link(clip(project, 60), 'project', { project }), words, ...around);
	showComparison(page, data, {
		trendHref: (benchmark) => address('trend', { project, benchmark }),
		functionHref: (benchmark, name, library) => (name.length + library.length < LINKED_NAME ? address('function', { project, benchmark, name, library }) : undefined),
		profileOf: (benchmark, range) => ask('profile', { a, b, benchmark, pairs: range.join('-') }),
	});
}
