// SPDX-License-Identifier: Apache-2.0
// The HTML report in a real browser: node report.test.mjs PROGRAM-THAT-WRITES-PAGES

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkAccessibility, openPage, openTab, pictures, runTests, scratchFolder } from './browser.mjs';

const folder = scratchFolder();
const outcomes = ['regression', 'pass', 'improvement', 'inconclusive', 'new', 'missing', 'error', 'mixed', 'hostile', 'nothing',
	'identical', 'accepted', 'expired', 'unstable', 'unsure', 'marked', 'creeping'];
// The text of the badge next to the title, unless it is the fixture's name.
const TITLES = { mixed: 'regression', hostile: 'regression', nothing: 'error', identical: 'pass', accepted: 'pass', expired: 'regression', unstable: 'probably slower', unsure: 'regression', marked: 'regression', creeping: 'creep' };

execFileSync(process.argv[2], [folder]);

const url = (name) => `file://${join(folder, `${name}.html`)}`;

// Returns the page with its data changed.
function withData(name, change) {
	const page = readFileSync(join(folder, `${name}.html`), 'utf8');
	const [, before, text, after] = /^([^]*<script[^>]* id="data"[^>]*>)([^]*?)(<\/script>[^]*)$/.exec(page);
	const data = JSON.parse(text);
	change(data);
	writeFileSync(join(folder, `${name}-changed.html`), before + JSON.stringify(data).replaceAll('<', '\\u003c') + after);
	return url(`${name}-changed`);
}

const tests = {};
const test = (name, run) => { tests[name] = run; };

async function picture(page, name, fullPage = true) {
	if (pictures)
		await page.screenshot({ path: join(pictures, `${name}.png`), fullPage });
}

// The frames of the flame graph are pixels, so the readout shows what is under a point. The pointer moves inside the
// page, because there are hundreds of points.
function framesIn(page, depths) {
	return page.locator('.flame canvas').evaluate((canvas, last) => {
		const box = canvas.getBoundingClientRect();
		const found = new Set();
		for (let depth = 0; depth < last; depth += 1)
			for (let x = 4; x < box.width; x += 12) {
				const at = { clientX: box.x + x, clientY: box.y + depth * 19 + 9, bubbles: true };
				canvas.dispatchEvent(new PointerEvent('pointermove', at));
				found.add(document.querySelector('.readout').innerText);
			}
		return [...found];
	}, depths);
}

test('without shares of the change the bars compare the functions with each other', async (context) => {
	const page = await openPage(context, withData('regression', (data) => {
		const { functions } = data.benchmarks[0];
		const second = structuredClone(functions[0]);
		second.name = 'half';
		second.delta_ms = functions[0].delta_ms / -2;
		functions.splice(1, functions.length, second);
		for (const f of functions)
			f.share_of_change = null;
	}));
	const widths = await page.locator('.blame svg.share').evaluateAll((bars) => bars.slice(0, 2).map((bar) => bar.lastChild.getAttribute('width')));
	assert.deepEqual(widths, ['90', '45']);
	await page.close();
});

test('every outcome is shown, without errors, requests or accessibility violations', async (context) => {
	for (const name of outcomes) {
		const page = await openPage(context, url(name));
		const text = await page.locator('header p .badge').innerText();
		assert.ok(text.includes(TITLES[name] ?? name), `${name}: ${text}`);
		await checkAccessibility(context, page, name);
		// Two fixtures are tested with all their parts, in both schemes.
		for (const colorScheme of ['regression', 'mixed'].includes(name) ? ['light', 'dark'] : []) {
			await page.emulateMedia({ colorScheme });
			for (const tab of await page.getByRole('tab').all()) {
				await tab.click();
				await checkAccessibility(context, page, `${name} ${colorScheme} ${await tab.innerText()}`, colorScheme === 'dark');
			}
		}
		await picture(page, name);
		page.noProblems();
		await page.close();
	}
});

