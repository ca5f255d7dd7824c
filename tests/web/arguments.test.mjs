// SPDX-License-Identifier: Apache-2.0
// The arguments of a real program's calls of libm, measured by `fastgate run`: node arguments.test.mjs PERFDB FASTGATE COMPILER
// Tests the HTML report, the stored run on the pages of perfdb and `fastgate web`, a comparison of two stored runs, and the
// pages of other commands.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkAccessibility, openPage, openTab, pictures, runTests, scratchFolder } from './browser.mjs';
import { serve, startPerfdb } from './perfdb.mjs';

const [perfdb, fastgate, compiler] = process.argv.slice(2);
const folder = join(scratchFolder(), 'app');
const environment = { ...process.env, HOME: folder, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
delete environment.FASTGATE_PERFDB;
mkdirSync(folder);

// SMALLEST: the smallest argument of exp; OF: the argument of log; DRAWN: the calls of sin, one function per name.
const PROGRAM = `#include <math.h>
static volatile double sink;
#define NOINLINE __attribute__((noinline))
NOINLINE void fit(int n) { for (int i = 0; i < n; i++) sink = exp(-SMALLEST * (i + 1) / n); __asm__ volatile(""); }
NOINLINE void smooth(int n) { fit(n / 2); __asm__ volatile(""); }
NOINLINE void old_draw(int n) { for (int i = 0; i < n; i++) sink = sin(i); __asm__ volatile(""); }
NOINLINE void new_draw(int n) { for (int i = 0; i < n; i++) sink = sin(i); __asm__ volatile(""); }
int main(void) { for (volatile long i = 0; i < 30000000; i++) { } fit(2000); smooth(1000); DRAWN; sink = log(OF); return 0; }
`;
const CONFIGURATION = `version: 1
project: app
build: { command: ${compiler} -g -O1 -fno-builtin app.c -o app -lm }
benchmarks:
  - { name: app, command: ./app }
measure:
  domains: [exp, log, sin]
  schedule: abba
  pairs: { min: 4, max: 4 }
  warmup: 0
report: { json: report.json, html: report.html }
`;

const run = (program, words) => execFileSync(program, words, { cwd: folder, env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const git = (...words) => run('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...words]);

function write(smallest, of, drawn) {
	writeFileSync(join(folder, 'app.c'), PROGRAM.replace('SMALLEST', smallest).replace('OF', of).replace('DRAWN', drawn));
}

function measure() {
	const done = spawnSync(fastgate, ['run', '--against', 'HEAD'], { cwd: folder, env: environment, encoding: 'utf8' });
	assert.ok([0, 1, 3].includes(done.status), done.stdout + done.stderr); // the test is not about time
	return JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));
}

const section = (page) => page.locator('section[aria-labelledby=arguments]');
const rowsOf = (table) => table.locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim().replace(/\s*\n\s*/g, ' '))));

