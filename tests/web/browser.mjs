// SPDX-License-Identifier: Apache-2.0
// Shared by the browser tests: starts a Chromium, fails on any error of a page, and checks the accessibility rules.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const require = createRequire(import.meta.url);
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

// FASTGATE_SCREENSHOTS=FOLDER keeps pictures of the pages.
export const pictures = process.env.FASTGATE_SCREENSHOTS;
if (pictures)
	mkdirSync(pictures, { recursive: true });

// Only a page that hangs takes this long; on a crowded machine, a good page may take minutes.
export const HUNG_MS = 180_000;
// Limit for a whole test: not every call to the browser has a limit of its own.
const TEST_MS = 240_000;
const STOPPING_MS = 20_000;
// Debian's headless shell is Chromium's engine without a browser around it, and takes half the time.
const SHELL = '/usr/bin/chromium-headless-shell';
const PROGRAM = process.env.FASTGATE_CHROMIUM ?? (existsSync(SHELL) ? SHELL : '/usr/bin/chromium');
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync',
	// Pages of one site share a process, because starting one takes a fifth of the time of a short test.
	'--process-per-site', '--renderer-process-limit=1', '--disable-site-isolation-trials'];

export function scratchFolder() {
	const folder = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'fastgate-web-'));
	process.on('exit', () => process.env.FASTGATE_KEEP_TMP || rmSync(folder, { recursive: true, force: true }));
	return folder;
}

export async function inTime(work, name) {
	let timer = null;
	const late = new Promise((_, reject) => {
		timer = setTimeout(() => reject(new Error(`${name}: did not end within ${TEST_MS / 1000} s`)), TEST_MS);
	});
	try {
		await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}

// `flags`: additional options for Chromium.
export async function withBrowser(work, flags = []) {
	const profile = join(scratchFolder(), 'profile');
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: PROGRAM, headless: true, args: [...FLAGS, ...flags], bypassCSP: false, timeout: HUNG_MS,
	});
	context.setDefaultTimeout(HUNG_MS);
	try {
		await work(context);
	} finally {
		await inTime(context.close(), 'closing the browser');
	}
}

// Waits until the page is complete, or throws the page's own errors: a bare time-out explains nothing.
async function untilReady(page, selector, problems) {
	try {
		await Promise.race([page.waitForSelector(selector, { state: 'attached' }),
			page.waitForEvent('pageerror', { timeout: 0 }).then((error) => { throw error; })]);
	} catch (error) {
		const status = await page.locator('#status').allInnerTexts();
		throw new Error([`${page.url()}: no ${selector}`, ...problems.length > 0 ? problems : ['neither an error nor a failed request'],
			`status line: ${status.join(' ')}`].join('\n  '), { cause: error });
	}
}

// Opens a page; any error, console warning, failed request, or request to anything but the page itself fails the test.
export async function openPage(context, url, options = {}) {
	const page = await context.newPage();
	const problems = [];
	await page.addInitScript((kept) => {
		for (const [name, value] of Object.entries(kept))
			sessionStorage.setItem(name, value);
	}, options.session ?? {});
	page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
	page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(`console: ${message.text()} ${message.location().url}`));
	page.answers = []; // answers to the next dialogs
	page.on('dialog', (dialog) => {
		const answer = page.answers.shift();
		if (answer === undefined)
			problems.push(`dialog: ${dialog.message()}`);
		return answer ? dialog.accept() : dialog.dismiss();
	});
	page.on('request', (request) => {
		if (!options.allow?.(request.url()) && request.url().split('#')[0] !== url.split('#')[0] && !request.url().startsWith('data:'))
			problems.push(`request: ${request.url()}`);
	});
	page.on('requestfailed', (request) => { // leaving a page aborts its pending requests
		const reason = request.failure()?.errorText ?? '';
		if (reason !== 'net::ERR_ABORTED')
			problems.push(`failed: ${request.url()} ${reason}`);
	});
	page.on('response', (answer) => answer.status() >= 400 && problems.push(`answer ${answer.status()}: ${answer.url()}`));
	await page.setViewportSize({ width: options.width ?? 1280, height: options.height ?? 900 });
	await page.emulateMedia({ colorScheme: options.dark ? 'dark' : 'light' });
	await page.goto(url);
	if (options.ready !== false)
		await untilReady(page, options.ready ?? '#page[data-ready=true]', problems);
	page.noProblems = () => assert.deepEqual(problems, []);
	return page;
}

// Uploads what `fastgate prove` sends: one runner with a proven gate, and one with a broken gate.
export async function sendCards(base, token, project) {
	const found = (runs, of) => ({ found: runs, runs: of });
	const cards = [
		{ host_fingerprint: '0123456789abcdef', false_alarms: { alarms: 0, runs: 60, at_most: 0.049 }, smallest_found: 0.02, minutes_per_verdict: 4.2,
			slowdowns: [{ size: 0.01, found: found(31, 40) }, { size: 0.02, found: found(39, 40) }], functions: { named: 38, runs: 39 },
			remedies: [{ limit: 'pairs', smallest_found: 0.02, expected: 0.014 }] },
		{ host_fingerprint: 'fedcba9876543210', broken: true, false_alarms: { alarms: 2, runs: 12, at_most: 0.38 } },
	];
	for (const card of cards) {
		const answer = await fetch(`${base}api/v1/cards`, { method: 'POST', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
			body: JSON.stringify({ project, card: { schema: 'fastgate-prove/1', ...card } }) });
		assert.equal(answer.status, 201);
	}
}

export async function openTab(page, name) {
	await page.getByRole('tab', { name, exact: true }).click();
}

// Rules whose result depends on colours or on the width of the page.
const RULES_OF_LOOKS = ['color-contrast', 'scrollable-region-focusable'];

// axe runs in an isolated world, so the page's own policy stays as it is. `again`: the page was checked in another
// colour scheme or width, so most rules would say the same.
export async function checkAccessibility(context, page, name, again = false) {
	const session = await context.newCDPSession(page);
	const { frameTree } = await session.send('Page.getFrameTree');
	const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
	const evaluate = async (expression) => {
		const { result, exceptionDetails } = await session.send('Runtime.evaluate',
			{ expression, contextId: executionContextId, awaitPromise: true, returnByValue: true });
		assert.equal(exceptionDetails, undefined);
		return result.value;
	};
	await evaluate(`${axeSource}; 0`);
	// Without `resultTypes`, half of the time is spent on passed checks; `preload` would load styles again.
	const options = { resultTypes: ['violations'], preload: false, ...again && { runOnly: RULES_OF_LOOKS } };
	const violations = await evaluate(`axe.run(document, ${JSON.stringify(options)}).then((r) => r.violations.map((v) =>
		v.id + ': ' + v.help + ' ' + v.nodes.slice(0, 3).map((n) => n.target.join(' ') + ' ' + n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')))`);
	assert.deepEqual(violations, [], `${name}: accessibility`);
	await session.detach();
}

// Runs all tests, one after the other, and sets the exit code.
export async function runTests(tests, prepare) {
	let failed = 0;
	await withBrowser(async (context) => {
		await prepare?.(context);
		for (const [name, run] of Object.entries(tests)) {
			const began = performance.now();
			try {
				await inTime(run(context), name);
				console.log(`ok      ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
			} catch (error) {
				failed += 1;
				console.log(`FAILED  ${name}\n${error.stack}`);
			}
		}
	});
	process.exitCode = failed ? 1 : 0;
	// A failed test may leave a server open, which would keep the process alive.
	if (failed)
		setTimeout(() => process.exit(), STOPPING_MS).unref();
}
