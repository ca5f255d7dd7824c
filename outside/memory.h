/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of another process, read page by page with process_vm_readv() and kept: what is kept is
 * only true while the process stands still.
 */
#ifndef FG_OUTSIDE_MEMORY_H
#define FG_OUTSIDE_MEMORY_H

#include "base/base.h"

#include <sys/types.h>

enum {
	FG_MEMORY_PAGE = 4096,
	FG_MEMORY_PAGES = 256,
};

struct fg_memory {
	pid_t pid;
	uint64_t kept[FG_MEMORY_PAGES]; /* address + 1 of the page in this place; 0: none */
	uint8_t (*pages)[FG_MEMORY_PAGE];
};

void fg_memory_init(struct fg_memory *memory, pid_t pid);
void fg_memory_release(struct fg_memory *memory);
/* False: not all of it can be read. */
bool fg_memory_read(struct fg_memory *memory, uint64_t address, void *data, size_t size);

#endif
