// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/memory.h"

#include <sys/uio.h>

static size_t place_of(uint64_t address, size_t pages_on)
{
	return (address / FG_MEMORY_PAGE + pages_on) % FG_MEMORY_PAGES;
}

void fg_memory_init(struct fg_memory *memory, pid_t pid)
{
	*memory = (struct fg_memory){.pid = pid};
	memory->pages = fg_xcalloc(FG_MEMORY_PAGES + 1, sizeof(memory->pages[0]));
}

void fg_memory_release(struct fg_memory *memory)
{
	free(memory->pages);
	*memory = (struct fg_memory){0};
}

void fg_memory_forget(struct fg_memory *memory)
{
	memset(memory->kept, 0, sizeof(memory->kept));
	memset(memory->is_copy, 0, sizeof(memory->is_copy));
}

void fg_memory_fetch(struct fg_memory *memory, uint64_t address, size_t pages)
{
	const uint64_t first = address - address % FG_MEMORY_PAGE;
	struct iovec to[FG_MEMORY_FETCH_MAX] = {0};
	struct iovec from = {.iov_len = pages * FG_MEMORY_PAGE};
	ssize_t got = 0;

	FG_ASSERT(pages <= FG_MEMORY_FETCH_MAX);
	memcpy(&from.iov_base, &first, sizeof(from.iov_base));
	for (size_t i = 0; i < pages; i++)
		to[i] = (struct iovec){.iov_base = memory->pages[place_of(first, i)],
				       .iov_len = FG_MEMORY_PAGE};
	got = process_vm_readv(memory->pid, to, pages, &from, 1, 0);
	for (size_t i = 0; i < pages; i++)
		memory->is_copy[place_of(first, i)] = false;
	for (size_t i = 0; i < pages; i++)
		memory->kept[place_of(first, i)] = got >= (ssize_t)((i + 1) * FG_MEMORY_PAGE)
							   ? first + i * FG_MEMORY_PAGE + 1
							   : 0;
}

size_t fg_memory_copy(const struct fg_memory *memory, uint64_t address, size_t pages, void *data)
{
	const uint64_t first = address - address % FG_MEMORY_PAGE;
	struct iovec to = {.iov_base = data, .iov_len = pages * FG_MEMORY_PAGE};
	/* one element per page: copies everything before an unreadable page */
	struct iovec from[FG_MEMORY_FETCH_MAX] = {0};
	ssize_t got = 0;

	FG_ASSERT(pages <= FG_MEMORY_FETCH_MAX);
	for (size_t i = 0; i < pages; i++) {
		const uint64_t page = first + i * FG_MEMORY_PAGE;

		memcpy(&from[i].iov_base, &page, sizeof(page));
		from[i].iov_len = FG_MEMORY_PAGE;
	}
	got = process_vm_readv(memory->pid, &to, 1, from, pages, 0);
	return got > 0 ? (size_t)got : 0;
}

/*
 * Keeps the pages of the data. The first page is known only from `address` onwards. An incomplete
 * last page is not kept.
 */
void fg_memory_put(struct fg_memory *memory, uint64_t address, const void *data, size_t size)
{
	const uint8_t *from = data;

	while (size > 0) {
		const size_t offset = address % FG_MEMORY_PAGE;
		const size_t length = FG_MEMORY_PAGE - offset;
		const size_t place = place_of(address, 0);

		if (length > size)
			return;
		memset(memory->pages[place], 0, offset);
		memcpy(memory->pages[place] + offset, from, length);
		memory->kept[place] = address - offset + 1;
		memory->is_copy[place] = true;
		address += length;
		from += length;
		size -= length;
	}
}

static const uint8_t *page_at(struct fg_memory *memory, uint64_t address)
{
	size_t place = place_of(address, 0);
	struct iovec to = {.iov_len = FG_MEMORY_PAGE};
	/* an address in the other process, never dereferenced here */
	struct iovec from = {.iov_len = FG_MEMORY_PAGE};

	if (memory->is_copy[place] && memory->kept[place] != address + 1)
		place = FG_MEMORY_SPARE;
	if (memory->kept[place] == address + 1)
		return memory->pages[place];
	to.iov_base = memory->pages[place];
	memcpy(&from.iov_base, &address, sizeof(from.iov_base));
	memory->kept[place] = 0;
	if (process_vm_readv(memory->pid, &to, 1, &from, 1, 0) != FG_MEMORY_PAGE)
		return NULL;
	memory->kept[place] = address + 1;
	return memory->pages[place];
}

bool fg_memory_read(struct fg_memory *memory, uint64_t address, void *data, size_t size)
{
	uint8_t *to = data;

	if (address + size < address)
		return false;
	while (size > 0) {
		const size_t offset = address % FG_MEMORY_PAGE;
		const size_t length = fg_min_size(size, FG_MEMORY_PAGE - offset);
		const uint8_t *page = page_at(memory, address - offset);

		if (!page)
			return false;
		memcpy(to, page + offset, length);
		to += length;
		address += length;
		size -= length;
	}
	return true;
}
