// SPDX-License-Identifier: Apache-2.0
// Measures the time that a reader waits for a trend of 10,000 points, for a dashboard of 200 benchmarks, and for every kind of
// interaction on the trend and on a report of 35,000 call paths; and the size of the pages.
// node goals.mjs PROGRAM-THAT-WRITES-PAGES
// An interaction is measured from the event to the second frame after it: the CPU time of the page's main thread, which is the
// wait on an idle machine, and the elapsed time.  "first" is the first interaction on a page at rest, which includes everything
// that is made only once.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openPage, scratchFolder, withBrowser } from './browser.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 15);
const FIRSTS = 5;
const POINTS = 10000;
const BENCHMARKS = 200;
const [LOAD_GOAL, GOAL, WEIGHT_GOAL] = [300, 50, 60];
const folder = scratchFolder();
const origin = 'http://goals.test/';
const parts = ['../../reporters/web/', '../../perfdb/web/'].map((path) => new URL(path, import.meta.url).pathname);
execFileSync(process.argv[2], [folder]);

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const pageOf = (script) => `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>goals</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css"><main id="page"></main><script type="module" src="${script}"></script>`;
const drawn = "requestAnimationFrame(() => requestAnimationFrame(() => { window.drawnAt = performance.now(); document.getElementById('page').dataset.ready = 'true'; }));";
const trend = `import { trendChart } from './chart.js';
const points = Array.from({ length: ${POINTS} }, (_, i) => ({ value: 2e8 * (i >= ${POINTS / 2} ? 1.05 : 1) * (1 + ((i * 7919) % 100 - 50) / 5000),
	label: 'run ' + i, verdict: i % 20 === 7 ? 'regression' : 'pass', run: 'r' + i, time: new Date(1.7e12 + i * 6e4).toISOString() }));
document.getElementById('page').append(trendChart({ title: 'cpu time of parse', unit: 'ns', points, threshold: 0.01,
	changes: [{ index: ${POINTS / 2}, before: 2e8, after: 2.1e8 }], onRange: () => {}, card: async () => [], onPick: () => {} }).element);
${drawn}`;
const made = {
	'trend.html': ['text/html', pageOf('trend-script.js')], 'trend-script.js': ['text/javascript', trend],
	'blank.html': ['text/html', pageOf('blank-script.js')], 'blank-script.js': ['text/javascript', `import './chart.js';\n${drawn}`],
};

// A dashboard as the server answers: one benchmark in fifty failed, each with 30 levels.
const benchmark = (_, i) => ({ name: `containers/BM_Copy<std::unordered_map<std::string, std::vector<int>>, ${i}>/16`, metric: 'cpu_time', label: 'cpu time', run: 'r1',
	started_at: '2026-10-04T14:13:20Z', commit: '8c5d2f6200', subject: 'json: reject strings that are not UTF-8 (#41)', measured: true, unit: 'ns', better: 'lower',
	verdict: i % 50 === 7 ? 'regression' : 'pass', value: 5e7, ratio: i % 50 === 7 ? 1.1 : 1.001, interval: [0.99, 1.12], levels: Array.from({ length: 30 }, (_, k) => 1 + k * i % 7 / 500),
	answer: i % 50 === 7 ? { sentence: 'it is 10.0 % slower: json::Tokenizer::valid_utf8(unsigned long) const json.cpp:22 (+4.4 ms)', state: 'regression', because: [] } : undefined,
	changes: i % 50 === 7 ? [{ run: 'r1', before: 5e7, after: 5.5e7, ratio: 1.1, found_by: 'gate', interval: [1.09, 1.11], state: 'new', started_at: '2026-10-04T14:13:20Z' }] : [] });
const answers = {
	dashboard: { project: 'suite', links: {}, benchmarks: Array.from({ length: BENCHMARKS }, benchmark), pending: false },
	cards: { cards: [] }, creep: { functions: [], benchmarks: 0 }, projects: { projects: ['suite'] }, me: {},
};
const isAsked = (url) => new URL(url).pathname.startsWith('/api/');
made[''] = ['text/html', readFileSync(join(parts[1], 'index.html'), 'utf8')];

async function serveParts(context) {
	await context.route(`${origin}**`, (route) => {
		if (isAsked(route.request().url()))
			return route.fulfill({ json: answers[basename(new URL(route.request().url()).pathname)] ?? {} });
		const name = basename(new URL(route.request().url()).pathname);
		const [type, body] = made[name] ?? [name.endsWith('.css') ? 'text/css' : 'text/javascript', readFileSync(parts.map((path) => join(path, name)).find(existsSync), 'utf8')];
		return route.fulfill({ contentType: name.endsWith('.svg') ? 'image/svg+xml' : `${type}; charset=utf-8`, body });
	});
}

async function cpuOf(session) {
	const { metrics } = await session.send('Performance.getMetrics');
	return metrics.find((m) => m.name === 'TaskDuration').value * 1000;
}

// Measures the cost of a page until it has this element, by the main thread's clock.
async function costOf(context, url, selector) {
	const page = await context.newPage();
	const session = await context.newCDPSession(page);
	await session.send('Performance.enable', { timeDomain: 'threadTicks' });
	await page.goto(url);
	await page.locator(selector).waitFor({ state: 'attached' });
	const cost = await cpuOf(session);
	await page.close();
	return cost;
}

async function open(context, url) {
	const page = await openPage(context, url, { allow: (address) => address.startsWith(origin) });
	const session = await context.newCDPSession(page);
	await session.send('Performance.enable', { timeDomain: 'threadTicks' });
	return { page, session };
}

