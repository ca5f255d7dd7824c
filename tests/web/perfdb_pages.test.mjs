// SPDX-License-Identifier: Apache-2.0
// Opens each page of perfdb in both schemes with all its tabs: node perfdb_pages.test.mjs PERFDB FASTGATE MAKE-RUNS

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { openPage, openTab, runTests, sendCards } from './browser.mjs';
import { look, startPerfdb } from './perfdb.mjs';

const [perfdb, fastgate, makeRuns] = process.argv.slice(2);
const { base, folder, options, stop, token } = await startPerfdb(perfdb);

async function uploadRuns() {
	for (const [project, benchmarks, outcome] of [['meteor', '6', 'fails'], ['slowly', '6', 'creeps'], ['containers', '60', 'fails']]) {
		execFileSync(makeRuns, [join(folder, project), '--gated', benchmarks, outcome]);
		execFileSync(fastgate, ['push', '--quiet', '--spool', join(folder, project), '--url', base]);
	}
	await sendCards(base, token, 'slowly');
}

async function everyPage(context) {
	const pages = {
		'view=projects': [], 'view=changes&project=meteor': [], 'view=project&project=containers': [], 'view=project&project=meteor': [], 'view=project&project=slowly': [],
		'view=runs&project=meteor': [], 'view=search&q=utf8': [], 'view=tokens': [], 'view=webhook': [], 'view=compare&project=meteor': [],
		'view=trend&project=meteor&benchmark=json/tokenize': [], 'view=trend&project=meteor&benchmark=json/tokenize&shown=raw': [],
		'view=function&project=meteor&benchmark=json/tokenize&name=main&library=json-bench': [],
		'view=run&project=meteor&run=latest': ['Cause', 'Flame', 'Functions', 'History', 'Data'], 'view=run&project=containers&run=latest': ['Cause'],
		'view=compare&project=meteor&a=latest~1&b=latest': ['Cause', 'Flame', 'Functions', 'History', 'Data'],
	};
	const page = await openPage(context, base, options);
	for (const [query, tabs] of Object.entries(pages)) {
		await page.goto(`${base}?${query}`);
		for (const tab of tabs.length > 0 ? tabs : [null]) {
			await page.locator('#page[data-ready=true]').waitFor({ state: 'attached' });
			if (tab)
				await openTab(page, tab);
			await page.evaluate(() => document.querySelectorAll('main details').forEach((details) => { details.open = true; }));
			for (const [colorScheme, width] of [['light', 1280], ['dark', 390]]) {
				await page.emulateMedia({ colorScheme });
				await page.setViewportSize({ width, height: 900 });
				await look(context, page, `${query.replace(/\W+/g, '-')}-${tab ?? ''}-${colorScheme}`, colorScheme === 'dark');
				const [all, shown] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
				assert.ok(all <= shown, `${query} ${tab}: ${all} pixels are wider than ${width}`);
			}
		}
	}
	await page.close();
}

try {
	await runTests({ everyPage }, uploadRuns);
} finally {
	await stop();
}
