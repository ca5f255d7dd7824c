/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of another process, read page by page with process_vm_readv() and kept until
 * fg_memory_forget().
 */
#ifndef FG_OUTSIDE_MEMORY_H
#define FG_OUTSIDE_MEMORY_H

#include "base/base.h"

#include <sys/types.h>

enum {
	FG_MEMORY_PAGE = 4096,
	FG_MEMORY_PAGES = 256,
	FG_MEMORY_FETCH_MAX = 16,
	FG_MEMORY_SPARE = FG_MEMORY_PAGES, /* a place for pages whose own has a copy in it */
};

struct fg_memory {
	pid_t pid;
	uint64_t kept[FG_MEMORY_PAGES + 1]; /* address + 1 of the page in this place; 0: none */
	/* copied earlier: the process may have continued since */
	bool is_copy[FG_MEMORY_PAGES];
	uint8_t (*pages)[FG_MEMORY_PAGE];
};

void fg_memory_init(struct fg_memory *memory, pid_t pid);
void fg_memory_release(struct fg_memory *memory);
/* Something may have changed: nothing that was kept is used again. */
void fg_memory_forget(struct fg_memory *memory);
/* Reads up to this many pages at once, starting with the page of the address. */
void fg_memory_fetch(struct fg_memory *memory, uint64_t address, size_t pages);
/*
 * Copies what can be read of this many pages, starting with the page of the address, without
 * keeping it here.  The number of bytes.
 */
size_t fg_memory_copy(const struct fg_memory *memory, uint64_t address, size_t pages, void *data);
/*
 * An earlier copy of that memory: reads are served from it until it is forgotten.
 */
void fg_memory_put(struct fg_memory *memory, uint64_t address, const void *data, size_t size);
/* False: not all of it can be read. */
bool fg_memory_read(struct fg_memory *memory, uint64_t address, void *data, size_t size);

#endif
