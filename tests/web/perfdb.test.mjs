// SPDX-License-Identifier: Apache-2.0
// The pages of perfdb in a real browser: node perfdb.test.mjs PERFDB FASTGATE MAKE-RUNS
// Runs are sent by the real client to a real server; the guilty function is found by clicking.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkAccessibility, inTime, openPage, openTab, pictures, runTests, sendCards } from './browser.mjs';
import { look, serve, startPerfdb } from './perfdb.mjs';

const [perfdb, fastgate, makeRuns] = process.argv.slice(2);
const { base, folder, options, stop, token } = await startPerfdb(perfdb);

const openMenu = (page) => page.locator('#account summary').click();

// `fastgate web` finds the server installed with it, and serves a store that its pages cannot change.
async function localPages(context) {
	const { base: at, stop: stopLocal } = await serve(fastgate, ['web', '--store', join(folder, 'perfdb.db')]);
	try {
		const page = await openPage(context, at, { allow: (url) => url.startsWith(new URL('/', at).href) });
		await page.getByRole('link', { name: 'tracker' }).last().click();
		assert.ok(!page.url().includes('key=')); // now the key is in a cookie
		await page.getByRole('link', { name: 'parse' }).first().click();
		await page.getByRole('heading', { name: 'Changes' }).waitFor();
		assert.equal(await page.getByRole('button', { name: /Add|Save/ }).count(), 0); // this store is read-only
		page.noProblems();
		await page.close();
	} finally {
		await stopLocal();
	}
}

// The address printed at the first start signs its reader in; the token does not stay in the address.
async function entry(context) {
	const page = await openPage(context, `${base}#token=${token}`, { allow: options.allow });
	await openMenu(page);
	await page.getByRole('link', { name: 'Tokens' }).waitFor();
	assert.equal(page.url(), base);
	page.noProblems();
	await page.close();
}

// The project's page shows its size, and that it has reached its quota.
async function limits(context) {
	const page = await openPage(context, base, options);
	const show = () => page.goto(`${base}?view=runs&project=tracker`);
	const limit = (...words) => execFileSync(perfdb, ['limit', 'set', '--database', join(folder, 'perfdb.db'), '--project', 'tracker', ...words]);
	await show();
	await page.getByText(/^Holds \d+ runs, [\d.]+ [KM]iB\.$/).waitFor();
	limit('--runs', '5', '--older-than', '3650d', '--keep', '20');
	await show();
	await page.getByText(/Holds \d+ runs of at most 5, .* Runs are kept for 3650 days, .*The quota is reached: uploads are refused\.$/).waitFor();
	await look(context, page, 'limits');
	limit();
	page.noProblems();
	await page.close();
}

// An administrator creates a token, which is shown once and works until it is revoked.
async function tokens(context) {
	const works = async (secret) => (await fetch(`${base}api/v1/runs`, { headers: { Authorization: `Bearer ${secret}` } })).status;
	const page = await openPage(context, base, options);
	await openMenu(page);
	await page.getByRole('link', { name: 'Tokens' }).click();
	await page.getByRole('heading', { name: 'Tokens' }).waitFor();
	await page.getByLabel('For', { exact: true }).fill('<b>Ann</b>');
	await page.getByLabel('May').selectOption('triage');
	await page.getByRole('button', { name: 'Create' }).click();
	const secret = await page.locator('code.secret').innerText();
	assert.match(secret, /^fgt_[0-9a-f]{64}$/);
	assert.equal(await works(secret), 200);
	const row = page.getByRole('row', { name: /Ann/ });
	assert.match(await row.innerText(), /<b>Ann<\/b>\s+all\s+triage\s+valid/);
	await look(context, page, 'tokens');
	page.answers.push(false);
	await row.getByRole('button', { name: /Revoke/ }).click();
	assert.equal(await works(secret), 200, 'revoked without an answer to the question');
	const cut = await openPage(context, `${base}?view=tokens`, options);
	await cut.route('**/api/v1/tokens/*', (route) => route.abort());
	cut.answers.push(true);
	await cut.getByRole('row', { name: /Ann/ }).getByRole('button', { name: /Revoke/ }).click();
	await cut.locator('#status.failure', { hasText: 'nothing was saved' }).waitFor();
	if (pictures)
		await cut.screenshot({ path: join(pictures, 'perfdb-failed.png') });
	await cut.close();
	page.answers.push(true);
	await row.getByRole('button', { name: /Revoke/ }).click();
	await page.getByText(/Token \d+ has been revoked/).waitFor();
	assert.match(await row.innerText(), /revoked/);
	assert.equal(await works(secret), 401);
	await page.reload();
	await row.waitFor();
	assert.equal(await page.locator('code.secret').count(), 0);
	page.noProblems();
	await page.close();
}

