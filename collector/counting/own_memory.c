// SPDX-License-Identifier: Apache-2.0
#include "collector/counting/own_memory.h"

#include "collector/sampler/writer.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PARTS_MAX = 8192,
	PAGES_AT_ONCE = 1024,
};

struct part {
	_Atomic uintptr_t begin; /* 0: not known yet */
	_Atomic uintptr_t end;
};

static struct part parts[PARTS_MAX];
static _Atomic uint32_t part_count;

/* The bounds of this library's .bss. */
/*
 * NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names made by the linker
 */
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

void *fg_own_map(size_t size, int flags)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
			    -1, 0);
	uint32_t number = 0;

	if (memory == MAP_FAILED)
		return NULL;
	number = atomic_fetch_add(&part_count, 1);
	if (number >= PARTS_MAX) {
		atomic_store(&part_count, PARTS_MAX);
		return memory;
	}
	atomic_store(&parts[number].end, (uintptr_t)memory + size);
	atomic_store(&parts[number].begin, (uintptr_t)memory);
	return memory;
}

void *fg_own_table(enum fg_trace_table_kind kind, uint32_t stride, uint32_t rows)
{
	void *table = fg_file_table(kind, stride, rows);

	if (table)
		return table;
	table = fg_own_map(FG_TRACE_TABLE_ROWS + (size_t)stride * rows, 0);
	return table ? (uint8_t *)table + FG_TRACE_TABLE_ROWS : NULL;
}

static uintptr_t look(uintptr_t at, uintptr_t begin, uintptr_t end, uintptr_t *next)
{
	if (begin > at && begin < *next)
		*next = begin;
	return begin && at >= begin && at < end ? end : 0;
}

uintptr_t fg_own_memory_end(uintptr_t at, uintptr_t end, uintptr_t *next)
{
	const uint32_t count = atomic_load(&part_count);
	uintptr_t found = 0;

	*next = end;
	found = look(at, (uintptr_t)__bss_start, (uintptr_t)_end, next);
	for (uint32_t i = 0; i < count && i < PARTS_MAX && !found; i++)
		found = look(at, atomic_load(&parts[i].begin), atomic_load(&parts[i].end), next);
	return found;
}

size_t fg_resident_bytes(uintptr_t begin, uintptr_t end)
{
	unsigned char present[PAGES_AT_ONCE];
	size_t bytes = 0;

	while (begin < end) {
		const size_t left = (end - begin) / fg_page;
		const size_t pages = left < PAGES_AT_ONCE ? left : PAGES_AT_ONCE;

		if (syscall(SYS_mincore, begin, pages * fg_page, present) != 0)
			return bytes + (end - begin);
		for (size_t i = 0; i < pages; i++)
			bytes += present[i] & 1 ? fg_page : 0;
		begin += pages * fg_page;
	}
	return bytes;
}
