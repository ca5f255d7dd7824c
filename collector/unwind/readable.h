/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that belongs to the program, and of which it is not certain that it is mapped: it is read
 * page by page after asking the kernel.  Signal-safe; in a sandbox nothing can be asked, and
 * nothing is read.
 */
#ifndef FG_COLLECTOR_READABLE_H
#define FG_COLLECTOR_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Can a word be read at `address`?  Asks the kernel. */
/* Bytes of one of the kernel's pages: 4096 to 65536.  Set at start. */
extern uintptr_t fg_page;

static inline uintptr_t fg_page_down(uintptr_t at)
{
	return at & ~(fg_page - 1);
}

static inline uintptr_t fg_page_up(uintptr_t at)
{
	return fg_page_down(at + fg_page - 1);
}

bool fg_is_readable(uintptr_t address);

enum {
	FG_PAGES_KNOWN = 64
};

/* Pages that could be read a moment ago: valid for one look at a thread that stands still. */
struct fg_pages {
	uintptr_t known[FG_PAGES_KNOWN]; /* numbers of pages */
};

void fg_pages_forget(struct fg_pages *pages);
/* False: `size` bytes at `address` cannot be read; then nothing is copied. */
bool fg_pages_read(struct fg_pages *pages, uintptr_t address, void *to, size_t size);

#endif
