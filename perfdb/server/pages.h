/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded files of perfdb/web. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_PAGES_H
#define FG_PERFDB_SERVER_PAGES_H

#include <stddef.h>

struct fg_page {
	const char *name;
	const char *media_type;
	const unsigned char *data;
	size_t size;
};

extern const struct fg_page fg_pages[];
extern const size_t fg_page_count;

const struct fg_page *fg_page_find(const char *name); /* Returns NULL if unknown. */

#endif
