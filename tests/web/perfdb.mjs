// SPDX-License-Identifier: Apache-2.0
// A perfdb server for the browser tests.

import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { checkAccessibility, inTime, pictures, scratchFolder } from './browser.mjs';

// Starts `perfdb serve` or `fastgate web`.
export function serve(program, words, { env = process.env, ...place } = {}) {
	const { FASTGATE_PERFDB: _, ...environment } = env; // the program finds the perfdb installed with it
	const server = spawn(program, words, { ...place, stdio: ['ignore', 'ignore', 'pipe'], env: environment });
	return new Promise((resolve, reject) => {
		let output = '';
		const stop = () => {
			server.removeAllListeners('exit');
			server.kill('SIGTERM');
			return inTime(new Promise((ended) => { server.on('exit', ended); }), 'stopping the server');
		};
		server.stderr.on('data', (piece) => {
			output += piece;
			const found = output.match(/at (http:\/\/[^\s]+)/);
			if (found)
				resolve({ base: found[1], stop });
		});
		server.on('exit', () => reject(new Error(output)));
	});
}

// A server without tokens accepts nothing from a browser, so the pages that write have a token, which belongs to
// `user`.
export async function startPerfdb(perfdb, user = 'the tests') {
	const folder = scratchFolder();
	const database = join(folder, 'perfdb.db');
	const token = execFileSync(perfdb, ['token', 'create', '--database', database, '--scope', 'admin', '--note', user],
		{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
	process.env.PERFDB_TOKEN = token;
	const { base, stop } = await serve(perfdb, ['serve', '--quiet', '--database', database, '--listen', '127.0.0.1:0']);
	return { base, folder, options: { allow: (url) => url.startsWith(base), session: { 'perfdb-token': token } }, stop, token };
}

export async function look(context, page, name, again = false) {
	await page.locator('#page[data-ready=true]').waitFor({ state: 'attached' });
	await checkAccessibility(context, page, name, again);
	if (pictures)
		await page.screenshot({ path: join(pictures, `perfdb-${name}.png`), fullPage: true });
	page.noProblems();
}
