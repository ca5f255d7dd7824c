/* SPDX-License-Identifier: Apache-2.0 */
/* The schema alone, without a file: every path, and the key that a path means. */
#ifndef FG_CONFIG_SCHEMA_PATHS_H
#define FG_CONFIG_SCHEMA_PATHS_H

#include "config/schema.h"

struct fg_schema_visit {
	const char *path; /* with placeholders in capitals for user-defined names */
	const struct fg_key *key;
	unsigned depth;
};

/*
 * Visits every key in the order of the tables, a section before its keys. Keys that repeat below a
 * benchmark come once.
 */
void fg_schema_walk(void (*visitor)(const struct fg_schema_visit *visit, void *ctx), void *ctx);
/* The environment variable of a path, "FASTGATE_GATE_ALPHA"; false: it has none (inside lists). */
bool fg_schema_variable(const char *path, struct fg_strbuf *name);
/*
 * The key that a path means, written with real names or placeholders; NULL: none. `where` gets its
 * path with placeholders.
 */
const struct fg_key *fg_schema_find(const char *path, struct fg_strbuf *where);

#endif
