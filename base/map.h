/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte strings to 64-bit values, by open addressing.  `struct fg_map map = {0};` is an empty one.
 * Keys are copied into the map.  Iteration is in order of insertion, so that output never depends
 * on hashing. The hash is seeded per process: keys come from outsiders.
 */
#ifndef FG_BASE_MAP_H
#define FG_BASE_MAP_H

#include "base/arena.h"

struct fg_map_entry {
	const char *key; /* NUL behind it, whatever the bytes are */
	size_t key_length;
	uint64_t value;
	uint64_t hash;
};

struct fg_map {
	struct fg_map_entry *entries; /* in order of insertion; `count` of them */
	size_t count;
	size_t capacity;
	uint32_t *slots; /* entry index + 1, or 0 */
	size_t slot_count;
	struct fg_arena keys;
};

/* The value's place, or NULL.  Valid until the next insertion. */
uint64_t *fg_map_get(const struct fg_map *map, const void *key, size_t key_length);
/* The same for who has the key's hash already. */
uint64_t fg_map_hash(const void *key, size_t key_length);
uint64_t *fg_map_get_hashed(const struct fg_map *map, const void *key, size_t key_length,
			    uint64_t hash);
uint64_t *fg_map_get_text(const struct fg_map *map, const char *key);
/*
 * Insert with `value` unless the key is there; returns the place and whether it is new (may be
 * NULL).
 */
uint64_t *fg_map_add(struct fg_map *map, const void *key, size_t key_length, uint64_t value,
		     bool *is_new);
uint64_t *fg_map_add_text(struct fg_map *map, const char *key, uint64_t value, bool *is_new);
void fg_map_release(struct fg_map *map);

#endif
