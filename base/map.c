// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include "base/hash.h"

/* Returns the slot that holds the key, or the empty slot where it belongs. */
static size_t find_slot(const struct fg_map *map, const void *key, size_t key_length, uint64_t hash)
{
	const size_t mask = map->slot_count - 1;
	size_t at = (size_t)hash & mask;

	while (map->slots[at]) {
		const struct fg_map_entry *entry = &map->entries[map->slots[at] - 1];

		if (entry->hash == hash && entry->key_length == key_length &&
		    memcmp(entry->key, key, key_length) == 0)
			break;
		at = (at + 1) & mask;
	}
	return at;
}

static void grow_slots(struct fg_map *map)
{
	const size_t wanted = map->slot_count ? map->slot_count * 2 : 16;

	free(map->slots);
	map->slots = fg_xcalloc(wanted, sizeof(map->slots[0]));
	map->slot_count = wanted;
	for (size_t i = 0; i < map->count; i++) {
		size_t at = (size_t)map->entries[i].hash & (wanted - 1);

		while (map->slots[at])
			at = (at + 1) & (wanted - 1);
		map->slots[at] = (uint32_t)i + 1;
	}
}

static uint64_t hash_of(const void *key, size_t key_length)
{
	return fg_hash64(key, key_length, fg_process_secret());
}

uint64_t *fg_map_get(const struct fg_map *map, const void *key, size_t key_length)
{
	size_t at = 0;

	if (map->count == 0)
		return NULL;
	at = find_slot(map, key, key_length, hash_of(key, key_length));
	return map->slots[at] ? &map->entries[map->slots[at] - 1].value : NULL;
}

uint64_t *fg_map_get_text(const struct fg_map *map, const char *key)
{
	return fg_map_get(map, key, strlen(key));
}

uint64_t *fg_map_add(struct fg_map *map, const void *key, size_t key_length, uint64_t value,
		     bool *is_new)
{
	const uint64_t hash = hash_of(key, key_length);
	struct fg_map_entry *entry = NULL;
	char *copy = NULL;
	size_t at = 0;

	if (map->count + 1 > map->slot_count / 4 * 3)
		grow_slots(map);
	at = find_slot(map, key, key_length, hash);
	if (is_new)
		*is_new = map->slots[at] == 0;
	if (map->slots[at])
		return &map->entries[map->slots[at] - 1].value;
	FG_ASSERT(map->count < UINT32_MAX - 1);
	copy = fg_arena_alloc(&map->keys, key_length + 1);
	memcpy(copy, key, key_length);
	entry = &FG_APPEND(map->entries, map->count, map->capacity);
	entry->key = copy;
	entry->key_length = key_length;
	entry->value = value;
	entry->hash = hash;
	map->slots[at] = (uint32_t)map->count;
	return &entry->value;
}

uint64_t *fg_map_add_text(struct fg_map *map, const char *key, uint64_t value, bool *is_new)
{
	return fg_map_add(map, key, strlen(key), value, is_new);
}

const char *fg_map_intern(struct fg_map *map, const char *text)
{
	const uint64_t at = *fg_map_add_text(map, text, map->count, NULL);

	return map->entries[at].key;
}

void fg_map_release(struct fg_map *map)
{
	free(map->entries);
	free(map->slots);
	fg_arena_release(&map->keys);
	*map = (struct fg_map){0};
}
