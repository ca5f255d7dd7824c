// SPDX-License-Identifier: Apache-2.0
#include "collector/unwind/readable.h"

#include "collector/sampler/state.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	KERNEL_SIGSET = 8,
	PAGE_SHIFT = 12, /* log2 of the smallest page size */
};

uintptr_t fg_page = 4096;

bool fg_is_readable(uintptr_t address)
{
	/*
	 * The kernel reads the set before it looks at `how`: EFAULT if it cannot, EINVAL if it can.
	 */
	return !fg_g.sandboxed &&
	       syscall(SYS_rt_sigprocmask, -1, (void *)(address & ~(uintptr_t)(KERNEL_SIGSET - 1)),
		       NULL, KERNEL_SIGSET) == -1 &&
	       errno == EINVAL;
}

void fg_pages_forget(struct fg_pages *pages)
{
	memset(pages, 0, sizeof(*pages));
}

static bool knows(struct fg_pages *pages, uintptr_t page)
{
	uintptr_t *known = &pages->known[(page ^ page >> 6) % FG_PAGES_KNOWN];

	if (FG_LIKELY(*known == page))
		return page != 0;
	if (page == 0 || !fg_is_readable(page << PAGE_SHIFT))
		return false;
	*known = page;
	return true;
}

bool fg_pages_read(struct fg_pages *pages, uintptr_t address, void *to, size_t size)
{
	const uintptr_t last = (address + size - 1) >> PAGE_SHIFT;

	if (size == 0 || address + size < address)
		return false;
	for (uintptr_t page = address >> PAGE_SHIFT; page <= last; page++)
		if (!knows(pages, page))
			return false;
	memcpy(to, (const void *)address, size);
	return true;
}