// Every name in this run is markup, which the pages show as text.
async function hostileNames(context) {
	execFileSync(makeRuns, [join(folder, 'hostile'), '--hostile']);
	execFileSync(fastgate, ['push', '--quiet', '--spool', join(folder, 'hostile'), '--url', base]);
	const page = await openPage(context, base, options);
	const harmless = async (name) => {
		await look(context, page, `hostile-${name}`);
		assert.equal(await page.locator('img, [onerror]').count(), 0, name);
	};
	const shows = (name) => page.getByText(`alert('${name}`).first().waitFor({ state: 'attached' });
	await page.getByRole('link', { name: /alert\('project'\)/ }).last().click();
	for (const name of ['project', 'benchmark'])
		await shows(name);
	await harmless('project');
	await page.getByRole('link', { name: /alert\('benchmark'\)/ }).first().click();
	await page.getByRole('heading', { name: 'Notes' }).waitFor();
	await page.getByLabel('Metric').selectOption({ label: await page.getByLabel('Metric').locator('option', { hasText: "alert('metric')" }).innerText() });
	await page.getByRole('button', { name: 'Show' }).click();
	await page.getByText(/alert\('metric'\).*: 3 runs/).first().waitFor();
	await harmless('trend');
	await page.getByRole('link', { name: 'Runs', exact: true }).click();
	const rows = page.locator('main tbody tr');
	await rows.nth(1).getByRole('button', { name: /^baseline/ }).click();
	await rows.nth(0).getByRole('button', { name: /^candidate/ }).click();
	await page.getByRole('link', { name: 'Compare A with B' }).click();
	await openTab(page, 'Functions');
	const functions = page.locator('section[aria-labelledby=functions] tbody tr');
	await functions.first().waitFor();
	for (const name of ['function', 'library', 'label'])
		await shows(name);
	await harmless('compare');
	await functions.first().getByRole('link').click();
	await page.getByRole('heading', { name: /alert\('function'\)/ }).waitFor();
	await harmless('function');
	assert.equal(await page.locator('a[href^="javascript"], a[href*="DROP"][rel=noreferrer]').count(), 0);
	await page.close();
}

// The templates that came with the runs link the dashboard and the feed to the source; a stranger's templates are
// ignored.
async function sourceLinks(context) {
	const page = await openPage(context, `${base}?view=project&project=tracker`, options);
	await page.getByRole('heading', { name: 'Benchmarks' }).waitFor();
	const source = /^https:\/\/git\.example\.org\/tracker\/[0-9a-f]{40}$/;
	assert.match(await page.getByRole('link', { name: /source of commit/ }).first().getAttribute('href'), source);
	await page.locator('section[aria-labelledby=open] tbody tr').first().waitFor();
	const [related, strangers] = await page.evaluate(async () => {
		const get = (path) => fetch(`/api/v1/${path}`, { headers: { Authorization: `Bearer ${sessionStorage.getItem('perfdb-token')}` } });
		const feed = async (project) => new DOMParser().parseFromString(await (await get(`feed?project=${encodeURIComponent(project)}`)).text(), 'application/xml');
		const related = (found) => found.querySelector('entry link[rel=related]')?.getAttribute('href');
		const { projects } = await (await get('projects')).json();
		const stranger = await feed(projects.find((project) => project.includes('onerror')));
		return [related(await feed('tracker')), [stranger.documentElement.localName, related(stranger) ?? 'none']];
	});
	assert.match(related, source);
	assert.deepEqual(strangers, ['feed', 'none']);
	page.noProblems();
	await page.close();
}

// Imported profiles have not failed: they were not measured. Two of them are compared by function, without a verdict.
async function importedProfiles(context) {
	const store = join(folder, 'imports.db');
	const ids = [30, 45].map((ms) => {
		const file = join(folder, `after-${ms}.folded`);
		writeFileSync(file, `main 2\nmain;fit ${ms}\n`);
		return JSON.parse(execFileSync(fastgate, ['import', '--json', '--store', store, '--project', 'profiles', file], { encoding: 'utf8' })).run;
	});
	execFileSync(fastgate, ['push', '--quiet', '--store', store, '--url', base, ...ids]);
	const page = await openPage(context, `${base}?view=project&project=profiles`, options);
	await page.getByText('2 profiles', { exact: true }).waitFor();
	const benchmarks = page.locator('section[aria-labelledby=benchmarks]');
	assert.match(await benchmarks.innerText(), /profile/);
	assert.doesNotMatch(await benchmarks.innerText(), /failed|error/);
	await look(context, page, 'profiles');
	await page.goto(`${base}?view=compare&a=${ids[0]}&b=${ids[1]}`);
	await page.getByText('two profiles, compared without a verdict').first().waitFor();
	await openTab(page, 'Functions');
	const fit = page.locator('section[aria-labelledby=functions] tbody tr').first();
	assert.match(await fit.innerText(), /fit[^]*30.0 ms\s+45.0 ms\s+\+15.0 ms\s+93.8 %\s+95.7 %/);
	assert.equal(await page.locator('.badge').count(), 0);
	await look(context, page, 'profiles-compared');
	await page.goto(`${base}?view=run&run=${ids[1]}`);
	await page.getByText('a profile alone, without measured values').first().waitFor();
	await openTab(page, 'Functions');
	await page.locator('section[aria-labelledby=functions] tbody tr').first().waitFor();
	page.noProblems();
	await page.close();
}

