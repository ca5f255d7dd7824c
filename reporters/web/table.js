// SPDX-License-Identifier: Apache-2.0
// A table with sorting and filtering. Only the first rows (by default a hundred) are in the page until the reader asks
// for more.

import { el, replace, scroller } from './dom.js';
import { verdictMark } from './format.js';

const PAGE_ROWS = 100;

export function badge(verdict) {
	return el('span', { class: `badge ${verdict}` }, el('span', { 'aria-hidden': 'true' }, verdictMark(verdict)), ` ${verdict}`);
}

// A column: { title, value(row) for sorting, cell(row) text or element, numeric, grow, help }
// Options: { label, rows, columns, sort: index, descending, filter: (row) => text, current(row), words, onState({ sort, descending, words }) }
export function dataTable(options) {
	const state = {
		sort: options.columns[options.sort]?.value ? options.sort : -1,
		descending: options.descending ?? true,
		shown: options.pageRows ?? PAGE_ROWS,
		words: options.words ?? '',
	};
	const body = el('tbody', { role: 'rowgroup' });
	const count = el('p', { class: 'count', role: 'status' });
	const more = el('button', { type: 'button', class: 'more' }, 'Show more');
	const heads = options.columns.map((column, index) => head(column, index));
	// On narrow screens style.css turns rows into cards; screen readers then recognise the table only by its roles.
	const table = el('table', { class: 'data', role: 'table' }, el('caption', { class: 'hidden' }, options.label),
		el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, heads)), body);

	function head(column, index) {
		const attributes = { scope: 'col', role: 'columnheader', class: [column.numeric && 'number', column.value && 'sorts'].filter(Boolean).join(' ') || undefined, title: column.help };
		if (!column.value)
			return el('th', attributes, column.title);
		const button = el('button', { type: 'button', onclick: () => sortBy(index) }, column.title);
		return el('th', attributes, button);
	}

	function sortBy(index) {
		state.descending = state.sort === index ? !state.descending : Boolean(options.columns[index].numeric);
		state.sort = index;
		options.onState?.(state);
		draw();
	}

	function matching() {
		const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
		let rows = options.rows;
		if (words.length > 0 && options.filter) {
			rows = rows.filter((row) => {
				const text = options.filter(row).toLowerCase();
				return words.every((word) => text.includes(word));
			});
		}
		return state.sort < 0 ? rows : sorted(rows);
	}

	function sorted(rows) {
		const { value } = options.columns[state.sort];
		const sign = state.descending ? -1 : 1;
		return rows.map((row, index) => ({ row, index, key: value(row) })).sort((a, b) => {
			const noA = a.key === undefined || a.key === null || Number.isNaN(a.key);
			const noB = b.key === undefined || b.key === null || Number.isNaN(b.key);
			if (noA || noB)
				return noA - noB || a.index - b.index;
			const order = typeof a.key === 'string' ? a.key.localeCompare(b.key) : a.key - b.key;
			return sign * order || a.index - b.index;
		}).map((entry) => entry.row);
	}

	function makeRow(row) {
		const current = options.current?.(row);
		const tr = el('tr', { role: 'row', class: current ? 'current' : undefined, 'aria-current': current ? 'true' : undefined });
		for (const [index, column] of options.columns.entries()) {
			const content = column.cell(row);
			tr.append(el(index === 0 ? 'th' : 'td', {
				class: column.numeric ? 'number' : column.grow ? 'grow' : undefined,
				scope: index === 0 ? 'row' : undefined,
				role: index === 0 ? 'rowheader' : 'cell',
				'data-title': column.title,
			}, content));
		}
		return tr;
	}

	function draw() {
		const rows = matching();
		const visible = rows.slice(0, state.shown);
		for (const [index, th] of heads.entries()) {
			if (options.columns[index].value)
				th.setAttribute('aria-sort', state.sort !== index ? 'none' : state.descending ? 'descending' : 'ascending');
		}
		replace(body, visible.map(makeRow));
		more.hidden = visible.length === rows.length;
		count.textContent = rows.length === options.rows.length && more.hidden ? ''
			: `${visible.length} of ${rows.length} rows${rows.length < options.rows.length ? ` that match, ${options.rows.length} in all` : ''}`;
	}

	more.addEventListener('click', () => {
		state.shown += PAGE_ROWS;
		draw();
	});
	const parts = [scroller(options.label, table), count, more];
	if (options.filter) {
		parts.unshift(el('label', { class: 'filter' }, options.filterLabel ?? 'Filter ', el('input', {
			type: 'search',
			value: state.words,
			oninput: (event) => {
				state.words = event.target.value;
				state.shown = options.pageRows ?? PAGE_ROWS;
				options.onState?.(state);
				draw();
			},
		})));
	}
	draw();
	return el('div', { class: 'table' }, parts);
}
