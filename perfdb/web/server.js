// SPDX-License-Identifier: Apache-2.0
// Sends requests to the server. While the server does not answer, a banner says so and the requests
// wait.

import { el, replace } from './dom.js';

const TOKEN_KEY = 'perfdb-token';
const LONGEST_WAIT_S = 30;
const banner = document.getElementById('banner');

export class Refused extends Error {}
export class Missing extends Error {}

// The address of the first start has the token after #, a part that browsers do not send to any
// server.
const given = new URLSearchParams(location.hash.slice(1)).get('token');
if (given) {
	if (!sessionStorage.getItem(TOKEN_KEY))
		sessionStorage.setItem(TOKEN_KEY, given);
	history.replaceState(null, '', location.pathname + location.search);
}

export function useToken(token) {
	[capabilities, projects] = [null, null];
	sessionStorage.setItem(TOKEN_KEY, token);
}

export function forgetToken() {
	sessionStorage.removeItem(TOKEN_KEY);
}

export function hasToken() {
	return sessionStorage.getItem(TOKEN_KEY) !== null;
}

// Resolves after this number of seconds, or as soon as the user asks to retry now.
function pause(seconds, reason) {
	return new Promise((resolve) => {
		let left = seconds;
		const time = el('span');
		const tick = () => {
			time.textContent = ` Trying again in ${left} s. `;
			left -= 1;
			if (left < 0)
				go();
		};
		const timer = setInterval(tick, 1000);
		function go() {
			clearInterval(timer);
			resolve();
		}
		tick();
		if (banner.childElementCount === 0 || banner.dataset.reason !== reason) {
			banner.dataset.reason = reason;
			replace(banner, el('strong', { role: 'alert' }, reason), el('span'), el('button', { type: 'button' }, 'Try now'));
		}
		banner.children[1].replaceWith(time);
		banner.children[2].addEventListener('click', go, { once: true });
	});
}

function clearBanner() {
	delete banner.dataset.reason;
	replace(banner);
}

// A read waits until the server is back. A write without an answer fails immediately, so that the
// user can repeat it.
async function untilAnswered(address, options) {
	for (let wait = 1; ; wait = Math.min(wait * 2, LONGEST_WAIT_S)) {
		let reason = 'The server does not answer.';
		let answer = null;
		try {
			answer = await fetch(address, options);
			if (answer.status === 503)
				reason = 'The server is busy or cannot reach its database.';
		} catch (error) {
			if (!(error instanceof TypeError))
				throw error;
		}
		if (answer && (answer.status !== 503 || options.method)) {
			clearBanner();
			return answer;
		}
		if (options.method)
			throw new Error('The server does not answer: nothing was saved.');
		await pause(Math.max(wait, Number(answer?.headers.get('Retry-After')) || 0), reason);
	}
}

export async function query(path, parameters = {}, options = {}) {
	const words = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== ''));
	const token = sessionStorage.getItem(TOKEN_KEY);
	const headers = { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...options.headers };
	const answer = await untilAnswered(`/api/v1/${path}${words.size > 0 ? `?${words}` : ''}`, { ...options, headers });
	const data = await answer.json();
	if (answer.status === 401)
		throw new Refused(data.error.message);
	if (answer.status === 404)
		throw new Missing(data.error.message);
	if (!answer.ok)
		throw new Error(data.error?.message ?? `the server answered ${answer.status}`);
	return data;
}

export function post(path, body, method = 'POST') {
	return query(path, {}, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}

// Resolves once the server answers; following a link earlier would show the browser's error page.
export function untilAlive() {
	return untilAnswered('/healthz', {});
}

let projects = null;
export async function projectNames() {
	projects ??= query('projects');
	return (await projects).projects;
}

let capabilities = null;
export function serverFacts() {
	capabilities ??= query('capabilities');
	return capabilities;
}

// May this page write? A server over a local store is read-only, and a token may lack the scope.
export async function canWrite() {
	const { read_only: isReadOnly, scope } = await serverFacts();
	return !isReadOnly && ['triage', 'admin'].includes(scope);
}

export async function canAdminister() {
	const { read_only: isReadOnly, scope } = await serverFacts();
	return !isReadOnly && scope === 'admin';
}
