/* SPDX-License-Identifier: Apache-2.0 */
/* Reading call paths. */
#ifndef FG_STORE_CALL_TREE_H
#define FG_STORE_CALL_TREE_H

#include "base/base.h"
#include "base/error.h"
#include "model/profile_set.h"

struct fg_store;

struct fg_tree_node {
	uint32_t parent;
	uint32_t function; /* 0: there is no such node */
};

/*
 * The set with all of a matrix' paths: functions, nodes, and indexes[i] for ids[i] (to be freed).
 */
int fg_store_nodes(struct fg_store *store, const uint64_t *ids, size_t count,
		   struct fg_profile_set *set, uint32_t **indexes, struct fg_error *err)
	FG_NODISCARD;

/* The tree up to `last` into the store's memory.  FG_ELIMIT: it is too large for that. */
int fg_store_read_tree(struct fg_store *store, uint64_t last, struct fg_error *err) FG_NODISCARD;
/* Sets wanted[id] for these paths and their ancestors; the tree was read up to all of them. */
int fg_store_mark_paths(const struct fg_store *store, const uint64_t *ids, size_t count,
			bool *wanted, struct fg_error *err) FG_NODISCARD;

#endif