test('the source of a guilty function stands with its costs, before and after', async (context) => {
	const page = await openPage(context, url('regression'));
	const rows = await page.locator('table.source').first().locator('tbody tr').evaluateAll((all) => all.map((row) => [row.className, ...[...row.cells].map((cell) => cell.innerText.trim())]));
	assert.deepEqual(rows.filter((row) => !row[0].startsWith('gap')).map((row) => [row[0], row[1], row[2], row[5], row[6]]), [
		['', '88', '88', '', 'void fit(Track& track) {'],
		['', '90', '91', '', 'solve(track); // `<b>` ```'],
		['went', '91', '', '−', 'if (track.ok) refine(track);'],
		['came hottest', '', '92', '+', 'refine(track); </script>'],
		['', '92', '93', '', '}'],
	]);
	assert.deepEqual(rows.find((row) => row[0] === 'went').slice(3, 5), ['19.8 ms', '']);
	assert.deepEqual(rows.find((row) => row[0] === 'came hottest').slice(3, 5), ['', '29.1 ms']);
	const code = page.locator('table.source').nth(1);
	assert.equal(await code.isVisible(), false);
	await page.getByText('Assembly of fit in reco').click();
	assert.deepEqual(await code.locator('tbody tr').evaluateAll((all) => all.map((row) => [row.className, ...[...row.cells].map((cell) => cell.innerText.trim())])), [
		['', '14', '14', '500 µs', '500 µs', '', '.L1: mov rdi, rbx'],
		['went', '15', '', '12.3 ms', '', '−', 'cmp byte ptr [rbx+0x08], 0x00'],
		['went', '16', '', '', '', '−', 'jz .L1'],
		[' hottest', '17', '15', '7.00 ms', '28.5 ms', '', 'call refine(Track&)</script>'],
	]);
	page.noProblems();
	await page.close();
});

