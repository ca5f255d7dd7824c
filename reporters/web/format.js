// SPDX-License-Identifier: Apache-2.0
// Formats numbers and names for people, by the same rules as the terminal.

const NONE = '–';

function three(value) {
	const size = Math.abs(value);
	return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

export function finite(value) {
	return typeof value === 'number' && Number.isFinite(value);
}

export function formatNs(ns) {
	if (!finite(ns))
		return NONE;
	if (ns < 0)
		return `−${formatNs(-ns)}`;
	const size = ns;
	if (size >= 119.5e9)
		return `${Math.floor(Math.round(size / 1e9) / 60)} min ${Math.round(size / 1e9) % 60} s`;
	for (const [unit, factor] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]]) {
		if (size >= factor * 0.9995)
			return `${three(ns / factor)} ${unit}`;
	}
	if (ns === 0)
		return '0';
	return `${size < 99.95 && !Number.isInteger(ns) ? three(ns) : Math.round(ns)} ns`;
}

export function formatMs(ms) {
	return formatNs(finite(ms) ? ms * 1e6 : ms);
}

export function formatDeltaMs(ms) {
	if (!finite(ms))
		return NONE;
	return ms === 0 ? '0' : (ms < 0 ? '−' : '+') + formatMs(Math.abs(ms));
}

function formatSize(bytes) {
	for (const [unit, factor] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]]) {
		if (bytes >= factor)
			return `${three(bytes / factor)} ${unit}`;
	}
	return `${Math.round(bytes)} B`;
}

function formatCount(value) {
	for (const [unit, factor] of [['G', 1e9], ['M', 1e6]]) {
		if (value >= factor)
			return `${three(value / factor)} ${unit}`;
	}
	if (value >= 9999.5) {
		const whole = Math.round(value);
		return `${Math.floor(whole / 1000)} ${String(whole % 1000).padStart(3, '0')}`;
	}
	return Number.isInteger(value) ? String(value) : three(value);
}

export function formatValue(value, unit) {
	if (!finite(value))
		return NONE;
	if (value < 0)
		return `−${formatValue(-value, unit)}`;
	if (unit === 'ns')
		return formatNs(value);
	if (unit === 'bytes')
		return formatSize(value);
	return unit && unit !== '1' ? `${formatCount(value)} ${unit}` : formatCount(value);
}

// Formats 0.048 as "4.8 %".
export function formatPercent(part) {
	if (!finite(part))
		return NONE;
	const percent = Math.abs(part) * 100;
	if (percent < 0.005)
		return '0.0 %';
	return `${percent.toFixed(percent >= 999.5 ? 0 : percent < 0.095 ? 2 : 1)} %`;
}

// Formats 0.048 as "+4.8 %". A value that became at least eleven times as large is shown as a factor: 430 as "×431".
export function formatChange(change) {
	if (finite(change) && change >= 9.995)
		return `×${formatCount(Math.round(change + 1))}`;
	const size = formatPercent(change);
	return size === NONE || size === '0.0 %' ? size : `${change < 0 ? '−' : '+'}${size}`;
}

export function formatInterval(interval) {
	if (!interval || (!finite(interval[0]) && !finite(interval[1])))
		return '';
	return `[${interval.map((r) => (finite(r) ? formatChange(r - 1).replace(' %', '') : '…')).join(', ')}]`;
}

export function formatShare(share) {
	return finite(share) ? `${Math.round(share * 100)} %` : '';
}

export function formatTime(text) {
	return text ? text.replace('T', ' ').replace('Z', ' UTC') : NONE;
}

// Shortens "bool ns::Track::fit<int>(Hit&) const" to "ns::Track::fit", in linear time.
export function shortName(name) {
	const cut = name.length > 400 ? name.slice(0, 400) : name;
	const sign = /operator\s*(?:\(\)|[<>=\-!+*/%^&|~[\],]+|\w+)/.exec(cut);
	let depth = 0;
	let short = '';
	let end = ''; // an operator's name, which may contain a space
	for (let i = 0; i < cut.length; i += 1) {
		const c = cut[i];
		if (sign && i === sign.index) {
			end = depth === 0 ? sign[0] : '';
			i += sign[0].length - 1;
		} else if (c === '<' || c === '(') {
			depth += 1;
		} else if ((c === '>' || c === ')') && depth > 0) {
			depth -= 1;
		} else if (depth === 0 && !end) {
			short += c;
		}
	}
	short = short.replace(/ const$/, '').trim();
	// A template's name begins with its return type.
	if (cut.includes('<') && !short.includes('['))
		short = short.slice(short.lastIndexOf(' ') + 1);
	return short + end || cut || '[no name]';
}

// Shortens a short name further to fit `room`, keeping its class and function.
export function fitName(short, room) {
	if (short.length <= room)
		return short;
	const parts = short.split('::');
	for (const kept of [2, 1]) {
		const end = parts.slice(-kept).join('::');
		if (parts.length > kept && end.length < room)
			return `…${end}`;
	}
	return `${parts.at(-1).slice(0, Math.max(1, room - 1))}…`;
}

// Does this function deliver the sampler's own signal, or return from it?
export function isSampler(name) {
	return /^(asm_sysvec_irq_work|arch_do_signal_or_restart|(__x64_sys_|__do_sys_)?rt_sigreturn|__restore_rt)$/.test(name);
}

// Is this a startup function of a program or thread, which is not worth showing?
export function isStarter(name) {
	return /^(_start$|__libc_start_|clone3?$|__clone3?$|start_thread$)/.test(name);
}

export function clip(text, length) {
	return text.length <= length ? text : `${text.slice(0, Math.ceil(length * 0.6))}…${text.slice(-Math.floor(length * 0.3))}`;
}

export function place(file, line) {
	if (!file)
		return '';
	const base = file.slice(file.lastIndexOf('/') + 1) || file;
	return line ? `${base}:${line}` : base;
}

// States of a benchmark, most urgent first: mark, and the text after a number of benchmarks.
const STATES = {
	regression: ['▲', 'regressed'], error: ['!', 'failed'], creep: ['▵', 'crept up'], 'probably slower': ['?', 'probably slower'], inconclusive: ['?', 'inconclusive'],
	placement: ['≈', 'placed differently'], improvement: ['▼', 'improved'], missing: ['−', 'missing'], new: ['+', 'new'], pass: ['✓', 'passed'],
};

export function verdictMark(verdict) {
	return STATES[verdict]?.[0] ?? '';
}

export function rankOf(state) {
	return Object.keys(STATES).indexOf(state);
}

// Returns "2 regressed, 4 passed".
export function countStates(states) {
	return Object.entries(STATES).map(([state, [, words]]) => [states.filter((s) => s === state).length, words]).filter(([n]) => n > 0).map((pair) => pair.join(' ')).join(', ');
}

const BUILT_IN = ['cpu_time', 'wall_time', 'user_time', 'system_time', 'max_rss', 'minor_faults', 'major_faults', 'voluntary_switches',
	'involuntary_switches', 'blocks_read', 'blocks_written', 'binary_size'];

// Returns "cpu time" for "cpu_time"; user-defined metrics keep their names.
export function metricWords(name) {
	return BUILT_IN.includes(name) ? name.replaceAll('_', ' ') : name;
}