// Runs each step with its number inside the page; subtracts the cost of two frames without a step.
async function firstOf(context, url, step) {
	const times = [];
	for (let round = 0; round < FIRSTS; round += 1) {
		const { page } = await open(context, url);
		times.push(await page.evaluate(async (text) => {
			const act = new Function('i', text);
			for (let i = 0; i < 5; i += 1)
				await new Promise((rest) => { requestIdleCallback(rest); });
			const started = performance.now();
			act(0);
			await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))); });
			return performance.now() - started;
		}, step));
		await page.close();
	}
	return median(times);
}

async function interaction({ page, session }, step) {
	const run = (body) => page.evaluate(async ([text, count]) => {
		const act = text ? new Function('i', text) : null;
		const frame = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))); });
		const times = [];
		for (let i = 0; i < count; i += 1) {
			const started = performance.now();
			act?.(i);
			await frame();
			times.push(performance.now() - started);
		}
		return times;
	}, [body, ROUNDS]);
	const cpuFor = async (body) => {
		const before = await cpuOf(session);
		const times = await run(body);
		return [(await cpuOf(session) - before) / ROUNDS, median(times)];
	};
	await run(step);
	const [idle] = await cpuFor('');
	const [cpu, time] = await cpuFor(step);
	return { cpu: Math.max(0, cpu - idle), time };
}

const mouse = (selector) => `const at = document.querySelector('${selector}'), box = at.getBoundingClientRect();
at.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + (i + 1) * box.width / 40, clientY: box.top + 20 + 4 * (i % 9), bubbles: true }));`;
const key = (selector, keys) => `document.querySelector('${selector}').dispatchEvent(new KeyboardEvent('keydown', { key: ${JSON.stringify(keys)}[i % ${keys.length}], bubbles: true, cancelable: true }));`;
const type = (selector) => `const field = document.querySelector('${selector}'); field.value = ['pro', 'proce', 'Stage7', ''][i % 4]; field.dispatchEvent(new Event('input', { bubbles: true }));`;
const choose = (...views) => `const view = document.querySelector('select[aria-label="View of the call paths"]'); view.value = ${JSON.stringify(views)}[i % ${views.length}]; view.dispatchEvent(new Event('change'));`;
const functions = 'section[aria-labelledby=functions]';
const steps = {
	flame: {
		'flame graph: zoom in and out': key('.flame', ['ArrowDown', 'Enter', 'ArrowDown', 'Enter', 'Escape']),
		'flame graph: search': type('.flame-views input'),
		'flame graph: hover': mouse('.flame canvas'),
		'flame graph: both sides, or one picture': choose('beside', ''),
		'flame graph: inverted, or not': choose('inverted', ''),
	},
	functions: {
		'functions: filter': type(`${functions} input[type=search]`),
		'functions: sort': `document.querySelectorAll('${functions} th button')[i % 5].click();`,
	},
	trend: {
		'trend: hover': mouse('.plot'),
		'trend: zoom and pan': key('.plot', ['End', '+', '+', 'ArrowLeft', '-', '-']),
	},
};

const rows = [];
await withBrowser(async (context) => {
	await serveParts(context);
	const times = { blank: [], trend: [] };
	for (let round = 0; round < ROUNDS + 1; round += 1)
		for (const name of Object.keys(times)) {
			const { page } = await open(context, `${origin}${name}.html`);
			if (round > 0)
				times[name].push(await page.evaluate(() => window.drawnAt));
			await page.close();
		}
	const drawing = [];
	for (let round = 0; round < ROUNDS + 1; round += 1)
		drawing.push(await costOf(context, `${origin}?view=project&project=suite`, 'details.passed') - await costOf(context, `${origin}blank.html`, '[data-ready=true]'));
	const dashboard = median(drawing.slice(1));
	rows.push([`dashboard of ${BENCHMARKS} benchmarks, over a blank page`, '', dashboard.toFixed(1), NaN, LOAD_GOAL, dashboard]);
	const over = median(times.trend) - median(times.blank);
	rows.push([`trend of ${POINTS} points, over a blank page`, '', '', over, LOAD_GOAL, over]);
	for (const [name, list] of Object.entries(steps)) {
		const url = name === 'trend' ? `${origin}trend.html` : `file://${join(folder, 'large.html')}#tab=${name}`;
		const opened = await open(context, url);
		for (const [words, step] of Object.entries(list)) {
			const { cpu, time } = await interaction(opened, step);
			rows.push([words, (await firstOf(context, url, step)).toFixed(1), cpu.toFixed(1), time, GOAL, cpu]);
		}
		opened.page.noProblems();
		await opened.page.close();
	}
});
const weights = [['report', ['reporters/web']], ['perfdb', ['reporters/web', 'perfdb/web']]].map(([words, folders]) => {
	const files = folders.flatMap((folder) => readdirSync(new URL(`../../${folder}`, import.meta.url)).filter((name) => /\.(js|css)$/.test(name)).map((name) => new URL(`../../${folder}/${name}`, import.meta.url)));
	return [words, files.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0) / 1000];
});
console.log(`${'median of ' + ROUNDS} rounds`.padEnd(48) + 'first ms'.padStart(9) + 'CPU ms'.padStart(9) + 'ms'.padStart(9) + 'goal'.padStart(7));
for (const [words, first, cpu, time, goal, judged] of rows)
	console.log(words.padEnd(48) + first.padStart(9) + cpu.padStart(9) + (Number.isNaN(time) ? '' : time.toFixed(1)).padStart(9) + String(goal).padStart(7) + (judged > goal ? '   missed' : ''));
for (const [words, weight] of weights)
	console.log(`scripts and styles of ${words}, file by file, gzip`.padEnd(66) + `${weight.toFixed(1)} kB`.padStart(9) + (words === 'report' ? ` of ${WEIGHT_GOAL}` : ''));
