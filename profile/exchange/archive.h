/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A portable file of traces and everything that names their addresses (binaries, debug files, JIT
 * maps, symbol tables), so that another host shows the same profile byte for byte. The format is
 * described in docs/formats/archive.md.
 */
#ifndef FG_EXCHANGE_ARCHIVE_H
#define FG_EXCHANGE_ARCHIVE_H

#include "base/arena.h"
#include "base/error.h"
#include "binary/symbolizer.h"

#define FG_ARCHIVE_ENDING      ".tar.zst"
#define FG_ARCHIVE_SCHEMA      "fastgate-archive/1"
#define FG_ARCHIVE_MANIFEST    "manifest.json" /* the first file */
#define FG_ARCHIVE_TRACES      "traces"
#define FG_ARCHIVE_TOTAL_BYTES (UINT64_C(8) << 30)

enum {
	FG_ARCHIVE_MANIFEST_BYTES = 32 << 20,
	FG_ARCHIVE_FILES = 100000,
};

struct fg_archive_content {
	size_t traces;
	size_t binaries;
	size_t debug_files;
	size_t maps;
	uint64_t bytes; /* unpacked */
	char **missing; /* one line each: modules without a binary, files that are not traces */
	size_t missing_count, missing_capacity;
};

/*
 * Writes `output` from a trace or a folder of traces. `symbols` has the places to look for files;
 * its `archive` must be NULL. FG_ENOENT: no trace; FG_ELIMIT: the files exceed an archive's limits.
 */
int fg_archive_write(const char *traces, const struct fg_symbolizer_options *symbols,
		     const char *output, struct fg_archive_content *content, struct fg_error *err)
	FG_NODISCARD;
void fg_archive_content_release(struct fg_archive_content *content);

struct fg_archive {
	struct fg_arena arena;
	/* unpacked files; its subfolder "symbols" is a cache of the symbolizer */
	char *folder;
	char *traces;                     /* a folder of traces */
	struct fg_symbol_archive symbols; /* for fg_symbolizer_options */
};

bool fg_archive_is_archive(const char *path);
/*
 * Unpacks into a new folder below `parent` and checks every file against the manifest. FG_EPARSE:
 * damaged, changed or hostile; FG_ELIMIT: too large, for this program or the disk. `is_stopped` is
 * called between pieces; if it returns true, the result is FG_EINTERRUPTED.
 */
int fg_archive_open(const char *path, const char *parent, bool (*is_stopped)(void),
		    struct fg_archive *archive, struct fg_error *err) FG_NODISCARD;
/* Removes the folder. */
void fg_archive_close(struct fg_archive *archive);

#endif
