// SPDX-License-Identifier: Apache-2.0
// Alert rules: who is told of what, and what was told.

import { el, replace } from './dom.js';
import { clip, formatChange, formatTime, metricWords } from './format.js';
import { dataTable } from './table.js';
import { ask, tell } from './server.js';
import { attempt, heading, link, page, showTrail, status } from './shell.js';

const TEST_TRIES = 40;
const TEST_WAIT_MS = 250;
const EVENTS = { regression: 'regressions', error: 'errors', change: 'change points' };

function silenceWords(seconds) {
	return seconds ? `${+(seconds / 3600).toFixed(2)} h` : 'none';
}

// As the field takes it: "24h", "90m", "10s".
function silenceText(seconds) {
	const [unit, letter] = [[3600, 'h'], [60, 'm'], [1, 's']].find(([size]) => seconds % size === 0);
	return `${seconds / unit}${letter}`;
}

function ruleTable(rules, act) {
	const button = (rule, words, does) => el('button', { type: 'button', 'aria-label': `${words} rule ${rule.id}`, onclick: () => attempt(() => does(rule)) }, words);
	if (rules.length === 0)
		return el('p', { class: 'quiet' }, 'Nobody is told of anything yet.');
	return dataTable({
		label: 'Alert rules', rows: rules, filter: (rule) => `${rule.project} ${rule.benchmark} ${rule.metric} ${rule.webhook}`,
		columns: [
			{ title: 'Number', numeric: true, value: (rule) => rule.id, cell: (rule) => String(rule.id) },
			{ title: 'Project', value: (rule) => rule.project, cell: (rule) => clip(rule.project, 60) },
			{ title: 'Of', value: (rule) => rule.events.join(), cell: (rule) => rule.events.map((event) => EVENTS[event]).join(', ') },
			{ title: 'Benchmark', value: (rule) => rule.benchmark, cell: (rule) => clip(rule.benchmark, 60) },
			{ title: 'Metric', value: (rule) => rule.metric, cell: (rule) => clip(rule.metric, 60) },
			{ title: 'Silence', numeric: true, value: (rule) => rule.silence_s, cell: (rule) => silenceWords(rule.silence_s) },
			{ title: 'To', value: (rule) => rule.webhook, grow: true, cell: (rule) => clip(rule.webhook, 200) },
			{ title: 'Made by', value: (rule) => rule.author ?? '', cell: (rule) => clip(rule.author ?? '', 60) },
			{ title: 'Do', cell: (rule) => [button(rule, 'Edit', act.edit), ' ', button(rule, 'Test', act.test), ' ', button(rule, 'Remove', act.remove)] },
		],
	});
}

// "change point of parse cpu time, +30.0 %"
function findingWords(alert) {
	const [first] = alert.findings;
	const others = alert.findings.length - 1 + alert.more;
	const of = [first.benchmark, first.metric && metricWords(first.metric)].filter(Boolean).join(' ');
	const words = `${first.event === 'change' ? 'change point' : first.event}${of && ` of ${of}`}${first.ratio ? `, ${formatChange(first.ratio - 1)}` : ''}`;
	return clip(words, 200) + (others ? ` and ${others} more` : '');
}

const stateWords = (alert) => (alert.state === 'waiting' ? `waiting until ${formatTime(alert.due_at)}` : alert.state);

function alertTable(alerts) {
	if (alerts.length === 0)
		return el('p', { class: 'quiet' }, 'Nothing was told yet.');
	return dataTable({
		label: 'Alerts', rows: alerts, filter: (alert) => `${findingWords(alert.alert)} ${alert.state}`,
		columns: [
			{ title: 'When', value: (alert) => alert.created_at, cell: (alert) => formatTime(alert.created_at) },
			{ title: 'What', value: (alert) => findingWords(alert.alert), grow: true, cell: (alert) => (alert.run ? link(findingWords(alert.alert), 'run', { run: alert.run }) : findingWords(alert.alert)) },
			{ title: 'Rule', numeric: true, value: (alert) => alert.rule, cell: (alert) => String(alert.rule) },
			{ title: 'State', value: (alert) => alert.state, cell: stateWords },
			{ title: 'Attempts', numeric: true, value: (alert) => alert.attempts, cell: (alert) => String(alert.attempts) },
			{ title: 'Why', value: (alert) => alert.reason ?? '', cell: (alert) => clip(alert.reason ?? '', 200) },
		],
	});
}