// Walks through the three levels, as every page shows them: functions, the call paths to exp sorted by calls, one path
// in full with its histogram.
async function walk(context, page, name) {
	const parts = section(page);
	await openTab(page, 'Arguments');
	assert.deepEqual(await rowsOf(parts.locator('table').first()), [
		['exp double(double)', '2500', '−0.5 → −80', '−0.00025 → −0.04', '−0.2502 → −40.032', '', '2500', '', '', '', '', '2'],
		['sin double(double)', '30', '0', '29', '14.5', '1', '', '', '', '', '', '1'],
		['log double(double)', '1', '2 → –', '2 → –', '2 → –', '', '', '', '', '0 → 1', '', '1'],
	]);
	assert.match(await parts.innerText(), /log in main: 1 of 1 arguments are not a number \(NaN\)/);
	await parts.getByRole('button', { name: 'exp', exact: true }).click();
	assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Call paths to exp');
	const paths = parts.locator('table').nth(1);
	assert.deepEqual((await rowsOf(paths)).map((row) => row.slice(0, 4)), [
		['fit ← main', '2000', '−0.5 → −80', '−0.00025 → −0.04'], ['fit ← smooth ← main', '500', '−0.5 → −80', '−0.001 → −0.16']]);
	await parts.getByRole('button', { name: 'fit ← smooth ← main' }).click();
	assert.deepEqual((await parts.locator('ol.frames li').allInnerTexts()).slice(-3), ['main', 'smooth', 'fit']);
	const bins = await rowsOf(parts.locator('table.histogram'));
	assert.deepEqual(bins[0].slice(0, 3), ['2−10 to 2−9', '1', '']);
	assert.deepEqual(bins.at(-1).slice(0, 3), ['26 to 27', '', '101']); // from the 400th of 500 on
	assert.equal(bins.reduce((sum, row) => sum + Number(row[2] || 0), 0), 500);
	await checkAccessibility(context, page, name);
	if (pictures)
		await parts.screenshot({ path: join(pictures, `arguments-${name}.png`) });
	const address = page.url();
	assert.match(address, /argument=exp&trace=2/);
	await page.reload();
	await section(page).locator('ol.frames').waitFor();
	page.noProblems();
}

const tests = {};
const test = (name, work) => { tests[name] = work; };

test('the JSON report has both sides, and comes from the store as it was written', async () => {
	write('0.5', '2.0', 'old_draw(30)');
	writeFileSync(join(folder, 'fastgate.yml'), CONFIGURATION);
	writeFileSync(join(folder, '.gitignore'), 'app\n.fastgate*\nreport.*\n');
	git('init', '-q', '.');
	git('add', '.');
	git('commit', '-q', '-m', 'first');
	write('80.0', '0.0 / (sink - sink)', 'old_draw(30)');
	const { arguments: table } = measure().benchmarks[0];
	assert.deepEqual(table.functions.map((f) => [f.name, f.baseline.calls, f.candidate.calls, f.traces]), [['exp', 2500, 2500, [2, 2]], ['sin', 30, 30, [1, 1]], ['log', 1, 1, [1, 1]]]);
	assert.deepEqual([table.functions_left_out, ...table.functions.map((f) => f.paths_left_out)], [0, 0, 0, 0]);
	assert.deepEqual([table.functions[2].baseline.nan, table.functions[2].candidate.nan, table.functions[2].candidate.min], [0, 1, null]);
	assert.deepEqual(table.functions[0].paths[0].frames.map((at) => table.names[at]).slice(-2), ['main', 'fit']);
	assert.equal(run(fastgate, ['report', 'latest', '--format', 'json']), readFileSync(join(folder, 'report.json'), 'utf8'));
});

test('the HTML report leads from a function to a path and its histogram', async (context) => {
	const page = await openPage(context, `file://${join(folder, 'report.html')}`, { width: 1400 });
	await walk(context, page, 'report');
	await page.close();
});

test('a stored run shows the same on pages of perfdb', async (context) => {
	run(fastgate, ['push', '--quiet', 'latest', '--url', base]);
	const page = await openPage(context, `${base}?view=run&run=latest`, options);
	await walk(context, page, 'perfdb');
	await page.close();
});

test('two stored runs show what each called functions with as its candidate', async (context) => {
	git('commit', '-q', '-a', '-m', 'second');
	write('80.0', '2.0', 'new_draw(20)');
	measure();
	run(fastgate, ['push', '--quiet', 'latest', '--url', base]);
	const page = await openPage(context, `${base}?view=compare&a=latest~1&b=latest`, options);
	await openTab(page, 'Arguments');
	assert.deepEqual((await rowsOf(section(page).locator('table').first())).map((row) => [row[0], row[1], row[9], row[11]]), [
		['exp double(double)', '2500', '', '2'], ['sin double(double)', '30 → 20', '', '1'], ['log double(double)', '1', '1 → 0', '1']]);
	await section(page).getByRole('button', { name: 'sin', exact: true }).click();
	assert.deepEqual((await rowsOf(section(page).locator('table').nth(1))).map((row) => row.slice(0, 2)), [['old_draw ← main', '30 → 0'], ['new_draw ← main', '0 → 20']]);
	page.noProblems();
	await page.close();
	const { benchmarks } = JSON.parse(spawnSync(fastgate, ['compare', 'latest~1', 'latest', '--format', 'json'], { cwd: folder, env: environment, encoding: 'utf8' }).stdout);
	assert.deepEqual(benchmarks[0].arguments.functions.map((f) => [f.name, f.baseline.calls, f.candidate.calls]), [['exp', 2500, 2500], ['sin', 30, 20], ['log', 1, 1]]);
});

