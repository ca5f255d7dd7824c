// SPDX-License-Identifier: Apache-2.0
// Tests our exports in speedscope's importer, in a real browser.
// usage: speedscope.test.mjs WRITE_EXPORTS

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { HUNG_MS, scratchFolder, withBrowser } from './browser.mjs';

const require = createRequire(import.meta.url);
if (!existsSync(join(import.meta.dirname, 'node_modules', 'speedscope'))) {
	console.log("skipped: run 'npm ci' in tests/web first");
	process.exit(77);
}
const release = join(dirname(require.resolve('speedscope/package.json')), 'dist', 'release');
const folder = scratchFolder();
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };

// The importer's title bar shows the file and the number of profiles (threads).
const CASES = [
	{ file: 'known.folded', says: 'known.folded' },
	{ file: 'known.pb.gz', says: 'known.pb.gz' },
	{ file: 'known.trace.json', says: 'known.trace.json' },
];

function serve() {
	const server = createServer((request, response) => {
		const name = basename(new URL(request.url, 'http://localhost').pathname) || 'index.html';
		const path = [join(release, name), join(folder, name)].find(existsSync);
		if (!path) {
			response.writeHead(404).end();
			return;
		}
		response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' });
		createReadStream(path).pipe(response);
	});
	return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function checkImport(context, port, { file, says }) {
	const page = await context.newPage();
	const problems = [];
	page.on('pageerror', (error) => problems.push(error.message));
	page.on('dialog', (dialog) => {
		problems.push(dialog.message());
		dialog.dismiss();
	});
	const origin = `http://127.0.0.1:${port}`;
	await page.goto(`${origin}/index.html#profileURL=${encodeURIComponent(`${origin}/${file}`)}&title=${file}`);
	await page.waitForFunction(() => document.body.innerText.includes('Sandwich'), undefined, { timeout: HUNG_MS });
	const shown = await page.evaluate(() => document.body.innerText);
	assert.deepEqual(problems, [], file);
	assert.ok(shown.includes(says), `${file}: '${says}' is not in: ${shown}`);
	await page.getByText('Sandwich').click();
	// The table's rows are drawn after its head.
	const row = file === 'known.trace.json' ? 'Total' : 'fit(Track&)';
	await page.waitForFunction((text) => document.body.innerText.includes(text), row, { timeout: HUNG_MS }).catch(async () => {
		assert.fail(`${file}: '${row}' is not in: ${await page.evaluate(() => document.body.innerText)}`);
	});
	await page.close();
}

execFileSync(process.argv[2], [folder]);
const server = await serve();
await withBrowser(async (context) => {
	for (const one of CASES)
		await checkImport(context, server.address().port, one);
});
server.close();
console.log('speedscope reads every export that it knows');
