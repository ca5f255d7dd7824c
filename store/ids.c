// SPDX-License-Identifier: Apache-2.0
#include "store/ids.h"

#include "base/hash.h"

#include <pthread.h>

enum {
	NODES_MAX = 4 << 20, /* 128 MiB; then everything is forgotten, and asked for again */
	FUNCTIONS_MAX = 1 << 20,
	LEAST_SLOTS = 64
};

struct fg_ids {
	pthread_rwlock_t lock;
	struct fg_map functions;
	struct fg_id_table nodes;
};

/* Where the search for a key begins. */
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

void fg_id_table_soon(const struct fg_id_table *table, uint64_t key)
{
	if (table->count)
		__builtin_prefetch(table->slots + 2 * start(table, key));
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

void fg_id_table_reserve(struct fg_id_table *table, size_t count)
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
	fg_id_table_reserve(table, table->count + 1);
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

struct fg_ids *fg_ids_new(void)
{
	struct fg_ids *ids = fg_xcalloc(1, sizeof(*ids));

	(void)pthread_rwlock_init(&ids->lock, NULL);
	return ids;
}

void fg_ids_free(struct fg_ids *ids)
{
	if (!ids)
		return;
	fg_map_release(&ids->functions);
	fg_id_table_release(&ids->nodes);
	(void)pthread_rwlock_destroy(&ids->lock);
	free(ids);
}

void fg_ids_begin(struct fg_ids *ids)
{
	(void)pthread_rwlock_rdlock(&ids->lock);
}

void fg_ids_end(struct fg_ids *ids)
{
	(void)pthread_rwlock_unlock(&ids->lock);
}

int64_t fg_ids_function(const struct fg_ids *ids, const void *key, size_t size, uint64_t hash)
{
	const uint64_t *id = fg_map_get_hashed(&ids->functions, key, size, hash);

	return id ? (int64_t)*id : 0;
}

/* Ids that do not fit into 32 bits (never seen) are simply not kept here. */
static uint64_t node_key(uint64_t parent, uint64_t function)
{
	return parent <= UINT32_MAX && function <= UINT32_MAX ? parent << 32 | function : 0;
}

uint64_t fg_ids_node(const struct fg_ids *ids, uint64_t parent, uint64_t function)
{
	const uint64_t key = node_key(parent, function);

	return key ? fg_id_table_get(&ids->nodes, key) : 0;
}

void fg_ids_node_soon(const struct fg_ids *ids, uint64_t parent, uint64_t function)
{
	fg_id_table_soon(&ids->nodes, node_key(parent, function));
}

size_t fg_ids_function_count(struct fg_ids *ids)
{
	size_t count = 0;

	fg_ids_begin(ids);
	count = ids->functions.count;
	fg_ids_end(ids);
	return count;
}

size_t fg_ids_node_count(struct fg_ids *ids)
{
	size_t count = 0;

	fg_ids_begin(ids);
	count = ids->nodes.count;
	fg_ids_end(ids);
	return count;
}

void fg_ids_add(struct fg_ids *ids, const struct fg_map *functions, const struct fg_map *nodes)
{
	if (functions->count == 0 && nodes->count == 0)
		return;
	(void)pthread_rwlock_wrlock(&ids->lock);
	if (ids->functions.count + functions->count > FUNCTIONS_MAX)
		fg_map_release(&ids->functions);
	if (ids->nodes.count + nodes->count > NODES_MAX)
		fg_id_table_release(&ids->nodes);
	for (size_t i = 0; i < functions->count; i++)
		(void)fg_map_add(&ids->functions, functions->entries[i].key,
				 functions->entries[i].key_length, functions->entries[i].value,
				 NULL);
	for (size_t i = 0; i < nodes->count; i++) {
		uint64_t pair[2];
		uint64_t key = 0;

		memcpy(pair, nodes->entries[i].key, sizeof(pair));
		key = node_key(pair[0], pair[1]);
		if (key)
			(void)fg_id_table_add(&ids->nodes, key, nodes->entries[i].value);
	}
	(void)pthread_rwlock_unlock(&ids->lock);
}
