/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build facts of an ELF file: build-id, .comment, program interpreter, and the compiler's producer
 * strings. Producer strings are found among the strings of the debug sections; gcc records its
 * flags in them.
 */
#ifndef FG_RUNNER_BINARY_H
#define FG_RUNNER_BINARY_H

#include "binary/elf_tables.h"

/* Optimisation levels, from the flags that gcc writes into the producer string. */
enum fg_binary_level {
	FG_BINARY_O0 = 1 << 0, /* also without any -O */
	FG_BINARY_OG = 1 << 1,
	FG_BINARY_O1 = 1 << 2,
	FG_BINARY_O2 = 1 << 3,
	FG_BINARY_O3 = 1 << 4,
	FG_BINARY_OFAST = 1 << 5,
	FG_BINARY_OS = 1 << 6,
	FG_BINARY_OZ = 1 << 7,
};

struct fg_binary {
	uint64_t size_bytes;
	char build_id[FG_BUILD_ID_TEXT]; /* hexadecimal, or "" */
	char *interpreter;               /* dynamic loader; NULL: statically linked, or a library */
	char *comment;                   /* the lines of .comment, joined by "; "; NULL: none */
	char *producer;                  /* string of the first compilation unit; NULL: unknown */
	size_t producer_count;           /* number of distinct producers */
	unsigned levels; /* optimisation levels over all producers: enum fg_binary_level, or'ed */
	bool has_debug_info;
	bool has_symbols;
};

/* FG_EPARSE: not an ELF file, or a broken one. */
int fg_binary_read(const char *path, struct fg_binary *binary, struct fg_error *err) FG_NODISCARD;
void fg_binary_release(struct fg_binary *binary);

/* Is this string a compiler's producer string? */
bool fg_binary_is_producer(const char *text);
/* Returns the optimisation level in this producer string; 0: none is recorded. */
unsigned fg_binary_level_of(const char *producer);
/* Returns "-O2", or "-O0 -O2" if units differ; "" for 0. The caller frees the text. */
char *fg_binary_level_names(unsigned levels);

#endif