// One failed gate opens a change at once; after a decision, the change is collapsed but can still be found.
async function failedGate(context) {
	execFileSync(makeRuns, [join(folder, 'failed'), '--failed']);
	execFileSync(fastgate, ['push', '--quiet', '--spool', join(folder, 'failed'), '--url', base]);
	const page = await openPage(context, `${base}?view=project&project=red`, options);
	const change = page.locator('section[aria-labelledby=open] tbody tr');
	await page.getByRole('link', { name: 'failed its gate' }).waitFor();
	assert.match(await change.innerText(), /^parse\s[^]*\+30\.0 %\s+cpu time[^]*failed its gate[^]*ago\s+nobody/);
	assert.match(await change.locator('time').getAttribute('title'), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
	await look(context, page, 'failed-gate');
	await page.getByLabel(/^State of the change/).selectOption('accepted');
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByText('None: every failed gate').waitFor();
	await page.getByText('Decided or undone (1)').click();
	assert.equal(await change.count(), 1);
	assert.match(await change.innerText(), /the tests/, 'who decided is its owner');
	await page.getByRole('link', { name: 'Changes', exact: true }).click();
	await page.getByRole('heading', { name: 'Changes', exact: true }).waitFor();
	await change.getByRole('link', { name: 'parse' }).waitFor(); // this page does not collapse decided changes
	page.noProblems();
	await page.close();
}

// Runs `report --post-from`; returns the bodies that the commit gets, by the kind of target.
async function postedToGitHub(report) {
	const project = join(folder, 'posting');
	const posted = new Map();
	const github = createServer((request, answer) => {
		let body = '';
		request.on('data', (piece) => { body += piece; });
		request.on('end', () => {
			if (request.method === 'POST')
				posted.set(request.url.match(/statuses|check-runs/)[0], JSON.parse(body));
			answer.end(request.method === 'POST' ? '{}' : '{"check_runs": []}');
		});
	});
	await new Promise((resolve) => { github.listen(0, '127.0.0.1', resolve); });
	mkdirSync(project);
	writeFileSync(join(project, 'report.json'), report);
	writeFileSync(join(project, 'fastgate.yml'), `version: 1
benchmarks: [{ name: none, command: /bin/true }]
report: { post: [{ github: commit-status, required: true }, { github: check-run, required: true }] }
`);
	try {
		await promisify(execFile)(fastgate, ['report', '--post-from', 'report.json'], {
			cwd: project,
			env: {
				...process.env, GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/meteor', GITHUB_REF: 'refs/heads/main', GITHUB_SHA: 'a'.repeat(40),
				GITHUB_TOKEN: 'not-so-secret', GITHUB_API_URL: `http://127.0.0.1:${github.address().port}`,
			},
		});
	} finally {
		github.close();
	}
	return posted;
}

// The same sentence is on the run's page, on GitHub's commit status, in the inbox, in the benchmark's row, at the trend's point and in the feed; the run's page shows its verdict once.
async function oneSentence(context) {
	execFileSync(makeRuns, [join(folder, 'gated'), '--gated', '6', 'fails']);
	execFileSync(fastgate, ['push', '--quiet', '--spool', join(folder, 'gated'), '--url', base]);
	const page = await openPage(context, `${base}?view=run&project=meteor&run=latest`, options);
	const sentence = await page.locator('h1').innerText();
	assert.match(sentence, /^json\/tokenize is [\d.]+ % slower: json::Tokenizer::valid_utf8\(unsigned long\) const json\.cpp:22 \(\+[\d.]+ ms\)$/);
	const change = sentence.match(/is ([\d.]+ %)/)[1];
	const [, candidate] = (await page.locator('p.lead').innerText()).match(new RegExp(`cpu time \\+${change} .* → ([\\d.]+ ms)`));
	const said = (await page.locator('#page').innerText()).split(/\bregression\b/).length - 1;
	assert.equal(said, 2, 'the verdict: in the card, and in the list of benchmarks');
	await look(context, page, 'gated-run');
	// The same sentence in a file, and on the command line.
	const written = (...words) => execFileSync(fastgate, [words[0], 'latest', '--store', join(folder, 'perfdb.db'), '--project', 'meteor', ...words.slice(1)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
	const file = join(folder, 'meteor.html');
	written('report', '--output', file);
	const report = await openPage(context, `file://${file}`);
	assert.equal(await report.locator('h1').innerText(), sentence);
	report.noProblems();
	await report.close();
	assert.equal(written('report').split('\n')[0], sentence);
	assert.equal(JSON.parse(written('report', '--format', 'json')).answer.sentence, sentence);
	assert.equal(JSON.parse(written('explain', '--json')).answer.sentence, sentence);
	const posted = await postedToGitHub(written('report', '--format', 'json'));
	assert.equal(posted.get('statuses').description, sentence);
	assert.equal(posted.get('check-runs').output.title, sentence);
	const summary = await page.evaluate((text) => new DOMParser().parseFromString(text, 'text/html').body.textContent, posted.get('check-runs').output.summary);
	assert.ok(summary.replace(/\*/g, '').includes(sentence), summary);
	await page.goto(`${base}?view=project&project=meteor`);
	for (const section of ['open', 'benchmarks']) {
		const row = page.locator(`section[aria-labelledby=${section}] tbody tr`).first();
		await row.locator('.cause').waitFor();
		assert.equal(`json/tokenize ${await row.locator('.cause').innerText()}`, sentence, section);
		for (const number of [`+${change}`, candidate])
			assert.ok((await row.innerText()).includes(number), `${section}: ${number} is another number: ${await row.innerText()}`);
	}
	assert.match(await page.locator('p.lead').innerText(), /^1 regressed, 5 passed · \w{10} json: reject strings that are not UTF-8 \(#41\) ↗, \d+ \w+ ago · last release v1\.4$/);
	await look(context, page, 'gated-project');
	const entries = await page.evaluate(async () => {
		const answer = await fetch('/api/v1/feed?project=meteor', { headers: { Authorization: `Bearer ${sessionStorage.getItem('perfdb-token')}` } });
		return [...new DOMParser().parseFromString(await answer.text(), 'application/xml').querySelectorAll('entry')].map((entry) => entry.textContent);
	});
	assert.ok(entries.some((entry) => entry.includes(sentence)), `the feed: ${entries}`);
	await page.goto(`${base}?view=trend&project=meteor&benchmark=json/tokenize`);
	await page.locator('.plot.trend').focus();
	await page.keyboard.press('End');
	await page.locator('.plot .card', { hasText: 'slower' }).waitFor();
	assert.ok((await page.locator('.plot .card').innerText()).split('\n').includes(sentence), await page.locator('.plot .card').innerText());
	const steps = page.locator('section[aria-labelledby=steps] li');
	assert.equal(await steps.count(), 2);
	assert.match(await steps.nth(0).innerText(), /regression \w{10} json: reject strings/);
	assert.equal(await steps.nth(0).locator('.cause').innerText(), sentence);
	assert.match(await steps.nth(1).innerText(), /improvement[^]*json\/tokenize is 12\.\d % faster/);
	page.noProblems();
	await page.close();
}

// The host drifts by a fifth and the program takes two steps: the level by pairs shows only the
// steps, in commit order.
async function chainedTrend(context) {
	const page = await openPage(context, `${base}?view=trend&project=meteor&benchmark=json/tokenize`, options);
	await page.locator('figcaption', { hasText: 'the level relative to the first of 15 commits' }).waitFor();
	const levelsOf = async () => {
		const levels = [];
		await page.locator('.plot.trend').focus();
		await page.keyboard.press('Home');
		for (let i = 0; i < 15; i += 1) {
			levels.push(Number((await page.locator('.readout').innerText()).match(/: ([\d.]+) %/)[1]));
			await page.keyboard.press('ArrowRight');
		}
		return levels;
	};
	const near = (level, wanted) => assert.ok(Math.abs(level - wanted) < 1.5, `${level} instead of ${wanted}`);
	const levels = await levelsOf();
	levels.forEach((level, i) => near(level, i < 6 ? 100 : i < 14 ? 88 : 96.5));
	assert.equal(await page.locator('.plot .error-band').count(), 1);
	assert.equal(await page.locator('.plot .release').count(), 1);
	assert.deepEqual(await page.locator('.plot .step-label').allTextContents().then((all) => all.map((text) => text.replace(/\.\d /, ' '))), ['−12 %', '+10 %']);
	await look(context, page, 'chained');
	await page.setViewportSize({ width: 390, height: 800 });
	await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll('.plot text')].every((text) => text.getBoundingClientRect().right <= innerWidth));
	assert.deepEqual((await levelsOf()).map((level, i) => Math.abs(level - levels[i]) < 0.01), levels.map(() => true));
	await look(context, page, 'chained-phone');
	// The dashboard's small pictures show the same levels.
	const sparks = await page.evaluate(async () => {
		const answer = await fetch('/api/v1/dashboard?project=meteor', { headers: { Authorization: `Bearer ${sessionStorage.getItem('perfdb-token')}` } });
		return (await answer.json()).benchmarks.find(({ name }) => name === 'json/tokenize').levels;
	});
	assert.equal(sparks.length, levels.length);
	sparks.forEach((level, i) => assert.ok(Math.abs(100 * level - levels[i]) < 0.1, `${100 * level} instead of ${levels[i]}`));
	// The card disappears with the pointer, and reappears at the same point.
	const plot = page.locator('.plot.trend');
	const card = page.locator('.plot .card');
	const at = { position: { x: 200, y: 100 } };
	await plot.hover(at);
	await card.waitFor();
	await page.mouse.move(0, 0);
	await card.waitFor({ state: 'hidden' });
	await plot.hover(at);
	await card.waitFor();
	// The raw values are one choice away, and show the host's drift.
	await page.getByLabel('Shown').selectOption('raw');
	await page.locator('figcaption', { hasText: ': 14 runs' }).waitFor();
	assert.equal(await page.locator('.plot .error-band').count(), 0);
	page.noProblems();
	await page.close();
}

// Small steps that all passed: the function is on the dashboard, their sum in the trend, and one sentence on the run's page and in
// the feed. The dashboard also shows how far the gate can be trusted.
async function creepingProject(context) {
	execFileSync(makeRuns, [join(folder, 'slowly'), '--gated', '6', 'creeps']);
	execFileSync(fastgate, ['push', '--quiet', '--spool', join(folder, 'slowly'), '--url', base]);
	await sendCards(base, token, 'slowly');
	const page = await openPage(context, `${base}?view=project&project=slowly`, options);
	assert.match(await page.locator('p.lead').innerText(), /^5 crept up, 1 passed/);
	const crept = page.locator('section[aria-labelledby=creep]');
	await crept.waitFor();
	assert.match(await crept.innerText(), /across 5 benchmarks[^]*json::Tokenizer::valid_utf8\(unsigned long\) const\s+json-bench\s+\+[56]\.\d %\s+5$/);
	const proof = page.locator('section[aria-labelledby=proof] tbody tr');
	assert.match(await proof.nth(0).innerText(), /fedcba98[^]*broken[^]*2 of 12\s+at most 38 %/);
	assert.match(await proof.nth(1).innerText(), /01234567[^]*0 of 60\s+at most 4\.9 %\s+2 %\s+1 %: 31 of 40, 2 %: 39 of 40\s+38 of 39\s+4\.2 min\s+more pairs: 2 % → 1\.4 %/);
	await look(context, page, 'creeping');
	await page.goto(`${base}?view=trend&project=slowly&benchmark=json/tokenize`);
	await page.locator('p.possible', { hasText: /^Crept up: cpu time \+[456]\.\d % \[.*\] over 14 commits since \w{10}; no step above 0\.\d %; largest steps: / }).waitFor();
	await page.goto(`${base}?view=run&project=slowly&run=latest`);
	const heading = page.locator('h1', { hasText: /crept up: cpu time \+[456]\.\d % in 14 commits since \w{10}; 4 more benchmarks crept up$/ });
	await heading.waitFor();
	const sentence = await heading.innerText();
	await look(context, page, 'creeping-run');
	const history = execFileSync(fastgate, ['history', '--store', join(folder, 'perfdb.db'), '--project', 'slowly'], { encoding: 'utf8' });
	assert.match(history, /functions that crept up across several benchmarks:\n {2}\+[56]\.\d % of the time of 5 benchmarks: json::Tokenizer::valid_utf8/);
	const feed = await fetch(`${base}api/v1/feed?project=slowly`, { headers: { Authorization: `Bearer ${token}` } });
	assert.ok((await feed.text()).replaceAll('&lt;', '<').replaceAll('&gt;', '>').includes(`slowly: ${sentence}`), 'the feed');
	page.noProblems();
	await page.close();
}

// Every error page keeps the navigation and has a link that leads on.
async function deadEnds(context) {
	execFileSync(makeRuns, [join(folder, 'unmeasured'), '--unmeasured']);
	execFileSync(fastgate, ['push', '--quiet', '--spool', join(folder, 'unmeasured'), '--url', base]);
	const page = await openPage(context, `${base}?view=project&project=broken`, options);
	await page.getByRole('link', { name: 'never' }).click();
	await page.getByText('No measurement is stored').waitFor();
	await look(context, page, 'unmeasured');
	await page.locator('ul.found a').first().click();
	await page.locator('header p', { hasText: 'broken' }).waitFor();
	page.noProblems();

	await page.goto(`${base}?view=trend&project=tracker&benchmark=none`);
	await page.getByRole('heading', { name: 'Page not found' }).waitFor();
	await page.getByText("no benchmark 'none' was ever stored").waitFor();
	await checkAccessibility(context, page, 'not-found');
	assert.equal((await page.goto(`${base}nothing/here`)).status(), 404);
	await page.getByRole('heading', { name: 'Page not found' }).waitFor();
	await page.locator('body').press('Control+k');
	await page.keyboard.type('pars');
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: 'Search: pars' }).waitFor();
	await checkAccessibility(context, page, 'search');
	await page.getByRole('link', { name: 'parse' }).first().click();
	await page.getByRole('heading', { name: 'Changes', exact: true }).waitFor();
	await page.locator('body').press('/');
	await page.keyboard.type('LOOP<STD');
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: 'Functions' }).waitFor();
	await page.getByRole('link', { name: /^guilty::Loop/ }).last().click();
	await page.getByRole('heading', { name: /^guilty::Loop/ }).waitFor();
	await page.locator('body').press('/');
	await page.keyboard.type('table of WORDS');
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { name: 'Commits' }).waitFor();
	await page.getByRole('link', { name: /keep the table of words/ }).first().click();
	await page.locator('#benchmark').waitFor();
	await page.close();

	// While the server does not answer, the page says so; afterwards it continues by itself.
	const gone = await openPage(context, base, options);
	let isGone = true;
	await gone.route('**/api/v1/**', (route) => (isGone ? route.abort('connectionrefused') : route.continue()));
	await gone.getByRole('link', { name: 'tracker' }).last().click();
	await gone.getByText('The server does not answer.').waitFor();
	await checkAccessibility(context, gone, 'server gone');
	isGone = false;
	// Clicks at once if there is a button: the page may have retried by itself, and the button may be gone.
	await gone.evaluate(() => document.querySelector('#banner button')?.click());
	await gone.getByRole('heading', { name: 'Benchmarks' }).waitFor();
	// A link is not followed while the server is down.
	await gone.route('**/*', (route) => (isGone ? route.abort('connectionrefused') : route.continue()));
	isGone = true;
	await gone.getByRole('link', { name: 'Runs', exact: true }).click();
	await gone.getByText('The server does not answer.').waitFor();
	isGone = false;
	await gone.evaluate(() => document.querySelector('#banner button')?.click());
	await gone.getByRole('heading', { name: 'Runs' }).waitFor();
	await gone.locator('#banner *').first().waitFor({ state: 'detached' });
	await gone.close();
}

