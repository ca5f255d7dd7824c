/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of another process, read page by page with process_vm_readv() and kept until
 * fg_memory_forget().
 */
#ifndef FG_ATTACH_MEMORY_H
#define FG_ATTACH_MEMORY_H

#include "base/base.h"

#include <sys/types.h>

enum {
	FG_MEMORY_PAGE = 4096,
	FG_MEMORY_PAGES = 256,
	FG_MEMORY_FETCH_MAX = 16,
	FG_MEMORY_SPARE = FG_MEMORY_PAGES, /* slot for pages whose own slot holds a copy */
};

struct fg_memory {
	pid_t pid;
	uint64_t kept[FG_MEMORY_PAGES + 1]; /* address + 1 of the page in this slot; 0: none */
	/* from fg_memory_put(): the process may have continued since */
	bool is_copy[FG_MEMORY_PAGES];
	uint8_t (*pages)[FG_MEMORY_PAGE];
};

void fg_memory_init(struct fg_memory *memory, pid_t pid);
void fg_memory_release(struct fg_memory *memory);
/* Forgets all pages, because the process may have changed them. */
void fg_memory_forget(struct fg_memory *memory);
/* Reads up to this many pages at once, starting with the page of the address. */
void fg_memory_fetch(struct fg_memory *memory, uint64_t address, size_t pages);
/*
 * Copies the readable part of this many pages, starting with the page of the address, without
 * keeping it here. Returns the number of bytes.
 */
size_t fg_memory_copy(const struct fg_memory *memory, uint64_t address, size_t pages, void *data);
/* Adds an earlier copy of this memory: reads use it until fg_memory_forget(). */
void fg_memory_put(struct fg_memory *memory, uint64_t address, const void *data, size_t size);
/* Returns false if some of the bytes cannot be read. */
bool fg_memory_read(struct fg_memory *memory, uint64_t address, void *data, size_t size);

#endif
