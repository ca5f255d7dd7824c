// SPDX-License-Identifier: Apache-2.0
// The pages of perfdb in a real browser: node perfdb.test.mjs PERFDB FASTGATE MAKE-RUNS
// Runs are sent by the real client to a real server; the guilty function is found by clicking.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkAccessibility, openPage, scratchFolder, withBrowser } from './browser.mjs';

const [perfdb, fastgate, makeRuns] = process.argv.slice(2);
const folder = scratchFolder();
const pictures = process.env.FASTGATE_SCREENSHOTS;
if (pictures)
	mkdirSync(pictures, { recursive: true });

function serve() {
	const server = spawn(perfdb, ['serve', '--quiet', '--database', join(folder, 'perfdb.db'), '--listen', '127.0.0.1:0'],
		{ stdio: ['ignore', 'ignore', 'pipe'] });
	return new Promise((resolve, reject) => {
		let words = '';
		server.stderr.on('data', (piece) => {
			words += piece;
			const found = words.match(/at (http:\/\/[^\s]+)/);
			if (found)
				resolve({ server, base: found[1] });
		});
		server.on('exit', () => reject(new Error(words)));
	});
}

async function look(context, page, name) {
	await page.waitForFunction(() => document.getElementById('status').textContent !== 'Loading…');
	await checkAccessibility(context, page, name);
	if (pictures)
		await page.screenshot({ path: join(pictures, `perfdb-${name}.png`), fullPage: true });
	page.noProblems();
}

const { server, base } = await serve();
const options = { allow: (url) => url.startsWith(base) };
try {
	execFileSync(makeRuns, [join(folder, 'spool')]);
	execFileSync(fastgate, ['push', '--quiet', '--spool', join(folder, 'spool'), '--url', base]);
	await withBrowser(async (context) => {
		const page = await openPage(context, base, options);
		await page.getByRole('link', { name: 'tracker' }).click();
		await page.getByRole('heading', { name: 'Runs' }).waitFor();
		await look(context, page, 'project');
		assert.equal(await page.locator('section[aria-labelledby=runs] tbody tr').count(), 8);

		// The last two runs: the newest is the candidate.
		const rows = page.locator('section[aria-labelledby=runs] tbody tr');
		await rows.nth(1).getByRole('button', { name: /^baseline/ }).click();
		await rows.nth(0).getByRole('button', { name: /^candidate/ }).click();
		await page.getByRole('link', { name: 'Compare A with B' }).click();
		const guilty = page.locator('section[aria-labelledby=functions] tbody tr').first();
		await guilty.waitFor();
		await look(context, page, 'compare');
		assert.match(await guilty.innerText(), /^guilty::Loop/);
		await page.locator('section[aria-labelledby=functions]').getByRole('searchbox').fill('guilty');
		const compared = await page.evaluate(() => location.href);
		assert.match(compared, /#.*filter=guilty/);

		await guilty.getByRole('link').click();
		await page.getByRole('heading', { name: /guilty::Loop/ }).waitFor();
		await look(context, page, 'function');

		// A link holds the whole view.
		const again = await openPage(context, compared, options);
		await again.locator('section[aria-labelledby=functions] tbody tr').first().waitFor();
		assert.equal(await again.locator('section[aria-labelledby=functions] tbody tr').count(), 1);
		again.noProblems();
		await again.close();

		await page.getByRole('link', { name: 'parse' }).click();
		await page.getByRole('heading', { name: 'Notes' }).waitFor();
		await look(context, page, 'trend');
		await page.getByLabel('Note', { exact: true }).fill('<b onmouseover=alert(3)>known</b>');
		await page.getByRole('button', { name: 'Add' }).click();
		await page.getByText('<b onmouseover=alert(3)>known</b>').waitFor();
		await look(context, page, 'trend-with-note');
		await page.close();

		const dark = await openPage(context, `${base}?view=project&project=tracker`, { ...options, dark: true, width: 390, height: 800 });
		await dark.getByRole('heading', { name: 'Runs' }).waitFor();
		await look(context, dark, 'dark-narrow');
		await dark.close();

		const wrong = await openPage(context, `${base}?view=trend&project=tracker&benchmark=none`, { allow: options.allow });
		await wrong.getByRole('heading', { name: 'This cannot be shown' }).waitFor();
		await wrong.close();
	});
	console.log('ok');
} finally {
	server.removeAllListeners('exit');
	server.kill('SIGTERM');
}