// From a run to its neighbours and its history; Back undoes one zoom, and does not leave the page.
async function backThroughZooms(context) {
	const page = await openPage(context, `${base}?view=run&run=latest`, options);
	assert.equal(await page.getByRole('link', { name: /^next:/ }).count(), 0);
	await page.goto(`${base}?view=run&run=${await page.evaluate(async () => (await (await fetch('/api/v1/runs?project=tracker&limit=2',
		{ headers: { Authorization: `Bearer ${sessionStorage.getItem('perfdb-token')}` } })).json()).runs[1].id)}`);
	await page.getByRole('link', { name: /^next:/ }).waitFor();
	const next = page.url();
	await page.getByRole('link', { name: /^‹ previous:/ }).click();
	await page.waitForURL((url) => url.href !== next); // both runs have the tab
	await openTab(page, 'Flame');
	const node = () => page.evaluate(() => Number(new URLSearchParams(location.hash.slice(1)).get('node')));
	const zoomed = (wanted) => page.waitForFunction((number) => Number(new URLSearchParams(location.hash.slice(1)).get('node')) === number, wanted);
	await page.locator('.flame').focus();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => location.hash.includes('node='));
	const first = await node();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await page.waitForFunction((number) => Number(new URLSearchParams(location.hash.slice(1)).get('node')) > number, first);
	await page.goBack();
	await zoomed(first);
	await page.goBack();
	await zoomed(0);
	await page.getByRole('button', { name: 'Whole program', disabled: true }).waitFor();
	// Other views of the same paths, each with its own address.
	for (const [view, words] of [['beside', 'baseline'], ['inverted', null], ['sandwich', /^Callers of /]]) {
		await page.getByLabel('View of the call paths').selectOption(view);
		if (words)
			await page.getByRole('heading', { name: words, exact: typeof words === 'string' }).waitFor();
		await page.waitForFunction((name) => new URLSearchParams(location.hash.slice(1)).get('view') === name, view);
		await look(context, page, `flame-${view}`);
	}
	const linked = await openPage(context, await page.evaluate(() => location.href), options);
	await linked.getByRole('heading', { name: /^Callers of / }).waitFor();
	await linked.locator('.flame').last().hover({ position: { x: 40, y: 8 } });
	await linked.locator('.tip:visible').waitFor();
	linked.noProblems();
	await linked.close();

	await page.goto(`${base}?view=compare&project=tracker`);
	await page.locator('#names option').nth(1).waitFor({ state: 'attached' });
	const [newest, before] = await page.locator('#names option').evaluateAll((options) => options.map((option) => option.value));
	await page.getByLabel('Baseline').fill(before);
	await page.getByLabel('Candidate').fill(newest);
	await checkAccessibility(context, page, 'picker');
	const verdict = page.waitForRequest((request) => request.url().includes('/api/v1/verdict'));
	await page.getByRole('button', { name: 'Compare' }).click();
	assert.equal(new URL((await verdict).url()).searchParams.get('project'), 'tracker', 'names are looked up in the project');
	const elsewhere = await fetch(`${base}api/v1/verdict?project=nobody&a=latest~1&b=latest`, { headers: { Authorization: `Bearer ${token}` } });
	assert.equal(elsewhere.status, 404, 'a name that this project does not have');
	await openTab(page, 'History');
	await page.locator('.plot.trend .point').first().waitFor();
	await page.getByRole('link', { name: 'Whole trend' }).click();
	await page.getByRole('heading', { name: 'Changes', exact: true }).waitFor();
	page.noProblems();
	await page.close();
}

