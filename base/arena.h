/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory with one lifetime: one arena per loaded profile, parsed configuration or request. `struct
 * fg_arena arena = {0};` is an empty arena. Memory is zeroed and aligned for any type; it is freed
 * as a whole. Under AddressSanitizer every allocation is a separate malloc, so that overruns are
 * caught.
 */
#ifndef FG_BASE_ARENA_H
#define FG_BASE_ARENA_H

#include "base/base.h"

struct fg_arena {
	struct fg_arena_block *newest;
	size_t used_bytes; /* allocated so far; compare with a limit */
};

void *fg_arena_alloc(struct fg_arena *arena, size_t size) __attribute__((returns_nonnull));
void *fg_arena_array(struct fg_arena *arena, size_t count, size_t size)
	__attribute__((returns_nonnull));
char *fg_arena_strdup(struct fg_arena *arena, const char *text); /* NULL stays NULL */
char *fg_arena_strndup(struct fg_arena *arena, const char *text, size_t length);
char *fg_arena_printf(struct fg_arena *arena, const char *format, ...) FG_PRINTF(2, 3);
void *fg_arena_memdup(struct fg_arena *arena, const void *data, size_t size);
/*
 * Makes room for one more item in an array that lives in the arena. A larger array is a copy; the
 * old one stays allocated until release.
 */
void *fg_arena_grow(struct fg_arena *arena, void *items, size_t *capacity, size_t count,
		    size_t size) __attribute__((returns_nonnull));
void fg_arena_release(struct fg_arena *arena);

#endif
