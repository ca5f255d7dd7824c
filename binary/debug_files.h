/* SPDX-License-Identifier: Apache-2.0 */
/* Finds debug information outside the binary. */
#ifndef FG_BINARY_DEBUG_FILES_H
#define FG_BINARY_DEBUG_FILES_H

#include "binary/elf_file.h"

/*
 * Finds the separate debug file of a binary: by build-id below `debug_root`, by .gnu_debuglink and
 * its checksum next to the binary, in .debug/ and below `debug_root`, and from debuginfod if
 * requested. Returns a path that the caller frees, or NULL.
 */
char *fg_debug_file_find(const struct fg_elf *elf, const char *binary, const char *debug_root,
			 bool debuginfod);

/*
 * Returns a copy of the path; NULL: the file cannot be read, or has another build-id than the
 * binary.
 */
char *fg_debug_file_check(const struct fg_elf *elf, const char *path);

/* Returns the vdso that is mapped into this process, or NULL. */
const void *fg_debug_own_vdso(size_t *size);

/* ---- mini_debug.c ---- */

enum {
	FG_MINI_DEBUG_MAX_PACKED = 64 << 20,
	/* limit of the unpacked size, and of the memory used to unpack */
	FG_MINI_DEBUG_MAX_BYTES = 256 << 20,
};

/* FG_ENOENT: the binary has no .gnu_debugdata; FG_EPARSE, FG_ELIMIT: it is damaged or too large. */
int fg_mini_debug_read(const char *path, struct fg_elf *symbols, struct fg_error *err) FG_NODISCARD;

#endif