test('arguments lead from a function to its call paths, to one path in full and its histogram, on any screen', async (context) => {
	for (const [name, options] of [['wide', { width: 1400 }], ['dark', { width: 1400, dark: true }], ['narrow', { width: 390, height: 800 }], ['narrow-dark', { width: 390, height: 800, dark: true }]]) {
		const page = await openPage(context, `${url('counted')}#tab=arguments`, options);
		const parts = page.locator('section[aria-labelledby=arguments]');
		const all = await parts.innerText();
		assert.match(all, /exp in fit ← loop ← main: always in \[-0.5, -7e-07\]: a polynomial could replace the function/);
		assert.match(all, /log in seed ← main: 1 of 5001 arguments are not a number/);
		assert.doesNotMatch(all, /more/); // this table is complete
		const cells = (row) => parts.locator('table').first().locator('tbody tr').nth(row).locator('td').evaluateAll((found) => found.map((cell) => cell.innerText.trim()));
		assert.deepEqual(await cells(2), ['5000 → 5001', '0.25', '1024', '512.125 → 512.432', '0 → 4', '', '0 → 2', '0 → 3', '0 → 1', '', '1']);
		assert.deepEqual(await cells(3), ['0 → 20', '2', '3', '2.5', '', '', '', '', '', '', '0 → 1']);
		await parts.getByRole('button', { name: 'sin', exact: true }).click();
		assert.equal(await parts.locator('table').nth(1).locator('tbody tr').count(), 32);
		await parts.getByText('And 8 call paths, taken less often.').waitFor();
		await parts.getByLabel('Filter').fill('draw_7');
		assert.equal(await parts.locator('table').nth(1).locator('tbody tr').count(), 1);
		await parts.getByRole('button', { name: 'draw_7 ← main' }).click();
		assert.equal(await parts.getByLabel('Filter').inputValue(), 'draw_7'); // switching leaves the table as it was
		assert.equal(await parts.locator('tr[aria-current=true]').count(), 2);
		await parts.getByRole('button', { name: 'pow #2' }).click();
		await parts.getByRole('button', { name: /^weigh/ }).click();
		const frames = await parts.locator('ol.frames li').allInnerTexts();
		assert.deepEqual([frames.length, frames[0], frames[32], frames[128]], [129, 'main', '… 172 more …', 'weigh']);
		assert.deepEqual(await parts.locator('table.histogram thead th').allInnerTexts(), ['size', 'candidate']);
		await parts.getByRole('button', { name: 'log', exact: true }).click();
		await parts.getByRole('button', { name: 'seed ← main' }).click();
		const sizes = await parts.locator('table.histogram tbody tr').evaluateAll((rows) => rows.map((row) => row.cells[0].textContent));
		assert.deepEqual([sizes[0], sizes[1], sizes[2], sizes.at(-2), sizes.at(-1)], ['below 2−31', '⋯', '2−2 to 2−1', '⋯', '231 and above']);
		const [wide, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
		assert.ok(wide <= view, `${name}: ${wide} > ${view}`);
		await checkAccessibility(context, page, `arguments ${name}`, name !== 'wide');
		if (pictures)
			await parts.screenshot({ path: join(pictures, `arguments-${name}.png`) });
		page.noProblems();
		await page.close();
	}
});

test('dark and narrow pages are accessible and never scroll sideways', async (context) => {
	const narrow = { width: 360, height: 740 };
	const all = ['regression', 'mixed', 'hostile'];
	for (const [name, options, fixtures] of [['dark', { dark: true }, all], ['narrow', narrow, all], ['narrow-dark', { ...narrow, dark: true }, ['mixed']]]) {
		for (const fixture of fixtures) {
			const page = await openPage(context, url(fixture), options);
			const [wide, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
			assert.ok(wide <= view, `${fixture} ${name}: ${wide} > ${view}`);
			await checkAccessibility(context, page, `${fixture} ${name}`, true);
			await picture(page, `${fixture}-${name}`);
			page.noProblems();
			await page.close();
		}
	}
});

test('the page begins with the cause, and no function "passes"', async (context) => {
	const page = await openPage(context, url('regression'));
	const cause = 'reconstruct is 4.8 % slower: fit(Track&) fit.cpp:88 (+9.7 ms)';
	assert.ok((await page.title()).startsWith(cause), await page.title());
	assert.equal(await page.locator('h1').innerText(), cause);
	assert.equal((await page.locator('#page').innerText()).match(/regression/g).length, 1, 'the verdict is said once');
	await openTab(page, 'Functions');
	const table = await page.locator('section[aria-labelledby=functions] table').innerText();
	assert.match(table, /guilty/);
	assert.match(table, /not sure/);
	assert.doesNotMatch(table, /pass|regression/);
	assert.match(table, /Judged Δ/i);
	assert.doesNotMatch(await page.locator('section[aria-labelledby=libraries]').innerText(), /pass|regression/);
	page.noProblems();
	await page.close();
});

test('the pair plot draws every pair and the interval', async (context) => {
	const page = await openPage(context, url('regression'));
	assert.equal(await page.locator('.plot .point').count(), 23);
	assert.equal(await page.locator('.plot .point.aside').count(), 1);
	assert.equal(await page.locator('.plot .band.regression').count(), 1);
	assert.match(await page.locator('figcaption').first().innerText(), /In \d+ of 22 pairs/);
	page.noProblems();
	await page.close();
});

test('a report says how it was measured, at what cost, and what cannot be seen', async (context) => {
	const page = await openPage(context, url('regression'));
	await openTab(page, 'Data');
	await page.getByText('How it was measured').click();
	const how = await page.locator('details', { hasText: 'How it was measured' }).innerText();
	for (const words of ['duet', '418 a second of CPU time', 'about 3.0 %', 'a context switch up to 21', 'time spent waiting'])
		assert.ok(how.includes(words), `${words}: ${how}`);
	page.noProblems();
	await page.close();
});

test('hostile names are text and nothing else', async (context) => {
	const page = await openPage(context, url('hostile'));
	assert.equal(await page.locator('img').count(), 0);
	assert.equal(await page.locator('script').count(), 2);
	assert.ok((await page.locator('body').innerText()).includes('</script><script>alert(1)</script>'));
	page.noProblems();
	await page.close();
});

test('the policy lets nothing in', async (context) => {
	const page = await context.newPage();
	const refused = [];
	page.on('console', (message) => refused.push(message.text()));
	await page.goto(url('regression'));
	await page.evaluate(() => {
		const script = document.createElement('script');
		script.textContent = 'window.broken = true';
		document.body.append(script);
		const image = document.createElement('img');
		image.src = 'http://127.0.0.1:9/x.png';
		document.body.append(image);
		document.body.setAttribute('style', 'color: red');
	});
	assert.equal(await page.evaluate(() => window.broken), undefined);
	await page.waitForFunction(() => true);
	for (const kind of ['script', 'image', 'style'])
		assert.ok(refused.some((text) => text.includes('Content Security Policy') && text.toLowerCase().includes(kind)), `${kind}: ${refused.join('\n')}`);
	await page.close();
});

test('the flame graph shows new and gone frames, zooms, searches and is moved through by keys', async (context) => {
	const page = await openPage(context, url('regression'));
	await openTab(page, 'Flame');
	const pane = page.locator('.flame');
	await pane.scrollIntoViewIfNeeded();
	await pane.focus();
	const readout = page.locator('.readout').first();
	assert.match(await readout.innerText(), /^fit\(Track&\)/, 'it opens on the culprit');
	await page.keyboard.press('Home');
	const seen = new Set();
	for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowUp']) {
		await page.keyboard.press(key);
		seen.add(await readout.innerText());
	}
	assert.ok(seen.size >= 5, [...seen].join('\n'));
	const words = await page.locator('[role=tree]').innerText();
	assert.match(words, /main/);
	await page.keyboard.press('Home');
	const box = await page.locator('.flame canvas').boundingBox();
	await page.mouse.move(box.x + 4, box.y + 9);
	assert.match(await readout.innerText(), /main|all/);
	const all = await framesIn(page, 5);
	assert.ok(all.some((text) => /decode_header[^]*new/.test(text)), 'a new frame');
	assert.ok(all.some((text) => /decode\(Bank[^]*gone/.test(text)), 'a gone frame');
	await pane.focus();
	await page.keyboard.press('/');
	await page.keyboard.type('fit(');
	assert.match(await page.locator('.flame-views .toolbar').innerText(), /1 frame, 1\d % → 2\d % of the time/);
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => /benchmark=reconstruct&node=\d+/.test(location.hash)); // the address is updated after the drawing
	await picture(page, 'flame-search', false);
	await pane.focus();
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => !location.hash.includes('node='));
	page.noProblems();
	await page.close();
});

