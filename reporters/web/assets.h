/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded page parts: every module by its file name, "style.css", and "bundle.js", which has
 * all modules in one script without imports, for self-contained pages.
 */
#ifndef FG_REPORTERS_WEB_ASSETS_H
#define FG_REPORTERS_WEB_ASSETS_H

#include <stddef.h>

struct fg_web_asset {
	const char *name;
	const char *media_type;
	const unsigned char *data; /* followed by a NUL that `size` does not count */
	size_t size;
};

const struct fg_web_asset *fg_web_assets(size_t *count);
/* Returns NULL if the name is unknown. */
const struct fg_web_asset *fg_web_asset_find(const char *name);

#endif
