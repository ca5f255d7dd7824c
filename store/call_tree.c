// SPDX-License-Identifier: Apache-2.0
#include "store/call_tree.h"

#include "base/map.h"
#include "model/profile_set.h"
#include "store/db.h"
#include "store/functions.h"
#include "store/session.h"

/* Ids beyond what is kept in memory are left out: read_tree_to() refuses them. */
static void take_path(void *context, uint64_t id, const struct fg_call_path *path)
{
	struct fg_store *store = context;

	if (id >= FG_TREE_MAX || id < store->tree.end)
		return;
	store->tree.nodes = fg_grow(store->tree.nodes, &store->tree.capacity, (size_t)id + 1,
				    sizeof(*store->tree.nodes));
	memset(store->tree.nodes + store->tree.end, 0,
	       ((size_t)id + 1 - store->tree.end) * sizeof(*store->tree.nodes));
	store->tree.nodes[id] =
		(struct fg_tree_node){(uint32_t)path->parent, (uint32_t)path->function};
	store->tree.end = (size_t)id + 1;
}

/* The paths that were not read before, up to now. */
static int read_tree(struct fg_store *store, struct fg_error *err)
{
	return fg_call_paths_after(store, store->tree.end ? store->tree.end - 1 : 0, take_path,
				   store, err);
}

static int missing_node(const struct fg_store *store, uint64_t id, struct fg_error *err)
{
	return fg_error_set(err, FG_EDB, "%s is damaged: call path %llu is missing",
			    store->db->name, (unsigned long long)id);
}

/* The set's index of a store function, read once. */
static int function_index(struct fg_store *store, struct fg_map *known, uint64_t id,
			  struct fg_profile_set *set, uint32_t *index, struct fg_error *err)
{
	const uint64_t *found = fg_map_get(known, &id, sizeof(id));
	struct fg_function_row row;
	int status = FG_OK;

	if (found) {
		*index = (uint32_t)*found;
		return FG_OK;
	}
	status = fg_store_function(store, id, &row, err);
	if (status != FG_OK)
		return status;
	*index = fg_profile_set_function(set, &row.function);
	(void)fg_map_add(known, &id, sizeof(id), *index, NULL);
	return FG_OK;
}

static int mark_paths(const struct fg_store *store, const uint64_t *ids, size_t count, bool *wanted,
		      struct fg_error *err)
{
	for (size_t i = 0; i < count; i++) {
		for (uint64_t id = ids[i]; id && !wanted[id]; id = store->tree.nodes[id].parent) {
			if (!store->tree.nodes[id].function || store->tree.nodes[id].parent >= id)
				return missing_node(store, id, err);
			wanted[id] = true;
		}
	}
	return FG_OK;
}

static int take_nodes(struct fg_store *store, const uint64_t *ids, size_t count,
		      struct fg_profile_set *set, uint32_t **indexes, struct fg_error *err)
{
	uint32_t *places = fg_xcalloc(store->tree.end + 1, sizeof(*places));
	bool *wanted = fg_xcalloc(store->tree.end + 1, sizeof(*wanted));
	struct fg_map functions = {0};
	int status = mark_paths(store, ids, count, wanted, err);

	for (size_t id = 1; id < store->tree.end && status == FG_OK; id++) {
		uint32_t function = 0;

		if (!wanted[id] || store->tree.nodes[id].parent == 0)
			continue;
		status = function_index(store, &functions, store->tree.nodes[id].function, set,
					&function, err);
		if (status == FG_OK)
			places[id] = fg_profile_set_node(set, places[store->tree.nodes[id].parent],
							 function);
	}
	if (status == FG_OK) {
		*indexes = fg_xcalloc(count, sizeof(**indexes));
		for (size_t i = 0; i < count; i++)
			(*indexes)[i] = places[ids[i]];
	}
	fg_map_release(&functions);
	free(wanted);
	free(places);
	return status;
}

static int read_tree_to(struct fg_store *store, uint64_t last, struct fg_error *err)
{
	int status = FG_OK;

	if (last == 0)
		return FG_OK;
	if (last >= FG_TREE_MAX)
		return fg_error_set(err, FG_ELIMIT,
				    "%s has more than %d call paths: too many to read here",
				    store->db->name, FG_TREE_MAX);
	if (last >= store->tree.end)
		status = read_tree(store, err);
	if (status != FG_OK)
		return status;
	if (last >= store->tree.end)
		return missing_node(store, last, err);
	return FG_OK;
}

static uint64_t largest(const uint64_t *ids, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++) {
		if (ids[i] > most)
			most = ids[i];
	}
	return most;
}

int fg_store_nodes(struct fg_store *store, const uint64_t *ids, size_t count,
		   struct fg_profile_set *set, uint32_t **indexes, struct fg_error *err)
{
	const int status = read_tree_to(store, largest(ids, count), err);

	return status == FG_OK ? take_nodes(store, ids, count, set, indexes, err) : status;
}
