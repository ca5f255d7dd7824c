// SPDX-License-Identifier: Apache-2.0
// The webhook of a project: set and removed by its administrators.

import { el, replace } from './dom.js';
import { clip } from './format.js';
import { ask, tell } from './server.js';
import { attempt, heading, page } from './shell.js';

export async function showWebhook() {
	const { projects } = await ask('projects');
	const choice = el('select', { name: 'project', onchange: () => attempt(draw) }, projects.map((name) => el('option', { value: name }, clip(name, 60))));
	const url = el('input', { name: 'url', type: 'url', size: 40, maxlength: 2000, required: true, placeholder: 'https://…' });
	const template = el('input', { name: 'template', size: 60, maxlength: 4000, placeholder: 'the default, see the documentation' });
	const state = el('p', { class: 'quiet' });
	const button = (words, does) => el('button', { type: 'button', onclick: () => attempt(does) }, words);
	async function draw() {
		const hook = await ask('webhook', { project: choice.value });
		[url.value, template.value] = [hook.url ?? '', hook.template ?? ''];
		replace(state, hook.url === null ? 'No webhook is set.' : `${hook.waiting} calls are waiting.`, hook.problem && ` The newest call failed: ${clip(hook.problem, 300)}.`);
	}
	async function save(event) {
		event.preventDefault();
		const { problem } = await tell('webhook', { project: choice.value, url: url.value.trim(), template: template.value.trim() });
		await draw();
		if (problem)
			throw new Error(`The webhook is set, but a test failed: ${problem}.`);
		return 'The webhook is set, and accepted a test.';
	}
	async function remove() {
		await ask('webhook', { project: choice.value }, { method: 'DELETE' });
		await draw();
		return 'The webhook is removed.';
	}
	if (projects.length)
		await draw();
	replace(page, el('main', {}, heading('Webhook'), el('p', {}, 'One address per project receives runs that regress or fail, and change points.'),
		projects.length ? el('form', { class: 'note', onsubmit: (event) => attempt(() => save(event)) }, el('label', {}, 'Project ', choice), el('label', {}, 'Address ', url),
			el('label', {}, 'Template ', template), el('button', {}, 'Set'), button('Remove', remove), state)
			: el('p', { class: 'quiet' }, 'There is no project yet.')));
}
