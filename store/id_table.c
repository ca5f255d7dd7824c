// SPDX-License-Identifier: Apache-2.0
#include "store/id_table.h"

#include "base/base.h"
#include "base/hash.h"

enum {
	LEAST_SLOTS = 64
};

/* The slot where the search for a key starts. */
static size_t start(const struct fg_id_table *table, uint64_t key)
{
	uint64_t hash = key * fg_process_secret();

	hash ^= hash >> 32;
	return (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (table->slot_count - 1);
}

static size_t place(const struct fg_id_table *table, uint64_t key)
{
	const size_t mask = table->slot_count - 1;
	size_t at = start(table, key);

	while (table->slots[2 * at] && table->slots[2 * at] != key)
		at = (at + 1) & mask;
	return at;
}

uint64_t fg_id_table_get(const struct fg_id_table *table, uint64_t key)
{
	return table->count ? table->slots[2 * place(table, key) + 1] : 0;
}

static void resize(struct fg_id_table *table, size_t slots)
{
	struct fg_id_table larger = {fg_xcalloc(slots, 2 * sizeof(*larger.slots)), slots,
				     table->count};

	for (size_t i = 0; i < table->slot_count; i++) {
		if (table->slots[2 * i])
			memcpy(larger.slots + 2 * place(&larger, table->slots[2 * i]),
			       table->slots + 2 * i, 2 * sizeof(*larger.slots));
	}
	free(table->slots);
	*table = larger;
}

static void reserve(struct fg_id_table *table, size_t count)
{
	size_t slots = table->slot_count ? table->slot_count : LEAST_SLOTS;

	while (slots / 3 * 2 <= count)
		slots *= 2;
	if (slots != table->slot_count)
		resize(table, slots);
}

uint64_t fg_id_table_add(struct fg_id_table *table, uint64_t key, uint64_t value)
{
	size_t at = 0;

	FG_ASSERT(key != 0);
	reserve(table, table->count + 1);
	at = place(table, key);
	if (!table->slots[2 * at]) {
		table->slots[2 * at] = key;
		table->slots[2 * at + 1] = value;
		table->count++;
	}
	return table->slots[2 * at + 1];
}

void fg_id_table_release(struct fg_id_table *table)
{
	free(table->slots);
	*table = (struct fg_id_table){0};
}