test('a link carries the state of the view', async (context) => {
	const page = await openPage(context, `${url('mixed')}#benchmark=sort&tab=data`);
	assert.match(await page.locator('#benchmark').innerText(), /sort/);
	await page.locator('#metrics').waitFor();
	await page.getByRole('button', { name: 'reconstruct', exact: true }).click();
	assert.match(await page.locator('#benchmark').innerText(), /reconstruct/);
	assert.match(await page.evaluate(() => location.hash), /benchmark=reconstruct/);
	page.noProblems();
	await page.close();
});

test('of a suite of 200 the failing ones are listed, worst first, and the passed ones are one line', async (context) => {
	const name = (i) => `containers/BM_Copy<std::unordered_map<std::string, std::vector<int>>, ${i}>/16`;
	const page = await openPage(context, withData('mixed', (data) => {
		const [worse, better] = ['regression', 'pass'].map((verdict) => data.benchmarks.find((b) => b.verdict === verdict));
		data.benchmarks = Array.from({ length: 200 }, (_, i) => {
			const made = structuredClone(i % 50 === 7 ? worse : better);
			made.name = name(i);
			made.answer.sentence = `${name(i)} is slower`;
			for (const m of i % 50 === 7 ? made.metrics : [])
				m.ratio += m.decided ? i / 1000 : 0;
			return made;
		});
	}), { width: 1400, height: 900 });
	const list = page.locator('section[aria-labelledby=verdicts]');
	assert.deepEqual(await list.locator('table').first().locator('tbody th button').allInnerTexts(), [157, 107, 57, 7].map(name));
	assert.equal(await page.locator('#benchmark').innerText().then((text) => text.startsWith(name(157))), true);
	const passed = list.getByText('196 passed');
	const bottom = async () => { const box = await passed.boundingBox(); return box.y + box.height; };
	assert.ok(await bottom() <= 900, `the list ends at ${await bottom()}`);
	const [left, right] = [await list.boundingBox(), await page.locator('.detail').boundingBox()];
	assert.ok(left.x + left.width <= right.x, 'the detail is not next to the list');
	await page.evaluate(() => scrollTo(0, 400));
	assert.ok((await passed.boundingBox()).y > 0, 'the list scrolls away');
	await list.getByRole('button', { name: name(57) }).click();
	assert.equal(await page.locator('#benchmark').innerText().then((text) => text.startsWith(name(57))), true);
	await passed.click();
	await list.getByRole('searchbox').fill('vector, 199');
	assert.equal(await list.locator('table').last().locator('tbody tr').count(), 0);
	await list.getByRole('searchbox').fill('int>>, 199');
	await list.getByRole('button', { name: name(199) }).waitFor();
	await checkAccessibility(context, page, 'suite');
	await picture(page, 'suite');
	page.noProblems();
	await page.close();
	// Passed benchmarks share a line until one is selected.
	const green = await openPage(context, withData('mixed', (data) => {
		const passed = data.benchmarks.find((b) => b.verdict === 'pass');
		data.benchmarks = Array.from({ length: 200 }, (_, i) => ({ ...structuredClone(passed), name: name(i) }));
	}));
	const line = green.getByText('200 passed');
	await line.waitFor();
	assert.equal(await green.getByRole('button', { name: name(7), exact: true }).isVisible(), false);
	await line.click();
	await green.getByRole('button', { name: name(7), exact: true }).click();
	assert.ok(await green.getByRole('button', { name: name(7), exact: true }).isVisible(), 'the list closes when one is chosen');
	green.noProblems();
	await green.close();
});

