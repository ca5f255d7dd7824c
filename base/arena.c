// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <stdarg.h>

#if defined(__SANITIZE_ADDRESS__)
# define BLOCK_BYTES 0 /* a separate block per allocation, so that overruns are caught */
#elif defined(__has_feature)
# if __has_feature(address_sanitizer)
#  define BLOCK_BYTES 0
# endif
#endif
#ifndef BLOCK_BYTES
# define BLOCK_BYTES 16384
#endif
#define LARGEST_MORE_BYTES \
 ((size_t)BLOCK_BYTES * 16) /* maximum that a large arena adds to its block size */

enum {
	ALIGNMENT = 16
};

struct fg_arena_block {
	struct fg_arena_block *older;
	size_t size;
	size_t used;
	_Alignas(ALIGNMENT) unsigned char bytes[];
};

/* Blocks grow with the arena: the kernel provides the pages of a large block only on first use. */
static size_t block_bytes(const struct fg_arena *arena, size_t rounded)
{
	size_t wanted = arena->used_bytes / 2;

	if (wanted > LARGEST_MORE_BYTES)
		wanted = LARGEST_MORE_BYTES;
	wanted += BLOCK_BYTES;
	return rounded > wanted ? rounded : wanted;
}

void *fg_arena_alloc(struct fg_arena *arena, size_t size)
{
	struct fg_arena_block *block = arena->newest;
	size_t rounded = 0;
	void *memory = NULL;

	FG_ASSERT(size <= SIZE_MAX / 4);
	rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!block || block->size - block->used < rounded) {
		const size_t wanted = block_bytes(arena, rounded);

		block = fg_xcalloc(1, sizeof(*block) + wanted);
		block->size = wanted;
		block->older = arena->newest;
		arena->newest = block;
	}
	memory = block->bytes + block->used;
	block->used += rounded;
	arena->used_bytes += rounded;
	return memory;
}

void *fg_arena_array(struct fg_arena *arena, size_t count, size_t size)
{
	size_t bytes = 0;

	FG_ASSERT(!__builtin_mul_overflow(count, size, &bytes));
	return fg_arena_alloc(arena, bytes);
}

char *fg_arena_strdup(struct fg_arena *arena, const char *text)
{
	return text ? fg_arena_strndup(arena, text, strlen(text)) : NULL;
}

char *fg_arena_strndup(struct fg_arena *arena, const char *text, size_t length)
{
	const size_t used = strnlen(text, length);
	char *copy = fg_arena_alloc(arena, used + 1);

	memcpy(copy, text, used);
	return copy;
}

char *fg_arena_printf(struct fg_arena *arena, const char *format, ...)
{
	char *copy = NULL;
	va_list ap;
	va_list again;
	int length = 0;

	va_start(ap, format);
	va_copy(again, ap);
	length = vsnprintf(NULL, 0, format, ap);
	FG_ASSERT(length >= 0);
	copy = fg_arena_alloc(arena, (size_t)length + 1);
	(void)vsnprintf(copy, (size_t)length + 1, format, again);
	va_end(again);
	va_end(ap);
	return copy;
}

void *fg_arena_memdup(struct fg_arena *arena, const void *data, size_t size)
{
	void *copy = fg_arena_alloc(arena, size);

	if (size)
		memcpy(copy, data, size);
	return copy;
}

void *fg_arena_grow(struct fg_arena *arena, void *items, size_t *capacity, size_t count,
		    size_t size)
{
	size_t wanted = 0;
	void *moved = NULL;

	if (items && count < *capacity)
		return items;
	wanted = *capacity ? *capacity * 2 : 16;
	moved = fg_arena_array(arena, wanted, size);
	if (items && count > 0)
		memcpy(moved, items, count * size);
	*capacity = wanted;
	return moved;
}

void fg_arena_release(struct fg_arena *arena)
{
	struct fg_arena_block *block = arena->newest;

	while (block) {
		struct fg_arena_block *older = block->older;

		free(block);
		block = older;
	}
	arena->newest = NULL;
	arena->used_bytes = 0;
}
