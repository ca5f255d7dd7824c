// SPDX-License-Identifier: Apache-2.0
#include "reporters/web/assets.h"

#include <string.h>

const struct fg_web_asset *fg_web_asset_find(const char *name)
{
	size_t count = 0;
	const struct fg_web_asset *table = fg_web_assets(&count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	}
	return NULL;
}
