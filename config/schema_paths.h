/* SPDX-License-Identifier: Apache-2.0 */
/* The schema without a file: every path, and the key of a path. */
#ifndef FG_CONFIG_SCHEMA_PATHS_H
#define FG_CONFIG_SCHEMA_PATHS_H

#include "config/schema.h"

struct fg_schema_visit {
	const char *path; /* with placeholders in capitals for user-defined names */
	const struct fg_key *key;
	unsigned depth;
};

/*
 * Visits every key in table order, a section before its keys. Keys that repeat below a benchmark
 * are visited once.
 */
void fg_schema_walk(void (*visitor)(const struct fg_schema_visit *visit, void *ctx), void *ctx);
/*
 * The environment variable of a path, "FASTGATE_GATE_ALPHA". Returns false if it has none (inside
 * lists).
 */
bool fg_schema_variable(const char *path, struct fg_strbuf *name);
/*
 * The key of a path, written with real names or placeholders; NULL: unknown. `where` gets its path
 * with placeholders.
 */
const struct fg_key *fg_schema_find(const char *path, struct fg_strbuf *where);

#endif
