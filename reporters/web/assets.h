/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page parts, as they are built in: every module by its file name, "style.css", and
 * "bundle.js", which is all modules in one script without imports, for pages that stand alone.
 */
#ifndef FG_REPORTERS_WEB_ASSETS_H
#define FG_REPORTERS_WEB_ASSETS_H

#include <stddef.h>

struct fg_web_asset {
	const char *name;
	const char *media_type;
	const unsigned char *data; /* followed by a NUL, not counted */
	size_t size;
};

const struct fg_web_asset *fg_web_assets(size_t *count);
/* NULL when there is none of this name. */
const struct fg_web_asset *fg_web_asset_find(const char *name);

#endif
