// SPDX-License-Identifier: Apache-2.0
#include "store/call_tree.h"

#include "base/map.h"
#include "model/profile_set.h"
#include "store/db.h"
#include "store/functions.h"
#include "store/session.h"

static bool is_recursive(const struct fg_store *store, size_t id)
{
	const uint32_t function = store->tree.nodes[id].function;

	while (store->tree.nodes[id].parent < id && store->tree.nodes[id].parent) {
		id = store->tree.nodes[id].parent;
		if (store->tree.nodes[id].function == function)
			return true;
	}
	return false;
}

/* Ids beyond what is kept in memory are left out: fg_store_read_tree() refuses them. */
static void take_path(void *context, uint64_t id, const struct fg_call_path *path)
{
	struct fg_store *store = context;

	if (id >= FG_TREE_MAX || id < store->tree.end)
		return;
	store->tree.nodes = fg_grow(store->tree.nodes, &store->tree.capacity, (size_t)id + 1,
				    sizeof(*store->tree.nodes));
	memset(store->tree.nodes + store->tree.end, 0,
	       ((size_t)id + 1 - store->tree.end) * sizeof(*store->tree.nodes));
	store->tree.nodes[id].parent = (uint32_t)path->parent;
	store->tree.nodes[id].function = (uint32_t)path->function & INT32_MAX;
	store->tree.end = (size_t)id + 1;
	store->tree.nodes[id].recursive = is_recursive(store, (size_t)id);
}

/* The paths that were not read before, up to now. */
static int read_tree(struct fg_store *store, struct fg_error *err)
{
	return fg_call_paths_after(store, store->tree.end ? store->tree.end - 1 : 0, take_path,
				   store, err);
}

/* Rows found so far, id → place in the arrays. */
struct gathered {
	struct fg_map index;
	uint64_t *ids;
	uint64_t *parents;
	uint64_t *functions;
	size_t count;
	size_t capacity[3];
};

static void gather(struct gathered *g, uint64_t id, uint64_t parent, uint64_t function)
{
	bool is_new = false;

	(void)fg_map_add(&g->index, &id, sizeof(id), g->count, &is_new);
	if (!is_new)
		return;
	g->ids = fg_grow(g->ids, &g->capacity[0], g->count + 1, sizeof(*g->ids));
	g->parents = fg_grow(g->parents, &g->capacity[1], g->count + 1, sizeof(*g->parents));
	g->functions = fg_grow(g->functions, &g->capacity[2], g->count + 1, sizeof(*g->functions));
	g->ids[g->count] = id;
	g->parents[g->count] = parent;
	g->functions[g->count] = function;
	g->count++;
}

static void gathered_release(struct gathered *g)
{
	fg_map_release(&g->index);
	free(g->ids);
	free(g->parents);
	free(g->functions);
}

static int missing_node(const struct fg_store *store, uint64_t id, struct fg_error *err)
{
	return fg_error_set(err, FG_EDB, "%s is damaged: call path %llu is not there",
			    store->db->name, (unsigned long long)id);
}

/* A node and its ancestors, up to one that is known. */
static int gather_path(struct fg_store *store, struct gathered *g, uint64_t id,
		       struct fg_error *err)
{
	while (id != 0 && !fg_map_get(&g->index, &id, sizeof(id))) {
		struct fg_call_path path = {0};
		const int status = fg_call_paths_get(store, id, &path, err);

		if (status == FG_ENOENT || (status == FG_OK && path.parent >= id))
			return missing_node(store, id, err);
		if (status != FG_OK)
			return status;
		gather(g, id, path.parent, path.function);
		id = path.parent;
	}
	return FG_OK;
}

static int gather_nodes(struct fg_store *store, const uint64_t *ids, size_t count,
			struct gathered *g, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = count; i > 0 && status == FG_OK; i--)
		status = gather_path(store, g, ids[i - 1], err);
	return status;
}

static int read_function(struct fg_store *store, int64_t id, struct fg_profile_set *set,
			 uint32_t *index, struct fg_error *err)
{
	struct fg_function_row row;
	const int status = fg_store_function(store, (uint64_t)id, &row, err);

	if (status != FG_OK)
		return status;
	*index = fg_profile_set_function(set, &row.function);
	return FG_OK;
}

struct order {
	uint64_t id;
	size_t place;
};

