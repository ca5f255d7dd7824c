/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an ELF file says about how it was built, read without a debug-information library and with
 * everything bounded: build-id, .comment, program interpreter, and the compiler's producer strings,
 * which are looked for among the strings of the debug sections (gcc records its flags there).
 * 64-bit files of this machine's byte order only; others are FG_EUNSUPPORTED.
 */
#ifndef FG_RUNNER_BINARY_H
#define FG_RUNNER_BINARY_H

#include "base/base.h"
#include "base/error.h"

enum {
	FG_BINARY_BUILD_ID_TEXT_SIZE = 129
};

struct fg_binary {
	uint64_t size_bytes;
	char build_id[FG_BINARY_BUILD_ID_TEXT_SIZE]; /* hexadecimal, "" when it has none */
	char *interpreter;     /* dynamic loader; NULL: statically linked, or a library */
	char *comment;         /* first line of .comment; NULL: none */
	char *producer;        /* of its first compiled unit; NULL: unknown */
	size_t producer_count; /* different ones */
	bool has_debug_info;
	bool has_symbols;
	bool compressed_debug_info; /* then the producer cannot be read */
};

/* FG_EPARSE: not an ELF file, or a broken one. */
int fg_binary_read(const char *path, struct fg_binary *elf, struct fg_error *err) FG_NODISCARD;
void fg_binary_release(struct fg_binary *elf);

/* Is this string a compiler's producer string? */
bool fg_binary_is_producer(const char *text);

#endif
