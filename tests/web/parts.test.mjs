// SPDX-License-Identifier: Apache-2.0
// The parts of the pages as a server delivers them: single modules, under a strict policy, without a network (the test answers
// the requests).

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkAccessibility, openPage, runTests } from './browser.mjs';

const folders = ['../../reporters/web/', '../../perfdb/web/'].map((folder) => new URL(folder, import.meta.url).pathname);
const origin = 'http://parts.test/';
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:";

const trendPage = `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>trend</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css"><main id="page"><h1>Trend</h1></main><script type="module" src="trend-test.js"></script>`;
const trendScript = `import { trendChart } from './chart.js';
const count = Number(new URLSearchParams(location.search).get('count'));
const points = Array.from({ length: count }, (_, i) => ({ value: i === 3 ? null : 2e8 * (i >= count / 2 ? 1.05 : 1) * (1 + ((i * 7919) % 100 - 50) / 5000),
	label: 'run ' + i, verdict: i % 20 === 7 ? 'regression' : 'pass', tag: i === 12 ? 'v1.2' : undefined, run: 'r' + i, time: new Date(1.7e12 + i * 6e4).toISOString() }));
const page = document.getElementById('page');
const range = new URLSearchParams(location.search).get('range');
const chart = trendChart({ title: 'cpu time of parse', unit: 'ns', points, changes: count > 1 ? [{ index: Math.ceil(count / 2), before: 2e8, after: 2.1e8 }] : [],
	threshold: 0.01, range: range ? range.split('-').map(Number) : null, onRange: (shown) => { document.title = shown ? shown.join('-') : 'all'; },
	card: async (point) => ['subject of ' + point.label], onPick: (point) => { document.title = point.label; } });
page.append(chart.element);
window.chart = chart;
requestAnimationFrame(() => { page.dataset.ready = 'true'; });`;

async function serve(context) {
	await context.route(`${origin}**`, (route) => {
		const name = basename(new URL(route.request().url()).pathname) || 'trend.html';
		const made = { 'trend.html': ['text/html', trendPage], 'trend-test.js': ['text/javascript', trendScript] }[name];
		const [type, body] = made ?? [name.endsWith('.css') ? 'text/css' : 'text/javascript', readFileSync(folders.map((folder) => join(folder, name)).find(existsSync), 'utf8')];
		return route.fulfill({ contentType: `${type}; charset=utf-8`, body, headers: { 'Content-Security-Policy': policy } });
	});
}

const openTrend = (context, count, options) => openPage(context, `${origin}?count=${count}`, { ...options, allow: (url) => url.startsWith(origin) });

// Calls the function inside a page, where it can import the modules.
async function within(context, script) {
	const page = await openTrend(context, 2);
	const result = await page.evaluate(script);
	await page.close();
	return result;
}

