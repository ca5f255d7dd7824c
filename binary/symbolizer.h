/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds names, files and lines for addresses after the run.
 *
 * fg_symbolizer_new() → fg_symbolizer_module() per binary → fg_symbolizer_find() per address →
 * fg_symbolizer_free(). One symbolizer lives as long as a whole `fastgate run`: it keeps modules,
 * demangled names and every address looked up, and caches results from debug information on disk by
 * build-id.
 *
 * If a build-id was recorded, a binary is used only if it has the same build-id: a rebuilt file is
 * never used. Search order: the recorded path (or the file of `archive`), then the folders of
 * `binary_folders`, by whole path and by base name (for a trace from another host). Debug
 * information: in the binary; DEBUG_ROOT/.build-id/xx/yyyy.debug; the name in .gnu_debuglink in the
 * binary's folder, in its .debug/, and below DEBUG_ROOT; debuginfod if requested.
 *
 * Every address gets a chain of at least one symbol, outermost function first, then the inlined
 * ones. A symbol without a name is "module+0xoffset", flagged FG_FRAME_NAMELESS. Not thread safe.
 */
#ifndef FG_BINARY_SYMBOLIZER_H
#define FG_BINARY_SYMBOLIZER_H

#include "base/base.h"
#include "base/error.h"
#include "binary/elf_file.h"
#include "binary/symbol_archive.h"

struct fg_symbolizer_options {
	const char *const *binary_folders; /* NULL at the end; may be NULL */
	const char *debug_root;            /* NULL: /usr/lib/debug */
	const char *cache_folder;          /* NULL: nothing is kept on disk */
	bool names_only;                   /* no debug information: no lines, no inlined frames */
	bool debuginfod; /* ask the servers of $DEBUGINFOD_URLS, through libdebuginfod */
	/* if set, only its files and files in binary_folders are used */
	const struct fg_symbol_archive *archive;
};

struct fg_symbol_function {
	const char *name;    /* readable */
	const char *linkage; /* mangled; NULL: the same as `name` */
	const char *file;    /* file of the definition; NULL: unknown */
	unsigned line;
};

struct fg_symbol {
	const struct fg_symbol_function *function; /* never NULL */
	const char *at_file;                       /* file of the line executed; NULL: unknown */
	unsigned at_line;
	uint32_t flags; /* enum fg_frame_flag of binary/frame_flag.h */
};

struct fg_symbolizer *fg_symbolizer_new(const struct fg_symbolizer_options *options);
/* Writes the cache; failure to do so is not an error. */
void fg_symbolizer_save(struct fg_symbolizer *symbolizer);
/* Writes the cache first. */
void fg_symbolizer_free(struct fg_symbolizer *symbolizer);

/*
 * Finds or opens a module. Never NULL: a module without a usable binary still names its addresses
 * by offset.
 */
struct fg_symbol_module *fg_symbolizer_module(struct fg_symbolizer *symbolizer, const char *path,
					      const uint8_t *build_id, size_t build_id_size,
					      bool is_vdso);
/*
 * Returns the module for code outside any module. The JIT map of this process names the code, if
 * the map is safe to read.
 */
struct fg_symbol_module *fg_symbolizer_jit(struct fg_symbolizer *symbolizer, uint32_t pid);

/*
 * Reserves room for this many addresses of the module. Lookups in order of address are fastest.
 */
void fg_symbolizer_expect(struct fg_symbol_module *module, size_t addresses);
/* Returns the length of the chain, at least 1.  The symbols live as long as the symbolizer. */
size_t fg_symbolizer_find(struct fg_symbolizer *symbolizer, struct fg_symbol_module *module,
			  uint64_t address, const struct fg_symbol **chain);

/* The instructions of a function. The caller frees them. */
struct fg_symbol_code {
	uint64_t start, end;
	struct fg_instruction *instructions;
	size_t count;
};

/*
 * Disassembles the function around the address. FG_ENOENT: the module has no usable file;
 * FG_EUNSUPPORTED: the bounds of the function are unknown or more than 1 MiB apart, or the machine
 * is not x86.
 */
int fg_symbolizer_code(struct fg_symbol_module *module, uint64_t address,
		       struct fg_symbol_code *code, struct fg_error *err) FG_NODISCARD;

const char *fg_symbol_module_name(const struct fg_symbol_module *module); /* base name */
/*
 * Returns the origin of the module's names, for display: "symbol table of /usr/bin/x", "no file
 * with build-id ...".
 */
const char *fg_symbol_module_source(const struct fg_symbol_module *module);
/*
 * Returns the number of compilation units looked up so far without their split debug information
 * (.dwo): they have lines but no inlined frames.
 */
size_t fg_symbol_module_missing_units(const struct fg_symbol_module *module);
/*
 * Lists the files that named the addresses so far: files of modules, and JIT maps of processes.
 * Another host needs them to give the same names. The strings live as long as the symbolizer;
 * `archive` must be released.
 */
void fg_symbolizer_files(const struct fg_symbolizer *symbolizer, struct fg_symbol_archive *archive);
/* Returns the first of `names` (NULL-terminated) that is a function in the file, or NULL. */
const char *fg_symbol_module_defines(const struct fg_symbol_module *module,
				     const char *const *names);
/* True if there is a problem to report (no file, another build-id). */
bool fg_symbol_module_is_bad(const struct fg_symbol_module *module);

#endif