// To make a rule, or to change `rule`.
function ruleForm(choice, rule, save, cancel) {
	const submit = async (event) => {
		event.preventDefault();
		const given = new FormData(event.target);
		await save({ project: rule?.project ?? given.get('project'), events: given.getAll('event'), benchmark: given.get('benchmark'), metric: given.get('metric'),
			silence: given.get('silence'), webhook: given.get('target').trim() });
	};
	const text = (name, label, more) => el('label', {}, `${label} `, el('input', { name, required: true, ...more }));
	const events = rule?.events ?? ['regression'];
	return el('form', { class: 'note', 'aria-label': rule ? `Rule ${rule.id}` : 'A new rule', onsubmit: (event) => attempt(() => submit(event)) },
		rule ? el('strong', {}, `Rule ${rule.id} of ${clip(rule.project, 60)}`) : el('label', {}, 'Project ', choice),
		Object.entries(EVENTS).map(([event, words]) => el('label', {}, el('input', { type: 'checkbox', name: 'event', value: event, checked: events.includes(event) }), ` ${words}`)),
		text('benchmark', 'Benchmark', { value: rule?.benchmark ?? '*', size: 10, maxlength: 200 }), text('metric', 'Metric', { value: rule?.metric ?? '*', size: 10, maxlength: 200 }),
		text('silence', 'Silence', { value: rule ? silenceText(rule.silence_s) : '24h', size: 5, pattern: '[0-9]+[dhms]' }),
		text('target', 'To', { value: rule?.webhook ?? '', size: 36, maxlength: 2000, placeholder: 'https://…' }), el('button', {}, rule ? 'Save' : 'Make'),
		rule && el('button', { type: 'button', onclick: cancel }, 'Cancel'));
}

// What became of an alert once it was tried; undefined: it waits still.
async function outcomeOf(project, id) {
	for (let tries = 0; tries < TEST_TRIES; tries++) {
		const alert = (await ask('alerts', { project })).alerts.find((one) => one.id === id);
		if (!alert || alert.state !== 'waiting' || alert.reason)
			return alert;
		await new Promise((resolve) => { setTimeout(resolve, TEST_WAIT_MS); });
	}
	return undefined;
}

export async function showAlerts() {
	const [{ rules }, { projects }] = await Promise.all([ask('alert-rules'), ask('projects')]);
	const choice = el('select', { name: 'project', onchange: () => attempt(redraw) }, projects.map((name) => el('option', { value: name }, clip(name, 60))));
	const [made, form, told] = [el('div'), el('div'), el('div')];
	const act = {
		edit: (rule) => {
			drawForm(rule);
			form.querySelector('input[name="benchmark"]').focus();
		},
		test: async (rule) => {
			const { alert: id } = await tell('alert-tests', { project: rule.project, rule: rule.id });
			status.textContent = `Rule ${rule.id}: a test is on its way.`;
			const alert = await outcomeOf(rule.project, id);
			choice.value = rule.project;
			await redraw();
			status.textContent = alert?.state === 'delivered' ? `Rule ${rule.id}: the test was delivered.` : `Rule ${rule.id}: the test was not delivered${alert?.reason ? `: ${alert.reason}` : ' yet.'}`;
		},
		remove: async (rule) => {
			await ask(`alert-rules/${rule.id}`, {}, { method: 'DELETE' });
			await redraw();
			drawForm();
			status.textContent = `Rule ${rule.id} tells nobody anything any more.`;
		},
	};
	const table = el('div', { class: 'acts' }, ruleTable(rules, act));
	function drawForm(rule) {
		const save = async (given) => {
			const { id, secret } = rule ? await tell(`alert-rules/${rule.id}`, given, 'PUT') : await tell('alert-rules', given);
			await redraw();
			drawForm();
			status.textContent = `Rule ${id} is ${rule ? 'changed' : 'made'}.`;
			replace(made, secret && el('p', { role: 'alert' }, `Secret of rule ${id}, shown this once: `, el('code', { class: 'secret' }, secret)));
		};
		replace(form, ruleForm(choice, rule, save, () => drawForm()));
	}
	async function tellAlerts() {
		if (choice.value)
			replace(told, el('h2', {}, `Newest alerts of ${clip(choice.value, 60)}`), alertTable((await ask('alerts', { project: choice.value })).alerts));
	}
	async function redraw() {
		replace(table, ruleTable((await ask('alert-rules')).rules, act));
		await tellAlerts();
	}
	await tellAlerts();
	drawForm();
	showTrail('Alerts');
	replace(page, el('main', {}, heading('Alerts'), el('p', {}, 'A rule tells a webhook what new runs found.'),
		projects.length ? form : el('p', { class: 'quiet' }, 'There is no project yet.'), made, table, told));
}
