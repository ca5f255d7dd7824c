/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's table of counts, by call path, region and a number that the caller chooses. Only its
 * thread changes it, so there is no lock. Signal-safe.
 */
#ifndef FG_COLLECTOR_PATH_TABLE_H
#define FG_COLLECTOR_PATH_TABLE_H

#include "collector/counting/own_memory.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/tables.h"

#include <stdbool.h>
#include <string.h>

/* Every entry begins with its key; all zero: a free place. */
struct fg_path_key {
	uint32_t path;
	uint32_t region;
	uint32_t number;
};

struct fg_path_table {
	uint8_t *entries; /* in the trace file if there is room, to survive a kill */
	void *last;       /* most recent hit, or NULL */
	uint32_t entry_size;
	uint32_t mask;
	uint32_t used;
	uint32_t thread; /* the thread that counts here; 0: none yet */
	uint32_t kind;   /* enum fg_trace_table_kind */
	uint32_t measure;
};

/* Assigns the table to this thread, which may be the first or the next thread in its slot. */
static inline void fg_path_table_adopt(struct fg_path_table *table,
				       const struct fg_trace_table *head, uint32_t thread)
{
	table->thread = thread;
	table->kind = head->kind;
	table->measure = head->measure;
	table->entry_size = head->stride;
	if (table->entries)
		fg_table_head(table->entries)->thread = thread;
}

static inline bool fg_path_is(const struct fg_path_key *a, const struct fg_path_key *b)
{
	return a->path == b->path && a->region == b->region && a->number == b->number;
}

/* Returns the entry at this index, from 0 to the mask; NULL: the place is free. */
static inline void *fg_path_table_at(const struct fg_path_table *table, uint32_t index)
{
	static const struct fg_path_key free_key;
	void *entry = table->entries + (size_t)index * table->entry_size;

	return fg_path_is(entry, &free_key) ? NULL : entry;
}

/* Returns the entry with this key, or the free place for it. */
static inline void *fg_path_table_place(const struct fg_path_table *table,
					const struct fg_path_key *key)
{
	const uint64_t hashed = ((uint64_t)key->region << 32 | key->path) ^ (uint64_t)key->number
										    << 44;
	uint32_t at = fg_spread(hashed) & table->mask;
	struct fg_path_key *entry = fg_path_table_at(table, at);

	while (entry && !fg_path_is(entry, key)) {
		at = (at + 1) & table->mask;
		entry = fg_path_table_at(table, at);
	}
	return table->entries + (size_t)at * table->entry_size;
}

/* Doubles the table; the entries move. Returns false, and changes nothing, if out of memory. */
static inline bool fg_path_table_grow(struct fg_path_table *table)
{
	enum {
		FIRST = 256
	};
	struct fg_path_table larger = *table;
	struct fg_trace_table *head = NULL;
	const uint32_t count = table->entries ? 2 * (table->mask + 1) : FIRST;

	larger.entries =
		fg_own_table((enum fg_trace_table_kind)table->kind, table->entry_size, count);
	if (!larger.entries)
		return false;
	larger.mask = count - 1;
	larger.last = NULL;
	for (uint32_t i = 0; table->entries && i <= table->mask; i++) {
		const struct fg_path_key *entry = fg_path_table_at(table, i);

		if (entry)
			memcpy(fg_path_table_place(&larger, entry), entry, table->entry_size);
	}
	head = fg_table_head(larger.entries);
	head->thread = table->thread;
	head->measure = table->measure;
	/*
	 * The old entries stay mapped, like all of the collector's memory; all old tables together
	 * are smaller than the new one.
	 */
	if (table->entries)
		fg_table_head(table->entries)->rows = 0;
	head->rows = count;
	*table = larger;
	return true;
}

/* Returns the key's entry, created if needed; NULL: out of memory. */
static inline void *fg_path_table_get(struct fg_path_table *table, const struct fg_path_key *key)
{
	struct fg_path_key *entry = table->last;

	if (entry && fg_path_is(entry, key))
		return entry;
	if ((!table->entries || table->used > table->mask / 4 * 3) && !fg_path_table_grow(table) &&
	    (!table->entries || table->used == table->mask))
		return NULL;
	entry = fg_path_table_place(table, key);
	table->used += !fg_path_is(entry, key);
	*entry = *key;
	table->last = entry;
	return entry;
}

#endif
