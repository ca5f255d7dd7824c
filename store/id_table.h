/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit keys to 64-bit values. */
#ifndef FG_STORE_ID_TABLE_H
#define FG_STORE_ID_TABLE_H

#include "base/base.h"

/* 64-bit keys to 64-bit values, 16 bytes per slot; {0} is an empty table.  Key 0 is reserved. */
struct fg_id_table {
	uint64_t *slots; /* key, value, key, value ... */
	size_t slot_count;
	size_t count;
};

uint64_t fg_id_table_get(const struct fg_id_table *table, uint64_t key); /* 0: not there */

/* The value that the key has from now on: `value`, or the one it had. */
uint64_t fg_id_table_add(struct fg_id_table *table, uint64_t key, uint64_t value);

void fg_id_table_release(struct fg_id_table *table);

#endif
