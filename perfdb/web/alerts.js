// SPDX-License-Identifier: Apache-2.0
// Alert rules: who is told of what, and what was told.

import { el, replace } from './dom.js';
import { clip, formatTime } from './format.js';
import { dataTable } from './table.js';
import { ask, tell } from './server.js';
import { attempt, heading, link, page, showTrail, status } from './shell.js';

const EVENTS = { regression: 'regressions', error: 'errors', change: 'change points' };

function silenceWords(seconds) {
	return seconds ? `${+(seconds / 3600).toFixed(2)} h` : 'none';
}

function ruleTable(rules, redraw) {
	const remove = async (rule) => {
		await ask(`alert-rules/${rule.id}`, {}, { method: 'DELETE' });
		await redraw();
		status.textContent = `Rule ${rule.id} tells nobody anything any more.`;
	};
	if (rules.length === 0)
		return el('p', { class: 'quiet' }, 'Nobody is told of anything yet.');
	return dataTable({
		label: 'Alert rules', rows: rules, filter: (rule) => `${rule.project} ${rule.benchmark} ${rule.metric} ${rule.webhook ?? rule.mail}`,
		columns: [
			{ title: 'Number', numeric: true, value: (rule) => rule.id, cell: (rule) => String(rule.id) },
			{ title: 'Project', value: (rule) => rule.project, cell: (rule) => clip(rule.project, 60) },
			{ title: 'Of', value: (rule) => rule.events.join(), cell: (rule) => rule.events.map((event) => EVENTS[event]).join(', ') },
			{ title: 'Benchmark', value: (rule) => rule.benchmark, cell: (rule) => clip(rule.benchmark, 60) },
			{ title: 'Metric', value: (rule) => rule.metric, cell: (rule) => clip(rule.metric, 60) },
			{ title: 'Silence', numeric: true, value: (rule) => rule.silence_s, cell: (rule) => silenceWords(rule.silence_s) },
			{ title: 'To', value: (rule) => rule.webhook ?? rule.mail, grow: true, cell: (rule) => clip(rule.webhook ?? rule.mail, 200) },
			{ title: 'Made by', value: (rule) => rule.author ?? '', cell: (rule) => clip(rule.author ?? '', 60) },
			{ title: 'Take away', cell: (rule) => el('button', { type: 'button', 'aria-label': `Remove rule ${rule.id}`, onclick: () => attempt(() => remove(rule)) }, 'Remove') },
		],
	});
}

function findingWords(alert) {
	const [first] = alert.findings;
	const others = alert.findings.length - 1 + alert.more;
	return clip([first.event, first.benchmark, first.metric].filter(Boolean).join(', '), 200) + (others ? ` and ${others} more` : '');
}

function alertTable(alerts) {
	if (alerts.length === 0)
		return el('p', { class: 'quiet' }, 'Nothing was told yet.');
	return dataTable({
		label: 'Alerts', rows: alerts, filter: (alert) => `${findingWords(alert.alert)} ${alert.state}`,
		columns: [
			{ title: 'When', value: (alert) => alert.created_at, cell: (alert) => formatTime(alert.created_at) },
			{ title: 'What', value: (alert) => findingWords(alert.alert), grow: true, cell: (alert) => link(findingWords(alert.alert), 'run', { run: alert.run }) },
			{ title: 'Rule', numeric: true, value: (alert) => alert.rule, cell: (alert) => String(alert.rule) },
			{ title: 'State', value: (alert) => alert.state, cell: (alert) => alert.state },
			{ title: 'Attempts', numeric: true, value: (alert) => alert.attempts, cell: (alert) => String(alert.attempts) },
			{ title: 'Why', value: (alert) => alert.reason ?? '', cell: (alert) => clip(alert.reason ?? '', 200) },
		],
	});
}

function ruleForm(choice, made, redraw) {
	const create = async (event) => {
		event.preventDefault();
		const given = new FormData(event.target);
		const target = given.get('target').trim();
		const rule = { project: given.get('project'), events: given.getAll('event'), benchmark: given.get('benchmark'), metric: given.get('metric'),
			silence: given.get('silence'), [/^https?:/i.test(target) ? 'webhook' : 'mail']: target };
		const { id, secret } = await tell('alert-rules', rule);
		await redraw();
		status.textContent = `Rule ${id} is made.`;
		replace(made, secret && el('p', { role: 'alert' }, `Secret of rule ${id}, shown this once: `, el('code', { class: 'secret' }, secret)));
	};
	const text = (name, label, more) => el('label', {}, `${label} `, el('input', { name, required: true, ...more }));
	return el('form', { class: 'note', onsubmit: (event) => attempt(() => create(event)) },
		el('label', {}, 'Project ', choice),
		Object.entries(EVENTS).map(([event, words]) => el('label', {}, el('input', { type: 'checkbox', name: 'event', value: event, checked: event === 'regression' }), ` ${words}`)),
		text('benchmark', 'Benchmark', { value: '*', size: 10, maxlength: 200 }), text('metric', 'Metric', { value: '*', size: 10, maxlength: 200 }),
		text('silence', 'Silence', { value: '24h', size: 5, pattern: '[0-9]+[dhms]' }),
		text('target', 'To', { size: 36, maxlength: 2000, placeholder: 'https://… or ann@example.org' }), el('button', {}, 'Make'));
}

export async function showAlerts() {
	const [{ rules }, { projects }] = await Promise.all([ask('alert-rules'), ask('projects')]);
	const choice = el('select', { name: 'project', onchange: () => attempt(redraw) }, projects.map((name) => el('option', { value: name }, clip(name, 60))));
	const made = el('div');
	const table = el('div', {}, ruleTable(rules, redraw));
	const told = el('div');
	async function tellAlerts() {
		if (choice.value)
			replace(told, el('h2', {}, `Newest alerts of ${clip(choice.value, 60)}`), alertTable((await ask('alerts', { project: choice.value })).alerts));
	}
	async function redraw() {
		replace(table, ruleTable((await ask('alert-rules')).rules, redraw));
		await tellAlerts();
	}
	await tellAlerts();
	showTrail('Alerts');
	replace(page, el('main', {}, heading('Alerts'), el('p', {}, 'A rule tells a webhook or a mail address of what new runs found.'),
		projects.length ? ruleForm(choice, made, redraw) : el('p', { class: 'quiet' }, 'There is no project yet.'), made, table, told));
}
