// SPDX-License-Identifier: Apache-2.0
// The time from opening a page to the second frame after its script has run, for three pages in turn: a blank page, the report
// with 35,000 call paths, and as a peer the usual flame graph: one SVG rectangle, title and text per frame of the same profile.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { scratchFolder, withBrowser } from './browser.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 15);
const folder = scratchFolder();
execFileSync(process.argv[2], [folder]);
const report = readFileSync(join(folder, 'large.html'), 'utf8');
const data = JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(report)[1]);

function svgOfSameFrames(profile) {
	const { parent, function: functionOf, self } = profile.nodes;
	const count = functionOf.length;
	const up = parent.map((distance, i) => i - distance);
	const width = self[1].slice();
	for (let i = count - 1; i > 0; i -= 1)
		width[up[i]] += width[i];
	const next = new Array(count).fill(0);
	const left = new Array(count).fill(0);
	const depth = new Array(count).fill(0);
	const escape = (text) => text.replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`);
	const parts = [];
	for (let i = 0; i < count; i += 1) {
		if (i > 0) {
			left[i] = next[up[i]];
			depth[i] = depth[up[i]] + 1;
			next[up[i]] += width[i];
		}
		next[i] = left[i];
		const scale = 1200 / width[0];
		if (width[i] * scale >= 0.1) {
			const name = escape(profile.functions.name[functionOf[i]]);
			parts.push(`<g><title>${name}</title><rect x="${(left[i] * scale).toFixed(2)}" y="${depth[i] * 16}" `
				+ `width="${(width[i] * scale).toFixed(2)}" height="15" fill="#e08040"/><text x="${(left[i] * scale + 3).toFixed(2)}" `
				+ `y="${depth[i] * 16 + 11}" font-size="12">${width[i] * scale > 60 ? name.slice(0, width[i] * scale / 7) : ''}</text></g>`);
		}
	}
	return [`<!DOCTYPE html><title>svg</title><svg width="1200" height="${(Math.max(...depth) + 1) * 16}">${parts.join('\n')}</svg>`, parts.length];
}

const [svg, rectangles] = svgOfSameFrames(data.benchmarks[0].profile);
writeFileSync(join(folder, 'peer.html'), svg);
writeFileSync(join(folder, 'blank.html'), '<!DOCTYPE html><title>blank</title><p>blank</p>');

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const most = (list) => Math.max(...list);

// Measures the time from the start of the navigation to the second frame after the page's script
// has run, by the page's own clock.
async function timeToDrawn(context, name) {
	const page = await context.newPage();
	await page.setViewportSize({ width: 1280, height: 900 });
	await page.addInitScript(() => addEventListener('DOMContentLoaded', () => requestAnimationFrame(() => requestAnimationFrame(() => {
		window.drawnAt = performance.now();
	}))));
	const session = await context.newCDPSession(page);
	await session.send('Performance.enable', { timeDomain: 'threadTicks' });
	await page.goto(`file://${join(folder, `${name}.html`)}#tab=flame`);
	const time = await (await page.waitForFunction(() => window.drawnAt)).jsonValue();
	return { page, session, time, cpu: await cpuOf(session) };
}

// Measures the page's work from a key press to the finished drawing of a zoom: script and canvas
// calls.
async function zoomTimes(page) {
	await page.waitForSelector('#page[data-ready=true]', { state: 'attached' });
	await page.locator('.flame').focus();
	return page.evaluate(() => {
		const pane = document.querySelector('.flame');
		const canvas = pane.querySelector('canvas').getContext('2d');
		const press = (key) => pane.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
		const times = [];
		for (let i = 0; i < 40; i += 1) {
			press(['ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowLeft'][i % 4]);
			const started = performance.now();
			press(i % 8 === 7 ? 'Escape' : 'Enter');
			canvas.getImageData(0, 0, 1, 1); // waits for the drawing
			times.push(performance.now() - started);
		}
		return times;
	});
}

// CPU time of the page's main thread so far, in milliseconds.
async function cpuOf(session) {
	const { metrics } = await session.send('Performance.getMetrics');
	return metrics.find((m) => m.name === 'TaskDuration').value * 1000;
}

const times = { blank: [], large: [], peer: [] };
const cpus = { blank: [], large: [], peer: [] };
const zooms = [];
const zoomCpus = [];
await withBrowser(async (context) => {
	for (let round = 0; round < ROUNDS + 1; round += 1) {
		for (const name of Object.keys(times)) {
			const { page, session, time, cpu } = await timeToDrawn(context, name);
			if (round > 0) {
				times[name].push(time);
				cpus[name].push(cpu);
			}
			if (name === 'large' && round > 0) {
				const before = await cpuOf(session);
				const taken = await zoomTimes(page);
				zooms.push(...taken);
				zoomCpus.push((await cpuOf(session) - before) / taken.length);
			}
			await page.close();
		}
	}
});
const blank = median(times.blank);
const script = /<script type="module">(.*?)<\/script>/s.exec(report)[1];
const style = /<style>(.*?)<\/style>/s.exec(report)[1];
const kb = (text) => (gzipSync(text, { level: 9 }).length / 1000).toFixed(1);
console.log(`frames in the profile            ${data.benchmarks[0].profile.nodes.function.length}`);
console.log(`blank page                       ${blank.toFixed(0)} ms (median of ${ROUNDS})`);
console.log(`report, over the blank page      ${(median(times.large) - blank).toFixed(0)} ms (largest ${(most(times.large) - blank).toFixed(0)})   goal 300`);
console.log(`SVG of ${rectangles} frames, over it    ${(median(times.peer) - blank).toFixed(0)} ms, ${((median(times.peer) - blank) / (median(times.large) - blank)).toFixed(1)} times the report`);
const cpuOver = (name) => median(cpus[name]) - median(cpus.blank);
console.log(`main thread's CPU, over it       report ${cpuOver('large').toFixed(0)} ms, SVG ${cpuOver('peer').toFixed(0)} ms (says more than the time above on a busy machine)`);
console.log(`zoom                             ${median(zooms).toFixed(1)} ms (95 %: ${[...zooms].sort((a, b) => a - b)[Math.floor(zooms.length * 0.95)].toFixed(1)}, largest ${most(zooms).toFixed(1)})   goal 16`);
console.log(`zoom, main thread's CPU           ${median(zoomCpus).toFixed(1)} ms, with the key that chose the frame`);
console.log(`script and style, gzip           ${kb(script)} + ${kb(style)} kB   goal 60`);
console.log(`page                             ${(report.length / 1e6).toFixed(2)} MB, gzip ${kb(report)} kB; SVG ${(svg.length / 1e6).toFixed(2)} MB`);
