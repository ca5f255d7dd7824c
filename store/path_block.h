/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call paths with consecutive ids as one packed block.  Its content, before it is packed like any
 * other (store/bytes.h), is a list of varints: the id of the first path, the number of paths, of
 * each path how far its parent's id lies below its own, of each path its function.
 */
#ifndef FG_STORE_PATH_BLOCK_H
#define FG_STORE_PATH_BLOCK_H

#include "base/base.h"
#include "base/error.h"
#include "store/bytes.h"

enum {
	FG_PATH_BLOCK_MAX = 4096 /* paths: one of them is read by unpacking all */
};

struct fg_call_path {
	uint64_t parent; /* smaller than the path's own id; 0: the path is a root */
	uint64_t function;
};

struct fg_path_block {
	uint64_t first; /* the id of paths[0] */
	size_t count;
	struct fg_call_path *paths;
	/*
	 * By place, one more than the place of the path's first child, and of its parent's next
	 * one; 0: not in this block.
	 */
	uint16_t *children;
	uint16_t *siblings;
};

/* Append the packed block of the paths, which are the caller's, to `packed`. */
int fg_path_block_seal(uint64_t first, const struct fg_call_path *paths, size_t count, int level,
		       struct fg_bytes *packed, struct fg_error *err) FG_NODISCARD;
/* FG_EPARSE, FG_ELIMIT: it is damaged, or has other paths than these. */
int fg_path_block_open(const void *packed, size_t size, uint64_t first, uint64_t count,
		       struct fg_path_block *block, struct fg_error *err) FG_NODISCARD;
/* As above, from the unpacked content. */
int fg_path_block_read(struct fg_byte_reader *reader, uint64_t first, uint64_t count,
		       struct fg_path_block *block, struct fg_error *err) FG_NODISCARD;
static inline bool fg_path_block_has(const struct fg_path_block *block, uint64_t id)
{
	return id >= block->first && id - block->first < block->count;
}
/* The id of a path whose parent is in this block; 0: none that is in it, too. */
uint64_t fg_path_block_find(const struct fg_path_block *block, uint64_t parent, uint64_t function);
void fg_path_block_release(struct fg_path_block *block);

#endif
