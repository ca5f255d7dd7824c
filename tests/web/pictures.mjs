// SPDX-License-Identifier: Apache-2.0
// Takes a picture of every page, in three widths and both schemes, for people to check what no assertion sees.
// FASTGATE_DOC_PICTURES names a folder for the documentation's pictures.
// node pictures.mjs FOLDER PROGRAM-THAT-WRITES-PAGES PERFDB FASTGATE MAKE-RUNS

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openPage, openTab, scratchFolder, sendCards, withBrowser } from './browser.mjs';
import { startPerfdb } from './perfdb.mjs';

const [pictures, makePages, perfdb, fastgate, makeRuns] = process.argv.slice(2);
const folder = scratchFolder();
const WIDTHS = [[390, 800], [1400, 900], [1920, 1080]];
const REPORTS = ['regression', 'pass', 'improvement', 'inconclusive', 'error', 'mixed', 'identical', 'accepted', 'unsure', 'marked'];
const IN_DOCS = { 'report-mixed': ['answer', 560], compare: ['compare', 860], trend: ['trend', 800] };
let made = 0;

async function takeForDocs(page, name) {
	const [file, height] = IN_DOCS[name];
	await page.setViewportSize({ width: 1200, height });
	await page.emulateMedia({ colorScheme: 'light' });
	await page.evaluate(() => new Promise((done) => { scrollTo(0, 0); requestAnimationFrame(() => requestAnimationFrame(done)); }));
	await page.screenshot({ path: join(process.env.FASTGATE_DOC_PICTURES, `${file}.png`) });
}

// Takes pictures of the current page in each width and scheme; open elements and typed text stay.
async function take(page, name, point) {
	await page.locator('#page[data-ready=true]').waitFor({ state: 'attached' });
	for (const [width, height] of WIDTHS)
		for (const colorScheme of ['light', 'dark']) {
			await page.setViewportSize({ width, height });
			await page.emulateMedia({ colorScheme });
			await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
			await point?.();
			await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true });
			made += 1;
		}
	if (process.env.FASTGATE_DOC_PICTURES && name in IN_DOCS)
		await takeForDocs(page, name);
}

// A terminal's text as HTML, with the colours and weights of the escape sequences.
const STYLES = { 1: 'font-weight:bold', 2: 'opacity:.65', 31: 'color:#ff7b72', 32: 'color:#7ee787', 33: 'color:#e3b341', 36: 'color:#79c0ff' };

function asHtml(text) {
	const clean = text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
	return clean.replace(/\x1b\[([\d;]*)m([^\x1b]*)/g, (_, codes, words) =>
		`<span style="${codes.split(';').map((code) => STYLES[code] ?? '').join(';')}">${words}</span>`);
}

// Gates the example with its planted slowdown.
async function terminal(context) {
	const place = join(folder, 'quickstart');
	cpSync(new URL('../../examples/quickstart', import.meta.url), place, { recursive: true });
	const git = (...words) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...words], { cwd: place });
	git('init', '-q', '-b', 'main', '.');
	git('add', '.');
	git('commit', '-q', '-m', 'Count words');
	git('apply', 'slower.patch');
	const done = spawnSync(resolve(fastgate), ['--color', 'always', 'run', '--against', 'HEAD', '--quiet'], { cwd: place, encoding: 'utf8' });
	if (done.status !== 1 || !/slower.*: .*find/.test(done.stdout))
		throw new Error(`the example did not fail, or nothing is to blame: ${done.status} ${done.stdout}${done.stderr}`);
	const page = await context.newPage();
	await page.setContent(`<pre style="display:inline-block;margin:0;padding:20px 24px;background:#0d1117;color:#e6edf3;font:14px/1.5 monospace">$ fastgate run --against HEAD\n${asHtml(done.stdout)}</pre>`);
	await page.locator('pre').screenshot({ path: join(process.env.FASTGATE_DOC_PICTURES, 'terminal.png') });
	await page.close();
}

async function reports(context) {
	execFileSync(makePages, [folder]);
	for (const name of REPORTS) {
		const page = await openPage(context, `file://${join(folder, `${name}.html`)}`);
		await take(page, `report-${name}`);
		await page.close();
	}
	const page = await openPage(context, `file://${join(folder, 'regression.html')}`);
	for (const tab of ['Flame', 'Functions', 'Data']) {
		await openTab(page, tab);
		await take(page, `report-${tab.toLowerCase()}`);
	}
	await openTab(page, 'Flame');
	await page.getByText('Repetitions over time').click();
	await page.locator('.timeline svg').waitFor();
	await take(page, 'report-repetitions');
	await page.close();
}

// Synthetic C++ projects: with six benchmarks and with 200, whose newest run failed; one that passes, and one that
// creeps: [project, benchmarks, outcome].
const GATED = [['meteor', 6, 'fails'], ['green', 6, 'passes'], ['containers', 200, 'fails'], ['suite', 200, 'passes'], ['slowly', 6, 'creeps']];

