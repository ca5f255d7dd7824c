/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live blocks of the program, each with its size and the site that allocated it. The table has
 * a word for each 16 bytes of address space with blocks, so two threads never wait for each other,
 * and neighbouring blocks have neighbouring words. A block belongs to one thread at a time: only
 * that thread allocates or frees it. Signal-safe.
 */
#ifndef FG_COLLECTOR_BLOCKS_H
#define FG_COLLECTOR_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define FG_BLOCK_SITES_MAX ((1u << 24) - 1)
#define FG_BLOCK_SIZE_MAX  ((UINT64_C(1) << 40) - 1) /* larger blocks count as this size */

struct fg_memory_block {
	uint32_t site; /* 0: no block */
	uint64_t size;
	bool is_temporary; /* set by fg_live_remove(): freed by its thread's next event */
};

/*
 * Records the block. Returns the previous entry at this address: if it has a site, the end of that
 * block was not seen. If out of memory, returns the block itself, which then counts as freed.
 */
struct fg_memory_block fg_block_put(const void *address, struct fg_memory_block block);
struct fg_memory_block fg_block_take(const void *address);
/* Visits the blocks in order of address. */
void fg_blocks_each(void (*visit)(uintptr_t address, struct fg_memory_block block));
/* In a child of fork: forgets the parent's blocks. */
void fg_blocks_forget(void);

#endif
