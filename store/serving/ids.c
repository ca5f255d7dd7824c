// SPDX-License-Identifier: Apache-2.0
#include "store/serving/ids.h"

#include "base/base.h"
#include "base/map.h"
#include "store/id_table.h"
#include "store/intern.h"
#include "store/session.h"

#include <pthread.h>

enum {
	NODES_MAX = 4 << 20, /* 128 MiB; beyond, the cache is emptied */
	FUNCTIONS_MAX = 1 << 20,
};

struct fg_ids {
	struct fg_id_cache cache; /* what a session sees; the first member */
	pthread_rwlock_t lock;
	struct fg_map functions;
	struct fg_id_table nodes;
};

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

/* Ids beyond 32 bits (never seen) are not cached. */
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

static struct fg_ids *ids_of(const struct fg_id_cache *cache)
{
	return (struct fg_ids *)(uintptr_t)cache;
}

static void cache_begin(struct fg_id_cache *cache)
{
	fg_ids_begin(ids_of(cache));
}

static void cache_end(struct fg_id_cache *cache)
{
	fg_ids_end(ids_of(cache));
}

static int64_t cache_function(const struct fg_id_cache *cache, const void *key, size_t size,
			      uint64_t hash)
{
	return fg_ids_function(ids_of(cache), key, size, hash);
}

static uint64_t cache_node(const struct fg_id_cache *cache, uint64_t parent, uint64_t function)
{
	return fg_ids_node(ids_of(cache), parent, function);
}

static void cache_node_soon(const struct fg_id_cache *cache, uint64_t parent, uint64_t function)
{
	fg_ids_node_soon(ids_of(cache), parent, function);
}

static size_t cache_function_count(struct fg_id_cache *cache)
{
	return fg_ids_function_count(ids_of(cache));
}

static size_t cache_node_count(struct fg_id_cache *cache)
{
	return fg_ids_node_count(ids_of(cache));
}

static void cache_add(struct fg_id_cache *cache, const struct fg_map *functions,
		      const struct fg_map *nodes)
{
	fg_ids_add(ids_of(cache), functions, nodes);
}

static const struct fg_id_cache_ops cache_ops = {
	.begin = cache_begin,
	.end = cache_end,
	.function = cache_function,
	.node = cache_node,
	.node_soon = cache_node_soon,
	.function_count = cache_function_count,
	.node_count = cache_node_count,
	.add = cache_add,
};

struct fg_ids *fg_ids_new(void)
{
	struct fg_ids *ids = fg_xcalloc(1, sizeof(*ids));

	ids->cache.ops = &cache_ops;
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

void fg_store_share_ids(struct fg_store *store, struct fg_ids *ids)
{
	store->ids.shared = ids ? &ids->cache : NULL;
}
