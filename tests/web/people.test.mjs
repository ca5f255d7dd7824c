// SPDX-License-Identifier: Apache-2.0
// Signing in with a real browser and a real identity server: node people.test.mjs PERFDB

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkAccessibility, openPage, scratchFolder, withBrowser } from './browser.mjs';

const [perfdb] = process.argv.slice(2);
const here = fileURLToPath(new URL('.', import.meta.url));
const folder = scratchFolder();
const database = join(folder, 'perfdb.db');
const PUBLIC = 'http://perfdb.test';
const pictures = process.env.FASTGATE_SCREENSHOTS;
if (!existsSync(join(here, 'node_modules/oidc-provider'))) {
	console.log("skipped: run 'npm ci' in tests/web first");
	process.exit(77);
}
if (pictures)
	mkdirSync(pictures, { recursive: true });
writeFileSync(join(folder, 'secret'), 'of this test\n');

const identity = spawn('node', [join(here, 'identity_server.mjs'), 'of this test', `${PUBLIC}/sign-in/done`], { stdio: ['pipe', 'pipe', 'ignore'] });
const issuer = String((await once(identity.stdout, 'data'))[0]).trim();
execFileSync(perfdb, ['role', 'add', 'root@example.org', '--database', database, '--scope', 'admin']);
const server = spawn(perfdb, ['serve', '--quiet', '--database', database, '--listen', '127.0.0.1:0', '--public-url', PUBLIC, '--oidc-issuer', issuer,
	'--oidc-client', 'perfdb', '--oidc-secret-file', join(folder, 'secret')], { stdio: ['ignore', 'ignore', 'pipe'] });
const port = await new Promise((resolve, reject) => {
	let words = '';
	server.stderr.on('data', (piece) => {
		words += piece;
		const found = words.match(/ at http:\/\/[^:]+:(\d+)\//);
		if (found)
			resolve(found[1]);
	});
	server.on('exit', () => reject(new Error(words)));
});

// Errors of the console are expected here: a 401 is how a page learns that nobody is signed in.
async function open(context) {
	const page = await openPage(context, `${PUBLIC}/?view=people`, { allow: () => true });
	await page.getByRole('heading', { name: 'Sign in' }).waitFor();
	return page;
}

async function signIn(page, name) {
	await page.getByRole('link', { name: 'Sign in' }).click();
	await page.getByPlaceholder('Enter any login').fill(name);
	await page.getByPlaceholder('and password').fill('any');
	await page.getByRole('button', { name: 'Sign-in' }).click();
	await page.getByRole('button', { name: 'Continue' }).click();
	await page.waitForURL(`${PUBLIC}/**`);
}

async function look(context, page, name) {
	for (const [width, dark] of [[1280, false], [390, true]]) {
		await page.setViewportSize({ width, height: 800 });
		await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
		await checkAccessibility(context, page, `${name} at ${width}`);
		if (pictures)
			await page.screenshot({ path: join(pictures, `${name}-${width}.png`) });
	}
	await page.setViewportSize({ width: 1280, height: 900 });
}

try {
	await withBrowser(async (context) => {
		const page = await open(context);
		await look(context, page, 'sign-in');
		await signIn(page, 'root');
		await page.getByRole('heading', { name: 'People' }).waitFor(); // back where it began
		assert.equal(await page.locator('#who span').innerText(), 'root@example.org');
		await page.getByLabel('Who').fill('<b>ann</b>@example.org');
		await page.getByLabel('May').selectOption('triage');
		await page.getByRole('button', { name: 'Give' }).click();
		await page.getByRole('cell', { name: '<b>ann</b>@example.org' }).waitFor();
		await look(context, page, 'people');
		await page.getByRole('button', { name: 'Remove the role triage of <b>ann</b>@example.org' }).click();
		await page.getByRole('cell', { name: '<b>ann</b>@example.org' }).waitFor({ state: 'detached' });
		await page.getByRole('button', { name: 'Sign out' }).click();
		await page.getByRole('heading', { name: 'Sign in' }).waitFor();
		await page.goto(`${PUBLIC}/sign-in/done?code=x&state=y`);
		await page.getByRole('heading', { name: 'Not signed in' }).waitFor();
		await look(context, page, 'not-signed-in');
	}, [`--host-resolver-rules=MAP perfdb.test:80 127.0.0.1:${port}`]);
	console.log('ok      people sign in, give roles and sign out');
} finally {
	server.removeAllListeners('exit');
	server.kill('SIGTERM');
	identity.stdin.end();
}
