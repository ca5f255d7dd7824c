// SPDX-License-Identifier: Apache-2.0
// The suite imports fs.globSync, which Node.js has since version 22, for a report that is not made here: older versions run it without.

import { register } from 'node:module';

const hook = `export async function load(url, context, next) {
	const loaded = await next(url, context);
	return url.endsWith('/conformance/dist/index.js') ? { ...loaded, source: String(loaded.source).replace(/globSync as \\w+,/, '') } : loaded;
}`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