// An empty server and the sign-in page show instructions, command by command.
async function firstRun(context) {
	const page = await openPage(context, base, options);
	for (const words of ['perfdb token create --scope upload', `export PERFDB_URL=${base} PERFDB_TOKEN=`, 'fastgate push latest'])
		await page.locator('ol.guide pre', { hasText: words }).waitFor();
	await look(context, page, 'empty');
	await page.close();
	const stranger = await openPage(context, base, { allow: options.allow, ready: 'input[name=token]' });
	await stranger.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
	await stranger.getByText('perfdb token create --scope read').waitFor();
	await checkAccessibility(context, stranger, 'sign-in');
	await stranger.getByLabel('Token').fill(token);
	await stranger.getByRole('button', { name: 'Sign in' }).click();
	await stranger.locator('ol.guide').waitFor();
	await openMenu(stranger);
	await stranger.getByRole('button', { name: 'Sign out' }).click();
	await stranger.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
	await stranger.close();
}

// From the dashboard to the guilty function, with notes, a decision, and any two runs compared.
async function changeToFunction(context) {
	const page = await openPage(context, base, options);
	await page.getByRole('heading', { name: 'Benchmarks' }).waitFor();
	await look(context, page, 'project');
	assert.equal(await page.getByLabel('Project', { exact: true }).locator('option:checked').innerText(), 'tracker');
	assert.equal(await page.locator('#account summary').innerText(), 'the tests');
	assert.equal(await page.locator('#places [aria-current=page]').innerText(), 'Dashboard');
	assert.match(await page.locator('p.lead').innerText(), /^1 benchmark; the newest run has no verdict · \w{10} keep the table of words ↗, \d+ \w+ ago$/);
	await page.locator('svg.spark').waitFor();
	assert.match(await page.locator('section[aria-labelledby=benchmarks] tbody tr').innerText(), /parse[^]*2\d\d ms\s+cpu time/);

	// Once the search is done, lasting changes are listed at the top, where they can be decided on.
	const open = page.locator('section[aria-labelledby=open]');
	await open.locator('tbody tr').first().waitFor();
	assert.match(await open.locator('tbody tr').innerText(), /^parse\s+\+30\.\d %\s+cpu time, 2\d\d ms → 2\d\d ms\s+\w{10}\+? keep the table of words\s+An Author · what changed · since this run\s+\d+ \w+ ago\s+nobody/);
	await open.getByPlaceholder('why').fill('asked Ann');
	await open.getByRole('button', { name: 'Save' }).click();
	await page.locator('#status').getByText('Saved: the change is new.').waitFor();
	await page.getByRole('button', { name: 'Close' }).click();
	assert.equal(await page.locator('#status').innerText(), '');
	await look(context, page, 'project-changes');
	await open.getByRole('combobox').selectOption('fixed');
	await open.getByRole('button', { name: 'Save' }).click();
	await open.getByText('None: every failed gate').waitFor();

	// From the step in the trend, with a note about it, to the two runs around it.
	await page.getByRole('link', { name: 'parse' }).first().click();
	await page.getByRole('heading', { name: 'Changes' }).waitFor();
	await look(context, page, 'trend');
	assert.equal(await page.getByLabel('Metric').locator('option:checked').innerText(), 'cpu time');
	// The chart's axis has the start times of its runs: all on one day, so it shows hours.
	assert.match((await page.locator('.plot svg text.tick').allTextContents()).join(' '), /\d\d:\d\d \d\d:\d\d/);
	const change = page.locator('section[aria-labelledby=changes] li');
	assert.equal(await change.count(), 1);
	assert.match(await change.innerText(), /\+30\.\d %[^]*git log \w{12}\.\.\w{12}[^]*fastgate bisect \w{12} \w{12} --bench parse/);
	await change.getByRole('combobox').selectOption('investigating');
	await change.getByPlaceholder('why').fill('<i>who</i> knows');
	await change.getByRole('button', { name: 'Save' }).click();
	await page.getByText('Saved: the change is investigating.').waitFor();
	await page.reload();
	assert.equal(await change.getByRole('combobox').inputValue(), 'investigating');
	assert.equal(await change.getByPlaceholder('why').inputValue(), '<i>who</i> knows');
	await change.getByRole('link', { name: 'compare with the previous run' }).click();
	await openTab(page, 'Functions');
	const guilty = page.locator('section[aria-labelledby=functions] tbody tr').first();
	await guilty.waitFor();
	await look(context, page, 'compare');
	assert.match(await page.locator('header ul.notes').innerText(), /two sessions.*to be sure: fastgate run --candidate \w{12} --against \w{12}/);
	assert.equal((await page.locator('#page').innerText()).match(/two sessions/g).length, 1, 'said more than once');
	// Earlier sessions show how much sessions differ.
	assert.equal(await page.getByText('cannot be judged against a stored run yet').count(), 0);
	assert.match(await page.locator('header .badge').innerText(), /regression/);
	assert.match(await page.locator('header').innerText(), /parse is 30\.\d % slower: guilty::Loop<std::vector<int>>::spin\(int\)/);
	assert.match(await guilty.innerText(), /^guilty::Loop/);
	await page.locator('section[aria-labelledby=functions]').getByRole('searchbox').fill('guilty');
	const compared = await page.evaluate(() => location.href);
	assert.match(compared, /#.*filter=guilty/);

	await guilty.getByRole('link').click();
	await page.waitForURL(/view=function/);
	await page.getByRole('heading', { name: /guilty::Loop/ }).waitFor();
	await look(context, page, 'function');

	// A link contains the whole view.
	const again = await openPage(context, compared, options);
	await again.locator('section[aria-labelledby=functions] tbody tr').first().waitFor();
	assert.equal(await again.locator('section[aria-labelledby=functions] tbody tr').count(), 1);
	again.noProblems();
	await again.close();

	assert.equal(await page.locator('section[aria-labelledby=changes] li').count(), 1);
	await page.getByRole('link', { name: 'parse' }).first().click();
	await page.getByRole('heading', { name: 'Notes' }).waitFor();
	await page.getByLabel('Note', { exact: true }).fill('<b onmouseover=alert(3)>known</b>');
	await page.getByRole('button', { name: 'Add' }).click();
	await page.getByText('<b onmouseover=alert(3)>known</b>').waitFor();
	await look(context, page, 'trend-with-note');
	await page.getByLabel('Note', { exact: true }).fill('about one run');
	await page.getByLabel('About').selectOption({ index: 2 });
	await page.getByRole('button', { name: 'Add' }).click();
	await page.locator('.plot .note-mark').waitFor();
	await page.getByRole('button', { name: 'Remove the note: about one run' }).click();
	await page.locator('.plot .note-mark').waitFor({ state: 'detached' });
	await page.getByRole('button', { name: /^Remove the note/ }).click();
	await page.getByText('Note removed.').waitFor();
	await page.getByText('onmouseover').waitFor({ state: 'detached' });
	page.noProblems();

	// A zoom changes the address, and Back undoes it.
	await page.getByRole('button', { name: 'Zoom in' }).click();
	await page.waitForFunction(() => location.search.includes('from='));
	const zoomed = await openPage(context, await page.evaluate(() => location.href), options);
	await zoomed.getByText('8 of 16 runs').waitFor();
	await zoomed.close();
	await page.goBack();
	await page.locator('figcaption', { hasText: ': 16 runs' }).waitFor();

	// Any two runs can be chosen from the list, and the comparison can be limited to some of their pairs.
	await page.getByRole('link', { name: 'Runs', exact: true }).click();
	const rows = page.locator('main tbody tr');
	await rows.first().waitFor();
	await look(context, page, 'runs');
	assert.equal(await rows.count(), 16);
	await rows.nth(1).getByRole('button', { name: /^baseline/ }).click();
	await rows.nth(0).getByRole('button', { name: /^candidate/ }).click();
	await page.getByRole('link', { name: 'Compare A with B' }).click();
	await openTab(page, 'Flame');
	await page.getByText('Repetitions over time').click();
	await page.getByLabel('Pairs from').fill('1');
	await page.getByLabel('to', { exact: true }).fill('4');
	await page.getByRole('button', { name: 'Only these' }).click();
	await page.getByText('Only pairs 1 to 4').waitFor();
	await page.locator('section[aria-labelledby=regions] tbody tr').first().waitFor({ state: 'attached' });
	await look(context, page, 'pairs-alone');
	const alone = await page.evaluate(() => location.href);
	assert.match(alone, /pairs=1-4/);
	await page.close();
	const linked = await openPage(context, alone, options);
	await linked.getByText('Only pairs 1 to 4').waitFor();
	linked.noProblems();
	await linked.close();

	const dark = await openPage(context, `${base}?view=project&project=tracker`, { ...options, dark: true, width: 390, height: 800 });
	await dark.getByRole('heading', { name: 'Benchmarks' }).waitFor();
	await look(context, dark, 'dark-narrow');
	await dark.close();

	for (const [name, more] of [['trend-narrow', { width: 360, height: 740 }], ['trend-dark', { dark: true }]]) {
		const trend = await openPage(context, `${base}?view=trend&project=tracker&benchmark=parse`, { ...options, ...more });
		await trend.getByRole('heading', { name: 'Notes' }).waitFor();
		await look(context, trend, name);
		const [wide, view] = await trend.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
		assert.ok(wide <= view, `${name}: ${wide} > ${view}`);
		await trend.close();
	}

	// A possible change is shown, and marked as unconfirmed.
	let shownPoints = [];
	const maybe = await openPage(context, `${base}?view=project&project=tracker`, options);
	await maybe.route('**/api/v1/trend?*', async (route) => {
		const answer = await (await route.fetch()).json();
		shownPoints = answer.points.length > 0 ? answer.points : shownPoints;
		const [before, last] = shownPoints.slice(-2);
		await route.fulfill({ json: { ...answer, changes: [], possible_change: { at: shownPoints.length - 1, run: last.run, last_run_before: before.run,
			before: 2e8, after: 2.6e8, ratio: 1.3, runs: 1, runs_needed: 5 } } });
	});
	await maybe.getByRole('link', { name: 'parse' }).first().click();
	await maybe.getByText('Possible change at the newest run: +30.0 %').waitFor();
	await maybe.getByText('not yet confirmed (1 of 5 runs)').waitFor();
	await look(context, maybe, 'possible');
	await maybe.getByRole('link', { name: 'Compare with the previous run' }).click();
	await maybe.locator('#benchmark').waitFor();
	await maybe.close();
}

async function prepare(context) {
	await inTime(firstRun(context), 'firstRun');
	execFileSync(makeRuns, [join(folder, 'spool')]);
	execFileSync(fastgate, ['push', '--quiet', '--spool', join(folder, 'spool'), '--url', base]);
}

try {
	await runTests({
		changeToFunction, hostileNames, sourceLinks, tokens, limits, entry, deadEnds, backThroughZooms, failedGate, oneSentence, chainedTrend,
		creepingProject, importedProfiles, localPages,
	}, prepare);
} finally {
	await stop();
}
