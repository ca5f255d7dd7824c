/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the symbolizer. Each file calls only the files below it:
 *
 *	symbolizer.c           keeps every address that was looked up
 *	symbolizer_code.c      disassembles the function around an address
 *	symbolizer_names.c     names an address: debug information, symbol table, JIT map, offset
 *	symbolizer_modules.c   finds the files of a module and opens them
 *
 * The members of a module are grouped by the file that fills them.
 */
#ifndef FG_BINARY_SYMBOLIZER_PRIVATE_H
#define FG_BINARY_SYMBOLIZER_PRIVATE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/pair_index.h"
#include "binary/debug_index.h"
#include "binary/eh_frame.h"
#include "binary/elf_file.h"
#include "binary/jit_map.h"
#include "binary/symbolizer.h"

enum {
	FG_RECENT_TEXTS = 64
};

/* An address with its symbols, outermost function first. */
struct fg_symbol_chain {
	uint64_t address;
	struct fg_symbol *symbols;
	uint32_t count;
};

/* symbolizer_modules.c: the binary and the separate file with its symbols. */
struct fg_module_file {
	char *path;       /* NULL: no file is used */
	const char *from; /* path for display: in an archive, the path on the recorded host */
	struct fg_elf elf;
	struct fg_elf separate; /* symbols of another file, when the binary is stripped */
	bool has_separate;
	bool separate_is_mini; /* `separate` lacks the dynamic symbols */
	char *debug_path;      /* the separate debug file; NULL: none, or not searched for yet */
	const char *debug_from;
	bool looked_for_debug;
	struct fg_eh_frames frames; /* read for the first address without a name */
	bool tried_frames;
};

/* symbolizer_names.c: debug information and its texts. symbolizer_modules.c opens `index`. */
struct fg_module_debug {
	struct fg_debug_index index;
	bool is_open;
	bool was_tried;
	char *cache_file;                            /* NULL: not kept */
	const struct fg_symbol_function **functions; /* indexed by number; NULL: not made yet */
	size_t function_count;
	struct fg_pair_index text_index; /* (0, offset of a text) → index into texts */
	const char **texts;
	size_t text_count, text_capacity;
	/* indexed by the low bits of the offset: most frames share the previous frame's file */
	struct {
		uint32_t text; /* 0: empty */
		const char *kept;
	} recent[FG_RECENT_TEXTS];
};

/* symbolizer.c: the known addresses. */
struct fg_module_chains {
	struct fg_symbol_chain *items; /* ascending */
	size_t count, capacity;
	size_t next;                  /* index after the last hit */
	struct fg_symbol_chain *late; /* addresses that came after a higher address */
	size_t late_count, late_capacity;
	struct fg_pair_index late_index; /* upper and lower half of the address → index into late */
};

struct fg_symbol_module {
	const char *name;
	const char *source;              /* origin of the names, for display */
	char build_id[FG_BUILD_ID_TEXT]; /* "": not recorded, and the binary has none */
	bool bad;
	/* from the trace; NULL: code outside any module */
	const char *path;
	bool has_recorded_id;
	const struct fg_symbol_files *archived; /* its row in the archive */
	bool has_vdso;                          /* the recorded vdso was found */
	uint32_t pid;                           /* for code outside any module */
	struct fg_jit_map jit;
	struct fg_module_file file;
	struct fg_module_debug debug;
	struct fg_module_chains chains;
};

struct fg_symbolizer {
	struct fg_arena arena;
	struct fg_symbolizer_options options;
	struct fg_map module_index; /* path NUL build-id → index */
	struct fg_symbol_module **modules;
	size_t module_count, module_capacity;
	struct fg_map readable; /* linkage name → address of the readable name */
	struct fg_map texts;
};

/* Returns an interned copy, valid as long as the symbolizer; NULL stays NULL. */
const char *fg_symbolizer_text(struct fg_symbolizer *symbolizer, const char *text);
/* Opens the debug index for the first address that needs it, from the cache if possible. */
bool fg_symbol_module_open_debug(struct fg_symbolizer *symbolizer, struct fg_symbol_module *module);
/* Saves new results from debug information. Returns true if a cache file was written. */
bool fg_symbol_module_save(struct fg_symbol_module *module);
void fg_symbol_module_free(struct fg_symbol_module *module);
/*
 * Returns the start of the function around the address in the unwind tables; otherwise the address.
 */
uint64_t fg_symbol_module_start_of(struct fg_symbol_module *module, uint64_t address);
/* Makes the chain of symbols for an address. */
struct fg_symbol_chain fg_symbolizer_name(struct fg_symbolizer *symbolizer,
					  struct fg_symbol_module *module, uint64_t address);

#endif
