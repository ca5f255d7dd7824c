/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code generated at run time, from the text file /tmp/perf-PID.map that JIT compilers
 * write for profilers. Each line is "START SIZE NAME" with hexadecimal numbers. If several lines
 * cover an address, the line with the highest start counts; if several lines have this start, the
 * last of them counts. Anyone can write to /tmp, so the file is read only if it is a regular file
 * of this user or of root, up to 256 MiB.
 */
#ifndef FG_BINARY_JIT_MAP_H
#define FG_BINARY_JIT_MAP_H

#include "base/base.h"
#include "base/error.h"

struct fg_jit_entry {
	uint64_t start, end;
	const char *name;
	uint32_t order;
};

struct fg_jit_map {
	struct fg_jit_entry *entries; /* sorted by start */
	size_t count, capacity;
	char *text;
};

int fg_jit_map_read(const char *path, struct fg_jit_map *map, struct fg_error *err) FG_NODISCARD;
/* Takes over and modifies `text`, which ends with a NUL. */
void fg_jit_map_parse(char *text, struct fg_jit_map *map);
const char *fg_jit_map_find(const struct fg_jit_map *map, uint64_t address); /* or NULL */
/*
 * Names of script functions include their place, "JS:*hot /a/bench.js:1:13", which differs between
 * two builds. Splits such a name into the stable "JS:*hot bench.js" and the place; a function
 * without a name keeps its line. Returns false for any other kind of name.
 */
struct fg_jit_place {
	char *name, *file; /* the caller frees both */
	unsigned line;
};
bool fg_jit_place_read(const char *name, struct fg_jit_place *place);
void fg_jit_map_release(struct fg_jit_map *map);

#endif
