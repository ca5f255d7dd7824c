/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file or of memory, read at any offset and never beyond the end.
 *
 * Files are read, not mapped: truncating a mapped file would kill the reader with SIGBUS.
 */
#ifndef FG_BASE_BYTE_SOURCE_H
#define FG_BASE_BYTE_SOURCE_H

#include "base/base.h"
#include "base/error.h"

struct fg_source {
	int fd; /* negative: memory */
	const uint8_t *memory;
	uint64_t size;
	uint64_t stored; /* bytes on the disk; less than the size for a sparse file */
};

/* Regular files only; FG_ELIMIT beyond max_bytes. */
int fg_source_open(const char *path, uint64_t max_bytes, struct fg_source *source,
		   struct fg_error *err) FG_NODISCARD;
struct fg_source fg_source_memory(const void *data, size_t size);
/* Returns false if the source does not have all these bytes, or they cannot be read. */
bool fg_source_read(const struct fg_source *source, uint64_t offset, void *to, size_t size);
void fg_source_close(struct fg_source *source);

#endif
