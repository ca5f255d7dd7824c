// SPDX-License-Identifier: Apache-2.0
// Regions (nested by '/') and units of work (by kind) that the program marked.

import { el } from './dom.js';
import { clip, finite, formatChange, formatDeltaMs, formatMs } from './format.js';
import { badge, dataTable } from './table.js';

const UNIT = 'unit of work: ';

// Returns rows by name, with the gate's verdicts and the profile's means.
function markedRows(benchmark, marked) {
	const rows = new Map((marked?.name ?? []).map((name, i) => [name, { name, count: marked.count.map((arm) => arm[i]), ms: marked.cpu.map((cpu, arm) =>
		(cpu[i] || marked.wall[arm][i]) / 1e3) }]));
	for (const verdict of benchmark.regions ?? []) {
		const row = rows.get(verdict.name) ?? { name: verdict.name, count: [NaN, NaN], ms: verdict.inclusive_ms };
		rows.set(verdict.name, { ...row, verdict });
	}
	return [...rows.values()];
}

function number(title, value, text, help) {
	return { title, numeric: true, value, cell: (row) => text(value(row)), help };
}

function counts(row) {
	const [before, after] = row.count.map((count) => (finite(count) ? String(Math.round(count * 100) / 100) : ''));
	return before === after || !before ? after : `${before} → ${after}`;
}

function changeColumns(both) {
	if (!both)
		return [number('Time', (r) => r.ms[0] || r.ms[1], formatMs, 'Per repetition')];
	return [number('Baseline', (r) => r.ms[0], formatMs, 'Time per repetition'), number('Candidate', (r) => r.ms[1], formatMs, 'Time per repetition'),
		number('Δ', (r) => r.ms[1] - r.ms[0], formatDeltaMs, 'Candidate minus baseline, per repetition'),
		number('Change', (r) => r.ms[1] / r.ms[0] - 1, formatChange),
		{ title: 'Verdict', cell: (r) => (r.verdict ? [badge(r.verdict.verdict), ' ', el('span', { class: 'quiet' },
			`${formatDeltaMs(r.verdict.interval_ms[0])} … ${formatDeltaMs(r.verdict.interval_ms[1])}`)] : '') }];
}

function perUnit(both) {
	const one = (arm) => (r) => r.ms[arm] / r.count[arm];
	return both ? [number('Each, baseline', one(0), formatMs), number('Each, candidate', one(1), formatMs)] : [number('Each', (r) => (r.count[1] ? one(1)(r) : one(0)(r)), formatMs)];
}

function markedTable(words, rows, extra, both) {
	return dataTable({
		label: words.label, rows,
		filter: rows.length > 12 ? (r) => r.name : undefined,
		columns: [
			{ title: words.name, value: (r) => r.name, grow: true, cell: (r) => el('code', {}, clip(r.name.startsWith(UNIT) ? r.name.slice(UNIT.length) : r.name, 160)) },
			{ title: words.count, numeric: true, value: (r) => r.count[1] || r.count[0], cell: counts, help: 'Per repetition' },
			...extra, ...changeColumns(both),
		],
	});
}

// Returns { title, id, table } for each table with rows; `both`: two sides are compared.
export function markedTables(benchmark, marked, both) {
	const rows = markedRows(benchmark, marked);
	const regions = rows.filter((r) => !r.name.startsWith(UNIT));
	const units = rows.filter((r) => r.name.startsWith(UNIT));
	return [
		regions.length > 0 && { title: 'Regions', id: 'regions', table: markedTable({ label: 'Regions', name: 'Region', count: 'Entered' }, regions, [], both) },
		units.length > 0 && { title: 'Units of work', id: 'units', table: markedTable({ label: 'Units of work', name: 'Kind', count: 'How many' }, units, perUnit(both), both) },
	].filter(Boolean);
}
