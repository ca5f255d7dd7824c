// SPDX-License-Identifier: Apache-2.0
// conformance.test.mjs FASTGATE: the protocol's conformance suite.  The suite drives servers over HTTP only, so a bridge passes
// each message to a server on standard input and output.  The scenarios left out call tools that only a test server has.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { Project } from './project.mjs';

const fastgate = process.argv[2];
const scenarios = ['server-initialize', 'ping', 'tools-list'];
const suite = new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url).pathname;
const project = new Project();
const sessions = new Map();
const servers = [];

async function openSession() {
	const http = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, http) });
	const stdio = new StdioClientTransport({ command: fastgate, args: ['mcp', project.folder], env: project.environment });

	http.onmessage = (message) => stdio.send(message);
	stdio.onmessage = (message) => http.send(message);
	servers.push(stdio);
	await http.start();
	await stdio.start();
	return http;
}

const bridge = createServer(async (request, response) => {
	const session = sessions.get(request.headers['mcp-session-id']) ?? await openSession();

	await session.handleRequest(request, response);
});

before(() => new Promise((resolve) => bridge.listen(0, '127.0.0.1', resolve)));

after(async () => {
	for (const server of servers)
		await server.close();
	bridge.closeAllConnections();
	bridge.close();
	project.remove();
});

for (const scenario of scenarios) {
	test(`the suite's scenario ${scenario}`, async () => {
		const url = `http://localhost:${bridge.address().port}/mcp`;
		const hook = new URL('older-node.mjs', import.meta.url).pathname;
		const child = spawn(process.execPath, ['--import', hook, suite, 'server', '--url', url, '--scenario', scenario, '--verbose'],
			{ cwd: project.base, stdio: ['ignore', 'pipe', 'pipe'] });
		let said = '';

		child.stdout.on('data', (data) => { said += data; });
		child.stderr.on('data', (data) => { said += data; });
		assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0, said);
		assert.match(said, /Passed: [1-9]/, said);
	});
}
