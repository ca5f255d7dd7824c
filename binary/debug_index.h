/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps an address to functions, inlined functions and lines with DWARF.
 *
 * libdw walks the same tree of entries again for every address (19 ms per address with inlined
 * frames in a large library). Here each compilation unit is walked once, at the first lookup in it,
 * and yields three arrays:
 *
 *	segments   non-overlapping address ranges, each with its innermost scope: a function or
 *	           an inlined copy of one
 *	scopes     parent scope, function, and the line of the call when inlined
 *	lines      start addresses of source lines
 *
 * A lookup is then three binary searches and a walk up the scopes. The arrays hold only numbers,
 * and texts as offsets, so the cache stores them unchanged, by build-id.
 */
#ifndef FG_BINARY_DEBUG_INDEX_H
#define FG_BINARY_DEBUG_INDEX_H

#include "base/base.h"
#include "base/error.h"
#include "base/map.h"

struct fg_debug_range {
	uint64_t start, end;
	uint32_t unit;
	uint32_t reserved;
};

struct fg_debug_unit {
	uint64_t entry; /* offset of its root in .debug_info */
	uint32_t first_segment, segment_count;
	uint32_t first_line, line_count;
	uint32_t indexed;
	uint32_t reserved;
};

struct fg_debug_segment {
	uint64_t start;
	uint32_t scope; /* index + 1; 0: none */
	uint32_t reserved;
};

struct fg_debug_scope {
	uint32_t parent; /* index + 1; 0: not inlined */
	uint32_t function;
	uint32_t call_file; /* text offset */
	uint32_t call_line;
};

struct fg_debug_line {
	uint64_t start;
	uint32_t file; /* text offset */
	uint32_t line; /* 0: no line from here on */
};

struct fg_debug_function {
	uint32_t name;    /* text offset */
	uint32_t linkage; /* text offset; 0: none */
	uint32_t file;
	uint32_t line;
	/* text offset of the demangled linkage name; 0: not done yet, or not a mangled name */
	uint32_t readable;
	uint32_t reserved;
};

struct fg_debug_index {
	struct fg_debug_range *ranges; /* sorted by start */
	size_t range_count, range_capacity;
	struct fg_debug_unit *units;
	size_t unit_count, unit_capacity;
	struct fg_debug_segment *segments;
	size_t segment_count, segment_capacity;
	struct fg_debug_scope *scopes;
	size_t scope_count, scope_capacity;
	struct fg_debug_line *lines;
	size_t line_count, line_capacity;
	struct fg_debug_function *functions;
	size_t function_count, function_capacity;
	char *texts; /* NUL-terminated, one after the other; offset 0 is "" */
	size_t texts_size, texts_capacity;
	/* texts loaded from the cache, which never move; equal to `texts` until a text is added */
	char *loaded_texts;
	size_t loaded_texts_size;
	/* range of the previous lookup: lookups are mostly in order */
	size_t last_range;

	/* built when the first text is added */
	struct fg_map text_index;
	struct fg_debug_file *file; /* handle of libdw; NULL: not open */
	char *path;
	bool changed;               /* changed since the index was loaded */
	size_t units_without_split; /* units walked without their .dwo file */
};

/* One level of an address's chain, which begins with the outermost level. */
struct fg_debug_frame {
	/* FG_DEBUG_NO_FUNCTION: a line without a function around it (assembler sources) */
	uint32_t function;
	uint32_t at_file; /* text offset: file of the line executed at this level; 0: unknown */
	uint32_t at_line;
	bool inlined;
};

#define FG_DEBUG_NO_FUNCTION UINT32_MAX

enum {
	FG_DEBUG_CHAIN_MAX = 64
};

/*
 * Finds the units without walking them. `path` contains the debug information: a binary or a
 * separate file.
 */
int fg_debug_index_open(struct fg_debug_index *index, const char *path, struct fg_error *err)
	FG_NODISCARD;
/* Returns the length of the chain; 0: nothing is known about the address. */
size_t fg_debug_index_find(struct fg_debug_index *index, uint64_t address,
			   struct fg_debug_frame chain[FG_DEBUG_CHAIN_MAX]);
/* Returns the text at this offset; valid until a text is added, for example by a walk. */
static inline const char *fg_debug_text(const struct fg_debug_index *index, uint32_t text)
{
	return index->texts + text;
}
/* Returns the text if it lives as long as the index; NULL: it may move. */
static inline const char *fg_debug_lasting_text(const struct fg_debug_index *index, uint32_t text)
{
	return text < index->loaded_texts_size ? index->loaded_texts + text : NULL;
}
/* Keeps the demangled name with the function: the next run finds it in the cache. */
void fg_debug_set_readable(struct fg_debug_index *index, uint32_t function, const char *readable);
void fg_debug_index_release(struct fg_debug_index *index);

/*
 * Saves everything found so far, with a checksum. Loading returns FG_ENOENT if the file is missing,
 * and FG_EPARSE if the file is damaged or belongs to another version or build-id. `path` is opened
 * for the first address in a unit that is not in the cache.
 */
int fg_debug_index_save(const struct fg_debug_index *index, const char *cache_file,
			const char *build_id, struct fg_error *err) FG_NODISCARD;
int fg_debug_index_load(struct fg_debug_index *index, const char *cache_file, const char *build_id,
			const char *path, struct fg_error *err) FG_NODISCARD;

/*
 * Removes cache files below `folder` that have not been used for FG_DEBUG_CACHE_DAYS: every build
 * leaves a file.
 */
enum {
	FG_DEBUG_CACHE_DAYS = 30
};
void fg_debug_cache_prune(const char *folder);
/* Returns the path of this build's file below the cache's folder. The caller frees it. */
char *fg_debug_cache_file(const char *cache_folder, const char *build_id);

/* debug_walk.c and debug_texts.c read with libdw and append to the index. */
int fg_debug_file_open(struct fg_debug_index *index, struct fg_error *err);
void fg_debug_file_close(struct fg_debug_index *index);
int fg_debug_find_units(struct fg_debug_index *index, struct fg_error *err);
void fg_debug_walk_unit(struct fg_debug_index *index, uint32_t number);
uint32_t fg_debug_add_text(struct fg_debug_index *index, const char *text);

#endif