await runTests({
	'a frame of one sample on one side is neither new nor gone': async (context) => {
		const words = await within(context, async () => {
			const { appearance } = await import('/profile.js');
			const profile = { inclusive: [[10000], [9000]] };
			return [[0, 20], [20, 0], [0, 500], [500, 0], [0, 0], [400, 500]].map(([before, after]) => appearance(profile, before, after));
		});
		assert.deepEqual(words, ['', '', 'new', 'gone', '', '']);
	},
	'only sure functions are listed as the cause; others are marked as not sure': async (context) => {
		const [sure, words, none] = await within(context, async () => {
			const { isSure, notSure } = await import('/compare.js');
			const all = ['guilty', 'faster', 'same code', 'not sure', 'moved', 'unchanged'].map((standing) => ({ name: standing, standing, delta_ms: 2 }));
			const parts = (functions) => ({ of: { functions }, delta: (f) => f.delta_ms, format: (ms) => `+${ms} ms` });
			return [all.filter(isSure).map((f) => f.name), notSure(parts(all)).textContent, notSure(parts(all.slice(0, 3)))];
		});
		assert.deepEqual(sure, ['guilty', 'faster', 'same code']);
		assert.equal(words, 'not sure: not sure +2 ms');
		assert.equal(none, false);
	},
	'what a short list leaves has no share beyond the whole': async (context) => {
		const words = await within(context, async () => {
			const { everythingElse } = await import('/compare.js');
			const parts = { delta: (f) => f.delta_ms, total: 10, format: (ms) => `${ms} ms` };
			const functions = [15, 15, 15, 15].map((ms) => ({ delta_ms: ms, share_of_change: ms / 10 }));
			return [1, 2, 4].map((count) => everythingElse(parts, functions.slice(0, count)).textContent);
		});
		assert.deepEqual(words, ['-50 %everything else-5 ms', 'everything else-20 ms', 'everything else-50 ms']);
	},
	'the inverted view keeps every weight and leaves out callers that nobody could see': async (context) => {
		const [nodes, folded, total] = await within(context, async () => {
			const [{ readProfile }, { invertedProfile }] = [await import('/profile.js'), await import('/flame-views.js')];
			const names = ['all', 'main', 'a', 'b'];
			// all → main → a → b, and briefly b below main itself
			const profile = readProfile({ functions: { name: names, library: names.map(() => ''), file: names.map(() => ''), line: [0, 0, 0, 0] },
				nodes: { parent: [0, 1, 1, 1, 3], function: [0, 1, 2, 3, 3], self: [[0, 0, 5000, 500, 1], [10, 0, 9000, 500, 1]] } });
			const tree = invertedProfile(profile);
			const path = (i) => (i === 0 ? '' : `${path(tree.parent[i])}/${names[tree.function[i]]}`);
			return [Array.from({ length: tree.count }, (_, i) => `${path(i)} ${tree.inclusive[0][i]} ${tree.inclusive[1][i]}`).sort(), tree.folded, [profile.inclusive[1][0], tree.self[1][0]]];
		});
		assert.deepEqual(nodes, [' 5501 9511', '/a 5000 9000', '/a/main 5000 9000', '/b 501 501', '/b/a 500 500', '/b/a/main 500 500']);
		assert.equal(folded, 1);
		assert.deepEqual(total, [9511, 10]);
	},
	'start-up code and the sampler are hidden, and their time is attributed to their callers': async (context) => {
		const [nodes, hidden] = await within(context, async () => {
			const { readProfile } = await import('/profile.js');
			const names = ['all', '_start', '__libc_start_main', '__libc_start_call_main', 'main', 'fit', 'asm_sysvec_irq_work', 'get_sigframe'];
			const profile = readProfile({ functions: { name: names, library: names.map(() => ''), file: names.map(() => ''), line: names.map(() => 0) },
				nodes: { parent: [0, 1, 1, 1, 1, 1, 1, 1], function: [0, 1, 2, 3, 4, 5, 6, 7], self: [[0, 0, 0, 7, 0, 100, 0, 0], [0, 0, 0, 7, 0, 100, 2, 3]] } });
			return [Array.from({ length: profile.count }, (_, i) => `${profile.depth[i]} ${names[profile.function[i]]} ${profile.self[1][i]} ${profile.inclusive[1][i]}`), names.filter((_, f) => profile.isHidden(f))];
		});
		assert.deepEqual(nodes, ['0 all 7 112', '1 main 0 105', '2 fit 105 105']);
		assert.deepEqual(hidden, ['_start', '__libc_start_main', '__libc_start_call_main', 'asm_sysvec_irq_work', 'get_sigframe']);
	},
	'a frame is coloured by its own share of the whole change, and what moved into a new callee by none': async (context) => {
		const shades = await within(context, async () => {
			const { readProfile, tints } = await import('/profile.js');
			const names = ['all', 'main', 'read_string', 'valid_utf8', 'extracted', 'number'];
			const of = (before, after) => {
				const profile = readProfile({ functions: { name: names, library: names.map(() => ''), file: names.map(() => ''), line: names.map(() => 0) },
					nodes: { parent: [0, 1, 1, 1, 3], function: [0, 1, 2, 3, 5], self: [before, after] } });
				return Array.from(tints(profile), (tint) => Math.round(tint * 8));
			};
			return [of([0, 0, 100, 0, 50], [0, 0, 100, 40, 50]), of([0, 0, 100, 0, 50], [0, 0, 60, 40, 50]), of([0, 0, 100, 0, 50], [0, 0, 90, 40, 50]), of([0, 0, 60, 40, 50], [0, 0, 100, 0, 50])];
		});
		assert.deepEqual(shades, [[0, 0, 0, 8, 0], [0, 0, 0, 0, 0], [0, 0, 0, 8, 0], [0, 0, 0, 0, 0]]);
	},
	'names break between their parts, and what is cut off is not the class and the function': async (context) => {
		const [broken, fits, shorts] = await within(context, async () => {
			const [{ el }, { fitName, shortName }] = [await import('/dom.js'), await import('/format.js')];
			const code = (name) => el('code', {}, name).innerHTML.split('<wbr>');
			return [[code('meteor::json::valid_utf8(std::vector<int>)'), code('x'.repeat(90)).map((part) => part.length), code('f is 10.0 % slower (+4.4 ms)')],
				[99, 30, 21, 12, 6].map((room) => fitName('meteor::json::Tokenizer::read_string', room)),
				['void std::sort<int>(int*)', 'bool ns::Track::fit<Hit>(Hit const&) const', 'ns::operator bool() const', 'std::vector<int>::operator[](unsigned long)', 'main', 'ns::f(int) [clone .cold]'].map(shortName)];
		});
		assert.deepEqual(broken, [['meteor::', 'json::', 'valid_', 'utf8(std::', 'vector&lt;', 'int&gt;)'], [40, 40, 10], ['f ', 'is <span class="amount">10.0 %</span> ', 'slower <span class="amount">(+4.4 ms)</span>']]);
		assert.deepEqual(fits, ['meteor::json::Tokenizer::read_string', '…Tokenizer::read_string', '…read_string', '…read_string', 'read_…']);
		assert.deepEqual(shorts, ['std::sort', 'ns::Track::fit', 'ns::operator bool', 'std::vector::operator[]', 'main', 'ns::f [clone .cold]']);
	},
	'a call graph has whole names, in lines': async (context) => {
		const words = await within(context, async () => {
			const [{ readProfile }, { callGraph }] = [await import('/profile.js'), await import('/graph.js')];
			const names = ['all', 'main', 'meteor::json::Tokenizer::read_string_until_quote()'];
			const columns = [[0, 100, 80], [0, 120, 100]];
			const profile = readProfile({ functions: { name: names, library: ['', '', ''], file: ['', '', ''], line: [0, 0, 0], self: [[0, 20, 80], [0, 20, 100]], inclusive: columns },
				nodes: { parent: [0, 1, 1], function: [0, 1, 2], self: [[0, 20, 80], [0, 20, 100]] } });
			return [...callGraph(profile).querySelectorAll('.box')].map((box) => [...box.querySelectorAll('.name')].map((line) => line.textContent));
		});
		assert.deepEqual(words, [['meteor::json::', 'Tokenizer::read_string_', 'until_quote'], ['main']]);
	},
	'templates make links only of http and https, and everything in them is escaped': async (context) => {
		const made = await within(context, async () => {
			const { expandLink } = await import('/links.js');
			const known = { project: 'a"><b>', commit: '3ab2cd9', file: './dir/#1 ä?.c', line: 17 };
			return ['https://[::1]:8080/{project}/{commit}/{file}#L{line}', 'https://h/{commit}?q=(1)&b=~', 'javascript:alert(1)//{commit}', 'https:///{commit}', 'https://{commit}.example.org/',
				'https://h/"{commit}', 'https://h/<{commit}', 'https://h/ {commit}', 'https://h/`{commit}', 'https://h/{commit}|', 'https://h/ä', null].map((pattern) => expandLink(pattern, known) ?? '')
				.concat(['/usr/a.c', '../a.c', 'b/../../a.c', ''].map((file) => expandLink('https://h/{file}', { file }) ?? ''));
		});
		assert.deepEqual(made, ['https://[::1]:8080/a%22%3E%3Cb%3E/3ab2cd9/dir/%231%20%C3%A4%3F.c#L17', 'https://h/3ab2cd9?q=(1)&b=~', ...Array(14).fill('')]);
	},
	'a trend is drawn with its change point and read by keys': async (context) => {
		const page = await openTrend(context, 60);
		assert.equal(await page.locator('.plot .point').count(), 59);
		assert.equal(await page.locator('.plot .step.worse').count(), 1);
		assert.equal(await page.locator('.plot .level').count(), 2);
		assert.match(await page.locator('figure').innerText(), /\+5\.0 %[^]*60 runs, 1 change point/);
		await page.locator('.plot').focus();
		await page.keyboard.press('End');
		await page.keyboard.press('ArrowLeft');
		assert.match(await page.locator('.readout').innerText(), /^run 58: 2\d\d ms, pass$/);
		await page.keyboard.press('Enter');
		assert.equal(await page.title(), 'run 58');
		await checkAccessibility(context, page, 'trend');
		page.noProblems();
		await page.close();
	},
	'without a change point it says so, and never counts none': async (context) => {
		const page = await openTrend(context, 1);
		assert.match(await page.locator('figcaption').innerText(), /1 run, no change point found/);
		assert.doesNotMatch(await page.locator('figcaption').innerText(), /\b0 change/);
		await page.close();
	},
	'figures have the unit that people read': async (context) => {
		const figures = await within(context, async () => {
			const { formatValue } = await import('/format.js');
			return [[6.76215e7, 'ns'], [2.5e9, 'ns'], [950, 'ns'], [3 * 2 ** 20, 'bytes'], [12345, '1'], [6.76215e7, '1'], [-4.2e9, 'calls'], [61.2, 'ns'], [NaN, 'ns']].map(([value, unit]) => formatValue(value, unit));
		});
		assert.deepEqual(figures, ['67.6 ms', '2.50 s', '950 ns', '3.00 MiB', '12 345', '67.6 M', '−4.20 G calls', '61.2 ns', '–']);
	},
	'releases, the gate and its threshold are marked': async (context) => {
		const page = await openTrend(context, 60);
		assert.equal(await page.locator('.plot .release').count(), 1);
		assert.equal(await page.locator('.plot text', { hasText: 'v1.2' }).count(), 1);
		assert.equal(await page.locator('.plot path.point.regression').count(), 3);
		assert.equal(await page.locator('.plot .threshold').count(), 2);
		assert.match(await page.locator('figcaption').innerText(), /60 runs, 1 change point; the gate called 3 of these runs slower/);
		await page.close();
	},
	'a chart zooms by keys, buttons and a drag, and says where it is': async (context) => {
		const page = await openTrend(context, 60);
		const shown = () => page.locator('figcaption').innerText();
		await page.locator('.plot').focus();
		await page.keyboard.press('End');
		await page.keyboard.press('+');
		assert.equal(await page.title(), '30-59');
		assert.match(await shown(), /30 of 60 runs/);
		await page.getByRole('button', { name: 'Earlier runs' }).click();
		assert.equal(await page.title(), '16-45');
		await page.getByRole('button', { name: 'All runs' }).click();
		assert.equal(await page.title(), 'all');
		const box = await page.locator('.plot').boundingBox();
		await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * 0.6, box.y + 120, { steps: 4 });
		await page.mouse.up();
		const [from, to] = (await page.title()).split('-').map(Number);
		assert.ok(from > 15 && to < 45 && to > from, await page.title());
		await page.evaluate(() => window.chart.setRange([10, 19]));
		assert.match(await shown(), /10 of 60 runs/);
		page.noProblems();
		await page.close();
		const linked = await openTrend(context, '60&range=20-29');
		assert.match(await linked.locator('figcaption').innerText(), /10 of 60 runs/);
		await linked.close();
	},
	'hovering shows the run next to the pointer': async (context) => {
		const page = await openTrend(context, 60);
		const box = await page.locator('.plot').boundingBox();
		await page.mouse.move(box.x + box.width / 2, box.y + 100);
		await page.locator('.card', { hasText: 'subject of run' }).waitFor();
		assert.match(await page.locator('.card').innerText(), /run \d+[^]* ms, pass/);
		await page.mouse.move(box.x + box.width / 2, box.y - 40);
		await page.locator('.card').waitFor({ state: 'hidden' });
		page.noProblems();
		await page.close();
	},
	'the axis shows every level, and each tick once': async (context) => {
		const page = await openTrend(context, 60);
		const ticks = await page.evaluate(async () => {
			const { axis, sparkline } = await import('./plot.js');
			const draw = (values, unit) => axis(values, unit, 800, 300);
			const level = Array.from({ length: 400 }, (_, i) => (i < 398 ? 100 : 150) + (i % 7) / 10);
			const { low, high } = draw(level, 'ms');
			const wild = draw(level.map((v, i) => (i === 50 ? 900 : v)), 'ms');
			const near = draw(Array.from({ length: 60 }, (_, i) => 2e8 + (i % 10) * 1e4), 'ns').parts.filter((p) => p.tagName === 'text').map((p) => p.textContent);
			const height = (values) => {
				const ys = sparkline(values).querySelector('polyline').getAttribute('points').split(' ').map((p) => Number(p.split(',')[1]));
				return Math.max(...ys) - Math.min(...ys);
			};
			return { low, high, wildHigh: wild.high, near, quiet: height(Array.from({ length: 30 }, (_, i) => 100 + (i % 3) / 10)), step: height(Array.from({ length: 30 }, (_, i) => (i < 15 ? 100 : 130))) };
		});
		assert.ok(ticks.low < 100 && ticks.high > 150, 'a level of two runs is cut off');
		assert.ok(ticks.wildHigh < 200, 'one wild run makes all others flat');
		assert.equal(new Set(ticks.near).size, ticks.near.length, ticks.near.join());
		assert.ok(ticks.near.length > 1);
		assert.ok(ticks.quiet < 5 && ticks.step > 15, `${ticks.quiet} ${ticks.step}`);
		await page.close();
	},
	'an unchanged value has no sign': async (context) => {
		assert.deepEqual(await within(context, async () => {
			const { formatChange, formatPercent } = await import('./format.js');
			return [...[-0.00001, 0, 0.0004, -0.0005, -0.05, 9.99, 431.39].map(formatChange), ...[0, 0.0004, 0.012, NaN].map(formatPercent)];
		}), ['0.0 %', '0.0 %', '+0.04 %', '−0.05 %', '−5.0 %', '+999.0 %', '×432', '0.0 %', '0.04 %', '1.2 %', '–']);
	},
	'ten thousand runs become ranges, none and one are no problem': async (context) => {
		for (const count of [0, 1, 2, 10000]) {
			const page = await openTrend(context, count, { dark: true });
			assert.equal(await page.locator('.plot .range').count(), count === 10000 ? 1 : 0);
			assert.ok(!(await page.locator('.plot').innerHTML()).includes('NaN'), `${count}: NaN`);
			page.noProblems();
			await page.close();
		}
	},
}, serve);