test('a search stays while the view changes, and one function has its callers above and its own time', async (context) => {
	const page = await openPage(context, url('regression'));
	await openTab(page, 'Flame');
	const search = page.getByLabel('Search frames');
	assert.equal(await search.count(), 1);
	await search.fill('fit(');
	await page.getByLabel('View of the call paths').selectOption('inverted');
	assert.equal(await search.inputValue(), 'fit(');
	assert.match(await page.locator('.flame-views .toolbar').innerText(), /frames?, /);
	await page.getByLabel('View of the call paths').selectOption('sandwich');
	const parts = page.locator('.flame-part');
	assert.deepEqual(await parts.locator('h4').allInnerTexts(), ['Callers of fit', 'fit and its callees']);
	assert.equal(await search.count(), 1);
	assert.match(await parts.last().locator('.readout').innerText(), /own 31\.1 ms → 40\.2 ms/);
	// The nearest caller is at the bottom, next to the function.
	const pane = parts.first().locator('.flame');
	const { height } = await pane.boundingBox();
	await pane.hover({ position: { x: 20, y: height - 12 } });
	assert.match(await parts.first().locator('.readout strong').innerText(), /^(loop|smooth)/);
	await pane.hover({ position: { x: 20, y: 8 } });
	assert.match(await parts.first().locator('.readout strong').innerText(), /^main/);
	page.noProblems();
	await page.close();
});

test('marked regions and units of work have their tables', async (context) => {
	const page = await openPage(context, `${url('marked')}#tab=functions`);
	const cells = async (id) => (await page.locator(`section[aria-labelledby=${id}] tbody tr`).allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
	assert.deepEqual((await cells('regions')).map((row) => row.split(' ')[0]), ['fit/smooth', 'read']);
	assert.match((await cells('regions'))[0], /200 62.3 ms 72.0 ms \+9.70 ms \+15.6 % ▲ regression/);
	assert.match((await cells('units'))[0], /^event 200 865 µs 915 µs 173 ms 183 ms \+10.0 ms/);
	page.noProblems();
	await page.close();
});

test('some pairs can be looked at alone, by pointer and by number', async (context) => {
	const page = await openPage(context, url('regression'));
	await openTab(page, 'Flame');
	await page.getByText('Repetitions over time').click();
	await page.locator('.timeline svg').waitFor();
	assert.equal(await page.locator('.timeline .repetition').count(), 46);
	const status = page.locator('figure:has(.timeline) [role=status]');
	assert.match(await status.innerText(), /All pairs: cpu time \+\d\.\d %, median of 22 pairs/);
	await page.getByLabel('Pairs from').fill('3');
	await page.getByLabel('to', { exact: true }).fill('9');
	await page.getByRole('button', { name: 'Only these' }).click();
	assert.match(await status.innerText(), /Pairs 3 to 9: cpu time .* median of 7 pairs/);
	assert.match(await page.evaluate(() => location.hash), /pairs=3-9/);
	await page.getByRole('button', { name: 'All pairs' }).click();
	assert.doesNotMatch(await page.evaluate(() => location.hash), /pairs=/);
	const box = await page.locator('.timeline').boundingBox();
	await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 5 });
	await page.mouse.up();
	assert.match(await page.evaluate(() => location.hash), /pairs=\d+-\d+/);
	await checkAccessibility(context, page, 'pairs alone');
	await picture(page, 'pairs-alone');
	page.noProblems();
	await page.close();
});

