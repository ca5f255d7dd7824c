/* SPDX-License-Identifier: Apache-2.0 */
/* Find or add the rows of functions and call paths. */
#ifndef FG_STORE_INTERN_H
#define FG_STORE_INTERN_H

#include "base/base.h"
#include "base/error.h"
#include "base/map.h"
#include "model/profile_set.h"

struct fg_store;

/*
 * Committed ids that all sessions of a server share (store/serving/ids.h), consulted before the
 * database.
 */
struct fg_id_cache {
	const struct fg_id_cache_ops *ops;
};

struct fg_id_cache_ops {
	/* Hold the cache while many ids are looked up: begin, find ..., end. */
	void (*begin)(struct fg_id_cache *cache);
	void (*end)(struct fg_id_cache *cache);
	/* 0: not known.  `key` is name, NUL, library; `hash` is its fg_map_hash(). */
	int64_t (*function)(const struct fg_id_cache *cache, const void *key, size_t size,
			    uint64_t hash);
	uint64_t (*node)(const struct fg_id_cache *cache, uint64_t parent, uint64_t function);
	/* This one is looked up soon. */
	void (*node_soon)(const struct fg_id_cache *cache, uint64_t parent, uint64_t function);
	size_t (*function_count)(struct fg_id_cache *cache);
	size_t (*node_count)(struct fg_id_cache *cache);
	/* What a committed transaction made or found, as struct fg_store has it. */
	void (*add)(struct fg_id_cache *cache, const struct fg_map *functions,
		    const struct fg_map *nodes);
};

/* Ids of everything a set names; arrays are the caller's, grown to the set's counts. */
struct fg_interned {
	int64_t *functions;
	size_t function_count;
	uint64_t *nodes;
	size_t node_count;
};

/* Find or add rows: ids[i] is filled in where it is 0. */
int fg_store_function_ids(struct fg_store *store, const struct fg_profile_function *functions,
			  size_t count, int64_t *ids, struct fg_error *err) FG_NODISCARD;

/* Call paths, parents before their children. */
struct fg_tree {
	const struct fg_profile_node *nodes;
	size_t first; /* those before it are known */
	size_t count;
	const int64_t *functions; /* rows of the functions, by their number in `nodes` */
	uint64_t *ids; /* filled in where it is 0; [0] stays 0 if it comes before `first` */
};

int fg_store_node_ids(struct fg_store *store, const struct fg_tree *tree, struct fg_error *err)
	FG_NODISCARD;

/* About to add functions or call paths: until the transaction ends, no other one does. */
int fg_store_lock_names(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

/* About to look up this many rows: read the whole table first if that is quicker. */
int fg_store_read_known(struct fg_store *store, size_t functions, size_t nodes,
			struct fg_error *err) FG_NODISCARD;

/* Continue `interned` up to the set's counts. */
int fg_store_intern(struct fg_store *store, const struct fg_profile_set *set,
		    struct fg_interned *interned, struct fg_error *err) FG_NODISCARD;

#endif