static int by_id(const void *a, const void *b)
{
	const struct order *x = a;
	const struct order *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* The set's index of a store function, read once. */
static int function_index(struct fg_store *store, struct fg_map *known, uint64_t id,
			  struct fg_profile_set *set, uint32_t *index, struct fg_error *err)
{
	const uint64_t *found = fg_map_get(known, &id, sizeof(id));
	int status = FG_OK;

	if (found) {
		*index = (uint32_t)*found;
		return FG_OK;
	}
	status = read_function(store, (int64_t)id, set, index, err);
	if (status != FG_OK)
		return status;
	(void)fg_map_add(known, &id, sizeof(id), *index, NULL);
	return FG_OK;
}

/* Gathered rows into the set, parents first; places[i] becomes the node of gathered row i. */
static int build(struct fg_store *store, const struct gathered *g, struct fg_profile_set *set,
		 uint32_t *places, struct fg_error *err)
{
	struct order *order = fg_xcalloc(g->count, sizeof(*order));
	struct fg_map functions = {0};
	int status = FG_OK;

	for (size_t i = 0; i < g->count; i++)
		order[i] = (struct order){g->ids[i], i};
	if (g->count)
		qsort(order, g->count, sizeof(*order), by_id);
	for (size_t i = 0; i < g->count && status == FG_OK; i++) {
		const size_t at = order[i].place;
		const uint64_t parent = g->parents[at];
		uint32_t function = 0;

		if (parent == 0) {
			places[at] = 0; /* the root: named when the set was made */
			continue;
		}
		status = function_index(store, &functions, g->functions[at], set, &function, err);
		if (status == FG_OK)
			places[at] = fg_profile_set_node(
				set, places[*fg_map_get(&g->index, &parent, sizeof(parent))],
				function);
	}
	fg_map_release(&functions);
	free(order);
	return status;
}

static int nodes_of_rows(struct fg_store *store, const uint64_t *ids, size_t count,
			 struct fg_profile_set *set, uint32_t **indexes, struct fg_error *err)
{
	struct gathered g = {0};
	uint32_t *places = NULL;
	int status = gather_nodes(store, ids, count, &g, err);

	if (status != FG_OK)
		goto out;
	places = fg_xcalloc(g.count, sizeof(*places));
	status = build(store, &g, set, places, err);
	if (status != FG_OK)
		goto out;
	*indexes = fg_xcalloc(count, sizeof(**indexes));
	for (size_t i = 0; i < count; i++)
		(*indexes)[i] = places[*fg_map_get(&g.index, &ids[i], sizeof(ids[i]))];
out:
	free(places);
	gathered_release(&g);
	return status;
}

/* As above, from the tree in memory. */
static int nodes_of_tree(struct fg_store *store, const uint64_t *ids, size_t count,
			 struct fg_profile_set *set, uint32_t **indexes, struct fg_error *err)
{
	uint32_t *places = fg_xcalloc(store->tree.end, sizeof(*places));
	bool *wanted = fg_xcalloc(store->tree.end, sizeof(*wanted));
	struct fg_map functions = {0};
	int status = FG_OK;

	for (size_t i = 0; i < count && status == FG_OK; i++) {
		for (uint64_t id = ids[i]; id && !wanted[id] && status == FG_OK;
		     id = store->tree.nodes[id].parent) {
			if (!store->tree.nodes[id].function || store->tree.nodes[id].parent >= id)
				status = missing_node(store, id, err);
			wanted[id] = true;
		}
	}
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

int fg_store_read_tree(struct fg_store *store, uint64_t last, struct fg_error *err)
{
	int status = FG_OK;

	if (last >= FG_TREE_MAX)
		return fg_error_set(err, FG_ELIMIT,
				    "%s has more than %d call paths: too many to add up here",
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

/* Reading a table from end to end is quicker than asking for most of its rows one by one. */
static bool is_scan_cheaper(size_t rows, size_t wanted)
{
	enum {
		LEAST_WANTED = 500, /* below it is not worth a thought */
		ROW_RATIO = 8       /* a row read costs an eighth of a row asked for */
	};

	return wanted > LEAST_WANTED && rows / ROW_RATIO < wanted && rows < FG_TREE_MAX;
}

int fg_store_nodes(struct fg_store *store, const uint64_t *ids, size_t count,
		   struct fg_profile_set *set, uint32_t **indexes, struct fg_error *err)
{
	const uint64_t most = largest(ids, count);
	int status = FG_OK;

	if (most >= store->tree.end && is_scan_cheaper((size_t)most, count))
		status = read_tree(store, err);
	if (status != FG_OK)
		return status;
	if (most < store->tree.end)
		return nodes_of_tree(store, ids, count, set, indexes, err);
	return nodes_of_rows(store, ids, count, set, indexes, err);
}
