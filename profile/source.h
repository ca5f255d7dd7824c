/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a file or of memory, read where asked and never beyond the end.  Files are read, not mapped: a mapped file that
 * somebody shortens kills the reader with SIGBUS.  For the readers of this folder.
 */
#ifndef FG_PROFILE_SOURCE_H
#define FG_PROFILE_SOURCE_H

#include "base/base.h"
#include "base/error.h"

struct fg__source {
	int fd; /* negative: memory */
	const uint8_t *memory;
	uint64_t size;
	uint64_t stored; /* bytes on the disk: less than the size for a file with holes */
};

/* Regular files only; FG_ELIMIT beyond max_bytes. */
int fg__source_open(const char *path, uint64_t max_bytes, struct fg__source *source,
		    struct fg_error *err) FG_NODISCARD;
struct fg__source fg__source_memory(const void *data, size_t size);
/* false: the source does not have these bytes (or they cannot be read). */
bool fg__source_read(const struct fg__source *source, uint64_t offset, void *to, size_t size);
void fg__source_close(struct fg__source *source);

#endif
