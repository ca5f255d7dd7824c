/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads memory of the program that may not be mapped, page by page: a system call checks each page
 * first. Signal-safe; in a sandbox no such call is possible, and nothing is read.
 */
#ifndef FG_COLLECTOR_READABLE_H
#define FG_COLLECTOR_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of the kernel's pages in bytes, 4096 to 65536. Set at start-up. */
extern uintptr_t fg_page;

static inline uintptr_t fg_page_down(uintptr_t at)
{
	return at & ~(fg_page - 1);
}

static inline uintptr_t fg_page_up(uintptr_t at)
{
	return fg_page_down(at + fg_page - 1);
}

/* Can a word be read at `address`? Makes a system call; in a sandbox the answer is no. */
bool fg_is_readable(uintptr_t address);

enum {
	FG_PAGES_KNOWN = 64
};

/* Pages known to be readable: valid while one interrupted thread is examined. */
struct fg_pages {
	uintptr_t known[FG_PAGES_KNOWN]; /* page numbers */
};

void fg_pages_forget(struct fg_pages *pages);
/* Returns false, and copies nothing, if the `size` bytes at `address` cannot be read. */
bool fg_pages_read(struct fg_pages *pages, uintptr_t address, void *to, size_t size);

#endif
