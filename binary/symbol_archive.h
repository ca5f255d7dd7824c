/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files needed to name the addresses of a trace, shipped with it. The symbolizer uses them
 * instead of this host's files. fg_symbolizer_files() lists the files that an archive needs.
 */
#ifndef FG_BINARY_SYMBOL_ARCHIVE_H
#define FG_BINARY_SYMBOL_ARCHIVE_H

#include "base/map.h"

struct fg_symbol_file {
	const char *path; /* path on this host; NULL: none */
	const char *from; /* path on the recorded host, for display */
};

/* A module of a trace, known by its path and build-id. */
struct fg_symbol_files {
	const char *path;
	const char *build_id; /* hexadecimal; "": none was recorded */
	struct fg_symbol_file binary;
	struct fg_symbol_file debug; /* separate debug information */
	const char *problem;         /* reason why no binary was used; NULL: unknown */
	bool is_vdso;
};

struct fg_symbol_map {
	uint32_t pid;
	const char *path; /* a copy of /tmp/perf-PID.map */
};

struct fg_symbol_archive {
	struct fg_symbol_files *modules;
	size_t module_count;
	struct fg_symbol_map *maps;
	size_t map_count;
	struct fg_map index; /* build-id NUL path, and build-id alone → index into modules */
};

/* Call when all modules are known; fg_symbol_archive_find() needs it. */
void fg_symbol_archive_index(struct fg_symbol_archive *archive);

/*
 * Returns the row of a module, or NULL. If no row has both the path and the build-id, the build-id
 * alone decides: a path with bytes that are not UTF-8 may have been changed in transit.
 */
const struct fg_symbol_files *fg_symbol_archive_find(const struct fg_symbol_archive *archive,
						     const char *path, const char *build_id);
/* Returns the path of this process's JIT map, or NULL. */
const char *fg_symbol_archive_map(const struct fg_symbol_archive *archive, uint32_t pid);

/* Frees the tables; the caller owns the strings. */
void fg_symbol_archive_release(struct fg_symbol_archive *archive);

#endif
