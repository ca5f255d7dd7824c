// SPDX-License-Identifier: Apache-2.0
// The source of a guilty function: lines of both sides in one list, with their costs.

import { el, scroller, svg } from './dom.js';
import { clip, finite, formatMs, shortName } from './format.js';
import { linked } from './links.js';

function costCell(cost, most) {
	if (!finite(cost))
		return el('td', { class: 'number' });
	const width = Math.max(1, 40 * cost / most);
	return el('td', { class: 'number' }, `${formatMs(cost)} `,
		svg('svg', { width: 40, height: 10, class: 'share', 'aria-hidden': 'true' }, svg('rect', { x: 40 - width, width, height: 10, class: 'heat' })));
}

// Returns the indentation shared by all lines, which is not shown.
function commonIndent(rows) {
	const indents = rows.filter((row) => row.text.trim()).map((row) => row.text.search(/\S/));
	return indents.length > 0 ? Math.min(...indents) : 0;
}

function sourceRow(row, source, isHottest, style) {
	const { known } = source;
	const { most, indent, lineHref } = style;
	const [before, after] = row.lines;
	const changed = known[0] && known[1] && !(before && after);
	const kind = changed ? (after ? 'came' : 'went') : '';
	return el('tr', { class: `${kind}${isHottest ? ' hottest' : ''}` },
		el('td', { class: 'number quiet' }, before ?? ''), el('td', { class: 'number quiet' }, after ? linked(lineHref?.(after), after) : ''),
		costCell(row.cost_ms[0], most), costCell(row.cost_ms[1], most),
		el('td', { class: 'sign' }, changed ? (after ? '+' : '−') : ''),
		el('td', { class: 'text' }, el('code', {}, document.createTextNode(row.text.slice(indent)))));
}

// Were lines omitted before this row?
function isGap(last, row) {
	return Boolean(last) && [0, 1].some((side) => last.lines[side] && row.lines[side] && row.lines[side] > last.lines[side] + 1);
}

function listing(words, source, lineHref) {
	const most = Math.max(...source.rows.flatMap((row) => row.cost_ms.filter(finite)), 1e-9);
	const indent = commonIndent(source.rows);
	const rows = source.rows.flatMap((row, i) => {
		const shown = sourceRow(row, source, i === source.hottest, { most, indent, lineHref });
		return isGap(source.rows[i - 1], row) ? [el('tr', { class: 'gap' }, el('td', { colspan: 6 }, '⋯')), shown] : [shown];
	});
	return scroller(words.of, el('table', { class: 'source' },
		el('thead', {}, el('tr', {}, ['before', 'after', 'time before', 'time after'].map((title) => el('th', { scope: 'col' }, title)),
			el('th', { scope: 'col', colspan: 2 }, words.row))),
		el('tbody', {}, rows)));
}

function assemblyTable(f, name) {
	return el('details', { class: 'source' }, el('summary', {}, 'Assembly of ', el('code', {}, name), ` in ${clip(f.assembly.file, 120)}`),
		listing({ of: `Assembly of ${name}`, row: 'instruction' }, f.assembly),
		el('p', { class: 'quiet' }, 'Instructions are numbered from the first of the function; addresses are left out, so that unchanged code looks the same.'));
}

// Shows the lines of a function and, one click further, its instructions; either may be unknown.
// The candidate's lines are links if `lineHref` returns an address.
export function sourceTable(f, isOpen, lineHref) {
	const name = clip(shortName(f.name), 80);
	const assembly = f.assembly && assemblyTable(f, name);
	if (!f.source)
		return assembly;
	return el('details', { class: 'source', open: isOpen }, el('summary', {}, 'Source of ', el('code', {}, name), ` in ${clip(f.source.file, 120)}`),
		listing({ of: `Source of ${name}`, row: 'line' }, f.source, lineHref),
		el('p', { class: 'quiet' }, 'Time per run with this line on the call stack, including callees.'), assembly);
}
