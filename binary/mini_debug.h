/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol table that some distributions leave in a stripped binary: an ELF file of its own with
 * only the symbols that .dynsym does not have, packed by xz in the section .gnu_debugdata.
 */
#ifndef FG_SYMBOLS_MINI_DEBUG_H
#define FG_SYMBOLS_MINI_DEBUG_H

#include "binary/elf_file.h"

enum {
	FG_MINI_DEBUG_MAX_PACKED = 64 << 20,
	/* limit of the unpacked size, and of the memory for unpacking */
	FG_MINI_DEBUG_MAX_BYTES = 256 << 20,
};

/* FG_ENOENT: the binary has none; FG_EPARSE, FG_ELIMIT: it is damaged or too large. */
int fg_mini_debug_read(const char *path, struct fg_elf *symbols, struct fg_error *err) FG_NODISCARD;

#endif