test('the functions are sorted and filtered', async (context) => {
	const page = await openPage(context, `${url('large')}#tab=functions`);
	const section = page.locator('section[aria-labelledby=functions]');
	await section.getByRole('button', { name: 'Own, candidate' }).click();
	const values = await section.locator('tbody tr td:nth-child(4)').allInnerTexts();
	const inMicroseconds = values.map((text) => parseFloat(text) * { ns: 1e-3, 'µs': 1, ms: 1e3, s: 1e6 }[text.split(' ')[1]]);
	assert.equal(inMicroseconds.length, 30);
	assert.deepEqual(inMicroseconds, [...inMicroseconds].sort((a, b) => b - a));
	assert.equal(await section.locator('th[aria-sort=descending]').innerText().then((t) => t.includes('Own, candidate')), true);
	await section.getByRole('searchbox').fill('Stage7< process_3');
	const names = await section.locator('tbody th').allInnerTexts();
	assert.ok(names.length > 0 && names.every((name) => name.includes('Stage7<')), names.join('\n'));
	await picture(page, 'large');
	page.noProblems();
	await page.close();
});

test('the page can be read on paper and without scripts', async (context) => {
	const page = await openPage(context, url('regression'));
	await page.emulateMedia({ media: 'print' });
	await picture(page, 'print');
	assert.equal(await page.locator('.flame-views .toolbar').isVisible(), false);
	for (const part of ['#blame', '#flame', '#functions', '#metrics'])
		assert.ok(await page.locator(part).isVisible(), `${part} is not on paper`);
	assert.ok(await page.locator('.plot .tally').first().isVisible());
	page.noProblems();
	await page.close();
	const plain = await context.newPage();
	const session = await context.newCDPSession(plain);
	await session.send('Emulation.setScriptExecutionDisabled', { value: true });
	await plain.goto(url('regression'));
	assert.equal(await plain.locator('h1').count(), 0);
	assert.match(await plain.locator('noscript pre').innerText(), /REGRESSION[^]*fit\(Track&\)/);
	await plain.close();
});

test('commits, files and lines are links where the run knows their addresses', async (context) => {
	const page = await openPage(context, url('marked'));
	const commit = page.locator('.sides a').first();
	assert.match(await commit.getAttribute('href'), /^https:\/\/git\.example\.org\/c\/[0-9a-f]{40}$/);
	assert.match(await page.locator('.blame a').first().getAttribute('href'), /^https:\/\/git\.example\.org\/[0-9a-f]{40}\/reco\/fit\.cpp#L\d+$/);
	assert.match(await page.locator('table.source a').first().getAttribute('href'), /\/reco\/fit\.cpp#L\d+$/);
	await page.goto(url('regression'));
	await page.locator('.blame').first().waitFor();
	assert.equal(await page.locator('.sides a, .blame a, table.source a').count(), 0);
	await page.close();
});

test('script and style stay below 60 kB', async () => {
	const page = readFileSync(join(folder, 'pass.html'), 'utf8');
	const script = /<script type="module">(.*?)<\/script>/s.exec(page)[1];
	const style = /<style>(.*?)<\/style>/s.exec(page)[1];
	const size = gzipSync(script + style, { level: 9 }).length;
	assert.ok(size < 60000, `${size}`);
});

await runTests(tests);
