/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open-addressed tables that are insert-only and lock-free. They grow by opening another level,
 * four times as large, and keep the full levels: nothing ever moves, so no lock is needed, and a
 * small program touches little memory. Lookups go from the newest level to the oldest. Signal-safe,
 * except for fg_table_reserve() and fg_ids_init().
 */
#ifndef FG_COLLECTOR_TABLES_H
#define FG_COLLECTOR_TABLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FG_LEVELS = 5,
	FG_TABLE_PROBES = 64,
};

/* One level of a table; a larger level follows when it is full. */
struct fg_table_level {
	void *entries;
	uint32_t mask;
	_Atomic uint32_t used;
	_Atomic uint32_t present; /* bytes from the beginning that are populated, or about to be */
};

int fg_table_reserve(struct fg_table_level *levels, uint32_t first, size_t entry_size);
/* Forgets everything: a child of fork starts its own file. */
void fg_table_clear(struct fg_table_level *levels, _Atomic uint32_t *current, size_t entry_size);
/*
 * Returns the newest level with room for an entry; opens the next level if needed. NULL: all are
 * full.
 */
struct fg_table_level *fg_table_to_fill(struct fg_table_level *levels, _Atomic uint32_t *current);

static inline uint32_t fg_spread(uint64_t key)
{
	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* ---- ids by a key that is not 0 ---- */

struct fg_id_entry {
	_Atomic uint64_t key;
	_Atomic uint32_t id;
	uint32_t unused;
};

struct fg_keyed_ids {
	struct fg_table_level levels[FG_LEVELS];
	_Atomic uint32_t current;
};

int fg_ids_init(struct fg_keyed_ids *table, uint32_t first);
void fg_ids_clear(struct fg_keyed_ids *table);
/* Returns the key's id; 0: the key is missing, or another thread is about to enter it. */
uint32_t fg_ids_find(const struct fg_keyed_ids *table, uint64_t key);
/* Is there room for another entry? */
bool fg_ids_have_room(struct fg_keyed_ids *table);
/*
 * Enters the key if there is room. If another thread has entered the key with another id, either id
 * may be found from then on.
 */
void fg_ids_add(struct fg_keyed_ids *table, uint64_t key, uint32_t id);

#endif
