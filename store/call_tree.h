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

#endif
