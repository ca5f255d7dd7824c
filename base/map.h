/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps byte strings to 64-bit values by open addressing. `struct fg_map map = {0};` is an empty
 * map. Keys are copied into the map. Iteration is in order of insertion, so that output never
 * depends on hashing. The hash is seeded per process, because keys come from outsiders.
 */
#ifndef FG_BASE_MAP_H
#define FG_BASE_MAP_H

#include "base/arena.h"

struct fg_map_entry {
	const char *key; /* may contain any bytes; a NUL follows */
	size_t key_length;
	uint64_t value;
	uint64_t hash;
};

struct fg_map {
	struct fg_map_entry *entries; /* in order of insertion */
	size_t count;
	size_t capacity;
	uint32_t *slots; /* entry index + 1, or 0 */
	size_t slot_count;
	struct fg_arena keys;
};

/* Returns a pointer to the value, or NULL. Valid until the next insertion. */
uint64_t *fg_map_get(const struct fg_map *map, const void *key, size_t key_length);
uint64_t *fg_map_get_text(const struct fg_map *map, const char *key);
/*
 * Inserts with `value` unless the key exists; returns a pointer to the value, and in *is_new (may
 * be NULL) whether the key is new.
 */
uint64_t *fg_map_add(struct fg_map *map, const void *key, size_t key_length, uint64_t value,
		     bool *is_new);
uint64_t *fg_map_add_text(struct fg_map *map, const char *key, uint64_t value, bool *is_new);
/*
 * Returns the map's copy of the string; equal strings share one copy. Use a separate map for
 * interned strings.
 */
const char *fg_map_intern(struct fg_map *map, const char *text);
void fg_map_release(struct fg_map *map);

#endif
