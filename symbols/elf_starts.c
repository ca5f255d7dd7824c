// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_starts.h"

#define SECTION ".eh_frame_hdr"

enum {
	MAX_BYTES = 256 << 20,
	HEADER_SIZE = 12, /* version, three encodings, where .eh_frame is, how many rows */
	ROW_SIZE = 8, /* a function's beginning and its entry, both from the section's address on */
	VERSION = 1,
	UDATA4 = 0x03, /* the encodings that every linker uses */
	PCREL_SDATA4 = 0x1b,
	DATAREL_SDATA4 = 0x3b,
};

static const uint8_t expected[] = {VERSION, PCREL_SDATA4, UDATA4, DATAREL_SDATA4};

static int ascending(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a;
	const uint64_t other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

int fg_elf_starts_parse(const void *bytes, size_t size, const struct fg_elf *elf,
			struct fg_elf_starts *starts, struct fg_error *err)
{
	const char *at = bytes;
	uint64_t *items;
	size_t kept = 0;
	uint32_t count;

	if (size < HEADER_SIZE || memcmp(at, expected, sizeof(expected)) != 0)
		return fg_error_set(err, FG_EPARSE, SECTION " has an unknown shape");
	memcpy(&count, at + HEADER_SIZE - sizeof(count), sizeof(count));
	if (count > (size - HEADER_SIZE) / ROW_SIZE)
		return fg_error_set(err, FG_EPARSE, SECTION " ends before its table does");
	items = fg_xcalloc((size_t)count + 1, sizeof(items[0]));
	for (size_t i = 0; i < count; i++) {
		uint64_t start;
		int32_t offset;

		memcpy(&offset, at + HEADER_SIZE + i * ROW_SIZE, sizeof(offset));
		start = elf->unwind_table + (uint64_t)(int64_t)offset;
		if (start >= elf->code_start && start < elf->code_end)
			items[kept++] = start;
	}
	if (kept > 0)
		qsort(items, kept, sizeof(items[0]), ascending);
	*starts = (struct fg_elf_starts){.items = items, .count = kept};
	return FG_OK;
}

int fg_elf_starts_read(const char *path, const struct fg_elf *elf, struct fg_elf_starts *starts,
		       struct fg_error *err)
{
	char *bytes;
	size_t size;
	int status = fg_elf_read_section(path, SECTION, MAX_BYTES, &bytes, &size, err);

	if (status != FG_OK)
		return status;
	status = fg_elf_starts_parse(bytes, size, elf, starts, err);
	if (status != FG_OK)
		fg_error_prefix(err, "%s", path);
	free(bytes);
	return status;
}

void fg_elf_starts_release(struct fg_elf_starts *starts)
{
	free(starts->items);
	*starts = (struct fg_elf_starts){0};
}

/* How many begin at or before the address. */
static size_t count_up_to(const struct fg_elf_starts *starts, uint64_t address)
{
	size_t low = 0;
	size_t high = starts->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (starts->items[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t fg_elf_starts_find(const struct fg_elf_starts *starts, uint64_t address)
{
	const size_t count = count_up_to(starts, address);

	return count > 0 ? starts->items[count - 1] : address;
}

uint64_t fg_elf_starts_after(const struct fg_elf_starts *starts, uint64_t address)
{
	const size_t count = count_up_to(starts, address);

	return count < starts->count ? starts->items[count] : 0;
}
