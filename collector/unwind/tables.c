// SPDX-License-Identifier: Apache-2.0
/*
 * An entry is claimed by exchanging its key from 0 and published by the last store to it. A thread
 * that finds a claimed but unpublished entry does not wait: it computes the answer itself and
 * writes it to the trace again, under another id.
 */
#include "collector/unwind/tables.h"

#include "collector/counting/own_memory.h"

#include <errno.h>
#include <sys/mman.h>

enum {
	GROWTH_SHIFT = 2
};

int fg_table_reserve(struct fg_table_level *levels, uint32_t first, size_t entry_size)
{
	size_t count = first;

	for (unsigned i = 0; i < FG_LEVELS; i++, count <<= GROWTH_SHIFT) {
		void *at = fg_own_map(count * entry_size, MAP_NORESERVE);

		if (!at)
			return i > 0 ? 0 : -ENOMEM;
		levels[i].entries = at;
		levels[i].mask = (uint32_t)count - 1;
	}
	return 0;
}

void fg_table_clear(struct fg_table_level *levels, _Atomic uint32_t *current, size_t entry_size)
{
	for (uint32_t i = 0; i <= atomic_load(current); i++) {
		if (atomic_load(&levels[i].used) || atomic_load(&levels[i].present))
			(void)madvise(levels[i].entries, (levels[i].mask + (size_t)1) * entry_size,
				      MADV_DONTNEED);
		atomic_store(&levels[i].used, 0);
		atomic_store(&levels[i].present, 0);
	}
	atomic_store(current, 0);
}

struct fg_table_level *fg_table_to_fill(struct fg_table_level *levels, _Atomic uint32_t *current)
{
	for (;;) {
		uint32_t i = atomic_load_explicit(current, memory_order_relaxed);
		struct fg_table_level *level = &levels[i];

		if (atomic_load_explicit(&level->used, memory_order_relaxed) <= level->mask / 4 * 3)
			return level->entries ? level : NULL;
		if (i + 1 >= FG_LEVELS || !levels[i + 1].entries)
			return NULL;
		(void)atomic_compare_exchange_strong(current, &i, i + 1);
	}
}

int fg_ids_init(struct fg_keyed_ids *table, uint32_t first)
{
	return fg_table_reserve(table->levels, first, sizeof(struct fg_id_entry));
}

void fg_ids_clear(struct fg_keyed_ids *table)
{
	fg_table_clear(table->levels, &table->current, sizeof(struct fg_id_entry));
}

/* Returns the key's entry on this level, or its free place; NULL if neither is near. */
static struct fg_id_entry *probe(const struct fg_table_level *level, uint64_t key, bool *found)
{
	struct fg_id_entry *entries = level->entries;
	uint32_t at = fg_spread(key);

	*found = false;
	for (unsigned n = 0; n < FG_TABLE_PROBES; n++, at++) {
		struct fg_id_entry *entry = &entries[at & level->mask];
		uint64_t seen = atomic_load_explicit(&entry->key, memory_order_acquire);

		if (seen == key || seen == 0) {
			*found = seen == key;
			return entry;
		}
	}
	return NULL;
}

uint32_t fg_ids_find(const struct fg_keyed_ids *table, uint64_t key)
{
	int i = (int)atomic_load_explicit(&table->current, memory_order_relaxed);

	if (!table->levels[0].entries)
		return 0;
	for (; i >= 0; i--) {
		bool found;
		const struct fg_id_entry *entry = probe(&table->levels[i], key, &found);

		if (found)
			return atomic_load_explicit(&entry->id, memory_order_acquire);
	}
	return 0;
}

bool fg_ids_have_room(struct fg_keyed_ids *table)
{
	return fg_table_to_fill(table->levels, &table->current) != NULL;
}

void fg_ids_add(struct fg_keyed_ids *table, uint64_t key, uint32_t id)
{
	struct fg_table_level *level = fg_table_to_fill(table->levels, &table->current);
	bool found = false;
	struct fg_id_entry *entry = level ? probe(level, key, &found) : NULL;
	uint64_t empty = 0;

	if (entry && !found && atomic_compare_exchange_strong(&entry->key, &empty, key)) {
		(void)atomic_fetch_add_explicit(&level->used, 1, memory_order_relaxed);
		atomic_store_explicit(&entry->id, id, memory_order_release);
	}
}
