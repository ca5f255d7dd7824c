// SPDX-License-Identifier: Apache-2.0
// The suite imports fs.globSync for a report that this test does not use.  Node.js provides it from version 22 on; with this file,
// older versions run the suite without it.

import { register } from 'node:module';

const hook = `export async function load(url, context, next) {
	const loaded = await next(url, context);
	return url.endsWith('/conformance/dist/index.js') ? { ...loaded, source: String(loaded.source).replace(/globSync as \\w+,/, '') } : loaded;
}`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
