// SPDX-License-Identifier: Apache-2.0
// The suite imports fs.globSync for a report that this test does not use; Node.js has it since version 22, and older versions run
// without it.

import { register } from 'node:module';

const hook = `export async function load(url, context, next) {
	const loaded = await next(url, context);
	return url.endsWith('/conformance/dist/index.js') ? { ...loaded, source: String(loaded.source).replace(/globSync as \\w+,/, '') } : loaded;
}`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
