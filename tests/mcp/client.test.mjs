// SPDX-License-Identifier: Apache-2.0
// client.test.mjs FASTGATE: tests the server as an assistant's client does, with the protocol's own SDK.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Project } from './project.mjs';

const fastgate = process.argv[2];
const project = new Project();
const clients = [];
const ANSWER_MAX = 32 << 10;

async function connect(...options) {
	const client = new Client({ name: 'test', version: '1' });
	const transport = new StdioClientTransport({ command: fastgate, args: ['mcp', ...options, project.folder], env: project.environment });

	await client.connect(transport);
	clients.push(client);
	return client;
}

const call = (client, name, args = {}, options = {}) =>
	client.callTool({ name, arguments: args }, undefined, { timeout: 400_000, ...options });
const textOf = (result) => result.content.map((part) => part.text).join('\n');

after(async () => {
	for (const client of clients)
		await client.close();
	project.remove();
});

test('a client agrees on a version and finds the tools with their schemas', async () => {
	const client = await connect();
	const { tools } = await client.listTools();
	const run = tools.find((tool) => tool.name === 'run');

	assert.equal(client.getServerVersion().name, 'fastgate');
	assert.deepEqual(tools.map((tool) => tool.name), ['run', 'duel', 'explain', 'profile', 'history', 'bisect']);
	assert.equal(run.inputSchema.properties.quick.type, 'boolean');
	assert.equal(run.inputSchema.properties.bench.type, 'array');
	assert.equal(run.inputSchema.properties.config, undefined);
	assert.deepEqual(tools.find((tool) => tool.name === 'duel').inputSchema.required, ['a', 'b']);
	await client.ping();
});

test('a slower change is a result with exit code 1, and is explained', async () => {
	const client = await connect();

	project.setCost(120);
	const run = await call(client, 'run', { against: 'HEAD', bench: ['bench'] });
	assert.equal(run.isError, false);
	assert.equal(run.structuredContent.exit_code, 1, textOf(run));
	assert.match(textOf(run), /bench .*cost .*\+20\.0 %.*REGRESSION/);
	assert.match(run.structuredContent.messages, /bench: faster: not proven \(attempt 1, .*branch main: 1 attempt/s);
	assert.equal(JSON.parse(readFileSync(join(project.folder, '.fastgate/receipt.json'), 'utf8')).schema, 'fastgate-receipt/1');

	const explained = await call(client, 'explain');
	assert.equal(JSON.parse(explained.content[0].text).schema, 'fastgate-explain/1');
	const history = await call(client, 'history', { bench: 'bench', metric: 'cost' });
	assert.equal(JSON.parse(history.content[0].text).points.length, 1);
});

test('nonsensical arguments are refused with a helpful message', async () => {
	const client = await connect();
	const refused = async (name, args, wanted) => {
		const result = await call(client, name, args);

		assert.equal(result.isError, true, name);
		assert.match(textOf(result), wanted);
	};

	await refused('run', { config: '/etc/passwd' }, /run has no argument 'config'/);
	await refused('run', { quick: 'yes' }, /'quick' must be true or false/);
	await refused('run', { against: 'HEAD', bench: ['bnech'] }, /did you mean 'bench'/);
	await refused('run', { against: 'no-such-branch' }, /no-such-branch/);
	await refused('run', { against: 'HEAD', receipt: '../receipt.json' }, /leads out of the checkout/);
	await refused('profile', { run: '/etc/passwd' }, /outside the served folder/);
	await refused('profile', { run: '../../etc' }, /leads out of the checkout/);
	await refused('duel', { a: 'bench', b: 'touch made' }, /not a benchmark of fastgate.yml.*--allow-commands/);
	assert.equal(readdirSync(project.folder).includes('made'), false);
	await assert.rejects(call(client, 'remove', {}), { code: -32602 });
	await assert.rejects(call(client, 'record', { cmd: ['true'] }), { code: -32602 });
	await assert.rejects(client.request({ method: 'resources/list' }, { parse: (it) => it }), { code: -32601 });
});

test('other commands can be measured if the server allows it', async () => {
	const client = await connect('--allow-commands');
	const names = (await client.listTools()).tools.map((tool) => tool.name);
	const duel = await call(client, 'duel', { a: 'true', b: 'bench', pairs: '10:10', 'no-sampling': true });

	assert.ok(names.includes('record'));
	assert.equal(duel.isError, false, textOf(duel));
	assert.match(textOf(duel), /duel /);
});

// The command lines of processes that work in the project, except the servers.
const atWork = () => readdirSync('/proc').flatMap((pid) => {
	try {
		const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');

		return readlinkSync(`/proc/${pid}/cwd`).startsWith(project.base) && line[1] !== 'mcp' ? [line.join(' ')] : [];
	} catch {
		return [];
	}
});
const until = async (what) => {
	while (!what())
		await new Promise((resolve) => setImmediate(resolve));
};

test('a cost can be accepted if the server allows it', async () => {
	const strict = await connect();
	const client = await connect('--allow-accept');
	const cost = { bench: 'bench', metric: 'cost', reason: 'a larger cache' };

	await assert.rejects(call(strict, 'accept', cost), { code: -32602 });
	const accepted = await call(client, 'accept', cost);
	assert.equal(accepted.isError, false, textOf(accepted));
	assert.match(project.git('log', '-1'), /Fastgate-Accept: "bench" cost a larger cache/);
	assert.equal(project.git('diff', '--stat').includes('bench'), true);
	const run = await call(client, 'run', { against: 'HEAD~1', bench: ['bench'] });
	assert.equal(run.structuredContent.exit_code, 0, textOf(run));
});

test('a call reports its progress; cancelled, it ends with all its processes, and the next one runs', async () => {
	const client = await connect();
	const controller = new AbortController();
	const progress = [];
	const endless = call(client, 'run', { against: 'HEAD', bench: ['endless'] },
		{ signal: controller.signal, onprogress: (one) => progress.push(one) });

	await until(() => progress.length > 0 && atWork().some((line) => line.startsWith('sleep')));
	assert.deepEqual(progress.map((one) => one.progress), progress.map((_, i) => i + 1));
	controller.abort();
	await assert.rejects(endless);
	await until(() => atWork().length === 0);
	assert.equal((await call(client, 'explain')).isError, false);
});

test('an answer is bounded', async () => {
	const client = await connect('--allow-commands');
	const printed = await call(client, 'record', { cmd: ['seq', '100000'], output: 'recorded' });

	assert.equal(printed.structuredContent.cut, true, textOf(printed).slice(0, 500));
	const escaped = await call(client, 'record', { cmd: ['sh', '-c', 'seq 100000; seq 9000 | tr "0-9\\n" "\\001" >&2'], output: 'escaped' });

	for (const answer of [printed, escaped])
		assert.ok(Buffer.byteLength(textOf(answer)) <= ANSWER_MAX, `${Buffer.byteLength(textOf(answer))} bytes`);
	assert.match(escaped.structuredContent.messages, /\ufffd{3000}/);
	const long = Array.from({ length: 900 }, (_, i) => `no-benchmark-of-this-name-${i}`);
	const result = await call(client, 'run', { against: 'HEAD', bench: long });

	assert.equal(result.isError, true);
	assert.ok(JSON.stringify(result).length < 2 * ANSWER_MAX);
	assert.ok(textOf(result).length <= ANSWER_MAX);
});
