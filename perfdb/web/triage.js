// SPDX-License-Identifier: Apache-2.0
// Decisions about a change point.

import { el } from './dom.js';
import { post } from './server.js';
import { attempt } from './shell.js';

const STATES = ['new', 'investigating', 'accepted', 'noise', 'fixed'];

// `place`: { project, benchmark, metric }; `decision`: { state, note }.
// Calls `saved` when the server has stored the decision.
export function triageForm(place, change, decision, saved) {
	const name = `at ${change.run.slice(0, 13)}`;
	const select = el('select', { 'aria-label': `State of the change ${name}` },
		STATES.map((word) => el('option', { value: word, selected: (decision?.state ?? decision?.kind ?? 'new') === word }, word)));
	const note = el('input', { 'aria-label': `Reason for the state of the change ${name}`, placeholder: 'why', maxlength: 500, value: decision?.note ?? decision?.text ?? '' });
	const save = async (event) => {
		event.preventDefault();
		await post('annotations', { ...place, run: change.run, kind: select.value, text: note.value });
		await saved?.();
		return `Saved: the change is ${select.value}.`;
	};
	return el('form', { class: 'note', onsubmit: (event) => attempt(() => save(event)) }, select, note, el('button', {}, 'Save'));
}