async function gated(page, push, at, proof) {
	for (const [project, count, ends] of GATED) {
		push(join(folder, project), '--gated', String(count), ends);
		if (project === 'meteor')
			await proof(project);
		await page.goto(at(`view=project&project=${project}`));
		await page.locator('section[aria-labelledby=benchmarks] table').first().waitFor({ state: 'attached' });
		await page.getByText('Searching for change points').waitFor({ state: 'detached' });
		if (ends === 'creeps')
			await page.getByRole('heading', { name: 'Crept up' }).waitFor();
		await take(page, `project-${project}`);
		await page.goto(at(`view=run&project=${project}&run=latest`));
		await page.locator('#benchmark').waitFor({ state: 'attached' });
		await take(page, `run-${project}`);
	}
	const [first] = GATED;
	await page.goto(at(`view=run&project=${first[0]}&run=latest`));
	for (const tab of ['Flame', 'Functions', 'History', 'Data']) {
		await openTab(page, tab);
		await take(page, `run-${tab.toLowerCase()}`);
	}
	await page.goto(at(`view=trend&project=${first[0]}&benchmark=json/tokenize`));
	await page.getByRole('heading', { name: 'Steps' }).waitFor();
	await take(page, 'trend');
	await take(page, 'trend-pointed-at', async () => {
		await page.locator('.plot').first().hover({ position: { x: 150, y: 150 } });
		await page.locator('.plot').first().hover({ position: { x: 200, y: 100 } });
		await page.locator('.plot .card').waitFor();
	});
	await page.goto(at('view=trend&project=slowly&benchmark=json/tokenize'));
	await page.locator('.plot .error-band').waitFor();
	await take(page, 'trend-creeping');
	await page.goto(at(`view=trend&project=${first[0]}&benchmark=json/tokenize&shown=raw`));
	await page.locator('.plot').waitFor();
	await page.getByText('Searching for change points').waitFor({ state: 'detached' });
	await take(page, 'trend-raw');
}

// The pages in the order in which a person visits them: [name, address or element to click, element that shows the page
// is complete].
async function server(context) {
	const { base, options, stop, token } = await startPerfdb(perfdb, 'Ann Author');
	const push = (...words) => {
		execFileSync(makeRuns, words);
		execFileSync(fastgate, ['push', '--quiet', '--spool', words[0], '--url', base]);
	};
	const at = (query) => `${base}?${query}`;
	try {
		push(join(folder, 'spool'));
		const page = await openPage(context, base, options);
		const show = async (name, query, selector) => {
			await page.goto(at(query));
			await page.locator(selector).first().waitFor({ state: 'attached' });
			await take(page, name);
		};
		await show('project', 'view=project&project=tracker', 'section[aria-labelledby=open] tbody tr');
		await show('runs', 'view=runs&project=tracker', 'tbody tr');
		await page.goto(at('view=trend&project=tracker&benchmark=parse'));
		await page.locator('section[aria-labelledby=changes]').getByRole('link', { name: 'compare with the previous run' }).click();
		await page.locator('#blame').waitFor();
		await take(page, 'compare');
		for (const tab of ['History', 'Data', 'Flame']) {
			await openTab(page, tab);
			await take(page, `compare-${tab.toLowerCase()}`);
		}
		for (const view of ['beside', 'inverted', 'sandwich']) {
			await page.getByLabel('View of the call paths').selectOption(view);
			await page.waitForFunction((name) => new URLSearchParams(location.hash.slice(1)).get('view') === name, view);
			await take(page, `compare-${view}`);
		}
		await openTab(page, 'Functions');
		await take(page, 'compare-functions');
		await page.locator('section[aria-labelledby=functions] tbody tr').first().getByRole('link').click();
		await page.getByRole('heading', { name: /guilty::Loop/ }).waitFor();
		await take(page, 'function');
		await show('run', 'view=run&run=latest', '#benchmark');
		await show('picker', 'view=compare&project=tracker', '#names option');
		await show('search', 'view=search&q=next', 'ul.found a');
		push(join(folder, 'unmeasured'), '--unmeasured');
		push(join(folder, 'failed'), '--failed');
		await gated(page, push, at, (project) => sendCards(base, token, project));
		await page.goto(at('view=projects'));
		await page.getByRole('link', { name: 'failed its gate' }).first().waitFor();
		await page.getByText('Searching for change points').waitFor({ state: 'detached' });
		await take(page, 'projects');
		await show('changes', 'view=changes&project=red', 'section[aria-labelledby=open] tbody tr');
		await show('unmeasured', 'view=trend&project=broken&benchmark=never', 'main');
		await show('not-found', 'view=trend&project=tracker&benchmark=none', '[role=alert]');
		await show('tokens', 'view=tokens', 'tbody tr');
		await page.close();
		const stranger = await openPage(context, base, { allow: options.allow, ready: 'input[name=token]' });
		await take(stranger, 'token-needed');
		await stranger.close();
	} finally {
		await stop();
	}
}

mkdirSync(pictures, { recursive: true });
await withBrowser(async (context) => {
	context.setDefaultTimeout(30_000);
	await reports(context);
	await server(context);
	if (process.env.FASTGATE_DOC_PICTURES)
		await terminal(context);
});
console.log(`${made} pictures in ${pictures}`);