test('fastgate web shows them from the local store', async (context) => {
	const local = await serve(fastgate, ['web', '--store', join(folder, '.fastgate', 'store.db')], { cwd: folder, env: environment });
	const root = new URL('/', local.base).href;
	const page = await openPage(context, local.base, { allow: (url) => url.startsWith(root) });
	await page.goto(`${root}?view=run&run=latest~1`);
	await openTab(page, 'Arguments');
	assert.deepEqual((await rowsOf(section(page).locator('table').first())).map((row) => row.slice(0, 2)), [['exp double(double)', '2500'], ['sin double(double)', '30'], ['log double(double)', '1']]);
	await page.close();
	await local.stop();
});

test('a run that is judged again keeps them', async () => {
	const json = (words) => JSON.parse(spawnSync(fastgate, words, { cwd: folder, env: environment, encoding: 'utf8' }).stdout).benchmarks[0].arguments;
	const table = json(['report', 'latest', '--json']);
	assert.equal(table.functions.length, 3);
	assert.deepEqual(json(['gate', 'latest', '--json']), table);
});

test('the pages of bisect and duel have no accessibility violation in either scheme', async (context) => {
	const place = join(folder, '..', 'history');
	mkdirSync(place);
	const there = (program, ...words) => spawnSync(program, words, { cwd: place, env: environment, encoding: 'utf8' });
	const commit = (...words) => there('git', '-c', 'user.name=T', '-c', 'user.email=t@example.org', ...words);
	commit('init', '-q', '-b', 'main', '.');
	writeFileSync(join(place, '.gitignore'), '.fastgate\n*.html\n');
	writeFileSync(join(place, 'fastgate.yml'), `version: 1
build: { command: "true" }
benchmarks: [ { name: prog, command: ./prog, metrics: [ { name: cost, regex: "cost: ([0-9]+)", exact: true } ] } ]
measure: { pairs: { min: 2, max: 2 }, warmup: 0, sampler: { enabled: false } }
gate: { metrics: { cost: { tolerance: 1% }, cpu_time: { gated: false }, wall_time: { gated: false }, max_rss: { gated: false } } }
`);
	for (const cost of [1000, 1001, 1300, 1301]) {
		writeFileSync(join(place, 'prog'), `#!/bin/sh\necho "cost: ${cost}"\n`, { mode: 0o755 });
		commit('add', '.');
		commit('commit', '-q', '-m', `Cost <b>${cost}</b>`);
	}
	const searched = there(fastgate, 'bisect', 'HEAD~3', '--html', 'bisect.html');
	assert.equal(searched.status, 1, searched.stderr);
	assert.equal(there(fastgate, 'duel', 'true', 'true', '--pairs', '4:4', '--html', 'duel.html').status, 0);
	for (const [name, words, ready] of [['bisect', 'Cost <b>1300</b>', 'main'], ['duel', 'same binaries on both sides']])
		for (const dark of [false, true]) {
			const page = await openPage(context, `file://${join(place, name)}.html`, { dark, ready });
			await page.getByText(words).first().waitFor();
			await checkAccessibility(context, page, `${name} ${dark}`, dark);
			page.noProblems();
			await page.close();
		}
});

const { base, options, stop, token } = await startPerfdb(perfdb);
environment.PERFDB_TOKEN = token;
try {
	await runTests(tests);
} finally {
	await stop();
}
