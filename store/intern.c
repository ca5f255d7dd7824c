// SPDX-License-Identifier: Apache-2.0
/*
 * Functions and call paths as rows, shared by everything in the store.  Writing looks each up by
 * what it is; reading goes backwards: from the ids in a run's values to their ancestors, and from
 * there to the functions.
 *
 * A parent's id is smaller than its children's.  So the ids that a run uses, together with their
 * ancestors, sorted, are already in the order that a profile set wants.
 */
#include "store/intern.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "model/profile_set.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"

/* Call paths, parents before their children. */
struct fg_tree {
	const struct fg_profile_node *nodes;
	size_t first; /* those before it are known */
	size_t count;
	const int64_t *functions; /* rows of the functions, by their number in `nodes` */
	uint64_t *ids; /* filled in where it is 0; [0] stays 0 if it comes before `first` */
};

/* The next id, asked for once in a transaction: nobody else adds rows meanwhile. */
static int give_ids(struct fg_store *store, enum fg_sql last, int64_t *next, size_t count,
		    int64_t *first, struct fg_error *err)
{
	int status = FG_OK;

	if (*next == 0)
		status = fg_db_next_id(store->db, last, next, err);
	*first = *next;
	*next += (int64_t)count;
	return status;
}

static void function_key(const struct fg_profile_function *function, struct fg_strbuf *key)
{
	fg_strbuf_add_text(key, function->name);
	fg_strbuf_add_char(key, '\0');
	fg_strbuf_add_text(key, function->library ? function->library : "");
}

static int64_t known_function(struct fg_store *store, const struct fg_strbuf *key)
{
	const uint64_t *known = fg_map_get(&store->ids.functions, key->data, key->length);

	return known ? (int64_t)*known : 0;
}

static void remember_function(struct fg_store *store, const struct fg_profile_function *function,
			      int64_t id)
{
	struct fg_strbuf key = {0};

	function_key(function, &key);
	(void)fg_map_add(&store->ids.functions, key.data, key.length, (uint64_t)id, NULL);
	fg_strbuf_release(&key);
}

/* Functions without a known id. */
struct unknown {
	const struct fg_profile_function *functions;
	int64_t *ids;   /* of all functions */
	size_t *places; /* where the unknown ones stand */
	uint8_t *digests;
	size_t count;
};

enum {
	DIGEST_SIZE = 16
};

static void list_unknown(struct fg_store *store, size_t count, struct unknown *u)
{
	struct fg_strbuf key = {0};

	for (size_t i = 0; i < count; i++) {
		const struct fg_profile_function *f = &u->functions[i];

		if (u->ids[i] == 0) {
			fg_strbuf_clear(&key);
			function_key(f, &key);
			u->ids[i] = known_function(store, &key);
		}
		if (u->ids[i] == 0) {
			fg_digest(f->name, f->library ? f->library : "", NULL,
				  u->digests + u->count * DIGEST_SIZE);
			u->places[u->count++] = i;
		}
	}
	fg_strbuf_release(&key);
}

static struct fg_blob *digest_column(struct fg_arena *arena, const struct unknown *u)
{
	struct fg_blob *blobs = fg_arena_array(arena, u->count, sizeof(*blobs));

	for (size_t i = 0; i < u->count; i++)
		blobs[i] = (struct fg_blob){u->digests + i * DIGEST_SIZE, DIGEST_SIZE};
	return blobs;
}

/* Take out those that the database has. */
static int find_functions(struct fg_store *store, struct fg_arena *arena, struct unknown *u,
			  struct fg_error *err)
{
	const struct fg_rows rows = {.columns = {{.blobs = digest_column(arena, u)}},
				     .column_count = 1,
				     .count = u->count};
	int64_t *found = fg_arena_array(arena, u->count, sizeof(*found));
	const int status = fg_query_rows(store->db, FG_SQL_FUNCTION_FIND, &rows, found, err);
	size_t kept = 0;

	for (size_t i = 0; i < u->count && status == FG_OK; i++) {
		const size_t place = u->places[i];

		if (found[i]) {
			u->ids[place] = found[i];
			remember_function(store, &u->functions[place], found[i]);
			continue;
		}
		memmove(u->digests + kept * DIGEST_SIZE, u->digests + i * DIGEST_SIZE, DIGEST_SIZE);
		u->places[kept++] = place;
	}
	u->count = kept;
	return status;
}

static int add_functions(struct fg_store *store, struct fg_arena *arena, const struct unknown *u,
			 struct fg_error *err)
{
	int64_t *ids = fg_arena_array(arena, u->count, sizeof(*ids));
	int64_t *lines = fg_arena_array(arena, u->count, sizeof(*lines));
	int64_t *inlined = fg_arena_array(arena, u->count, sizeof(*inlined));
	const char **names = fg_arena_array(arena, u->count, sizeof(*names));
	const char **libraries = fg_arena_array(arena, u->count, sizeof(*libraries));
	const char **linkages = fg_arena_array(arena, u->count, sizeof(*linkages));
	const char **files = fg_arena_array(arena, u->count, sizeof(*files));
	const struct fg_rows rows = {.columns = {{.numbers = ids},
						 {.blobs = digest_column(arena, u)},
						 {.texts = names},
						 {.texts = libraries},
						 {.texts = linkages},
						 {.texts = files},
						 {.numbers = lines},
						 {.numbers = inlined}},
				     .column_count = 8,
				     .count = u->count};
	int64_t first = 0;
	int status = give_ids(store, FG_SQL_FUNCTION_LAST, &store->ids.next_function, u->count,
			      &first, err);

	for (size_t i = 0; i < u->count; i++) {
		const struct fg_profile_function *f = &u->functions[u->places[i]];

		ids[i] = first + (int64_t)i;
		names[i] = f->name;
		libraries[i] = f->library ? f->library : "";
		linkages[i] = f->linkage;
		files[i] = f->file;
		lines[i] = f->line;
		inlined[i] = f->inlined;
	}
	if (status != FG_OK)
		return status;
	status = fg_query_rows(store->db, FG_SQL_FUNCTION_ADD, &rows, NULL, err);
	if (status != FG_OK)
		return status;
	for (size_t i = 0; i < u->count; i++) {
		u->ids[u->places[i]] = ids[i];
		remember_function(store, &u->functions[u->places[i]], ids[i]);
	}
	return FG_OK;
}

static int function_ids(struct fg_store *store, const struct fg_profile_function *functions,
			size_t count, int64_t *ids, struct fg_error *err)
{
	struct fg_arena arena = {0};
	struct unknown u = {.functions = functions,
			    .places = fg_arena_array(&arena, count, sizeof(*u.places)),
			    .digests = fg_arena_array(&arena, count, DIGEST_SIZE)};
	int status = FG_OK;

	u.ids = ids;
	list_unknown(store, count, &u);
	if (u.count)
		status = find_functions(store, &arena, &u, err);
	if (u.count && status == FG_OK)
		status = add_functions(store, &arena, &u, err);
	fg_arena_release(&arena);
	return status;
}

static uint64_t known_node(const struct fg_store *store, const int64_t key[2])
{
	const uint64_t *known = fg_map_get(&store->ids.nodes, key, 2 * sizeof(key[0]));

	return known ? *known : 0;
}

/* Looking up the rows of a tree's nodes. */
struct tree_rows {
	const struct fg_tree *tree;
	struct fg_arena arena;
	uint32_t *levels; /* 0: the node's row is known; else one more than its parent's */
	uint32_t deepest;
	uint32_t *places; /* nodes without a known row */
	size_t unknown;
};

/* The parent's row; false: not stored yet. */
static bool parent_row(const struct tree_rows *t, size_t node, int64_t *row)
{
	const uint32_t parent = t->tree->nodes[node].parent;

	*row = node ? (int64_t)t->tree->ids[parent] : 0;
	return node == 0 || *row || t->levels[parent] == 0;
}

static int64_t function_of(const struct tree_rows *t, size_t node)
{
	return t->tree->functions[t->tree->nodes[node].function];
}

static void list_node(const struct fg_store *store, struct tree_rows *t, size_t i)
{
	const struct fg_tree *tree = t->tree;
	int64_t key[2] = {0, function_of(t, i)};

	if (parent_row(t, i, &key[0]))
		tree->ids[i] = known_node(store, key);
	if (tree->ids[i])
		return;
	t->places[t->unknown++] = (uint32_t)i;
	t->levels[i] = 1 + (i ? t->levels[tree->nodes[i].parent] : 0);
	if (t->levels[i] > t->deepest)
		t->deepest = t->levels[i];
}

static void list_levels(struct fg_store *store, struct tree_rows *t)
{
	const struct fg_tree *tree = t->tree;
	size_t wanted = 0;

	for (size_t i = tree->first; i < tree->count; i++)
		wanted += tree->ids[i] == 0;
	if (wanted == 0)
		return;
	t->levels = fg_arena_array(&t->arena, tree->count + 1, sizeof(*t->levels));
	t->places = fg_arena_array(&t->arena, wanted, sizeof(*t->places));
	for (size_t i = tree->first; i < tree->count; i++) {
		if (!tree->ids[i])
			list_node(store, t, i);
	}
}

/* The nodes of level 1, 2, ...; ends[l] is where those of level l end. */
static uint32_t *by_level(struct tree_rows *t, size_t **ends)
{
	uint32_t *order = fg_arena_array(&t->arena, t->unknown, sizeof(*order));
	size_t *next = fg_arena_array(&t->arena, (size_t)t->deepest + 2, sizeof(*next));

	for (size_t u = 0; u < t->unknown; u++)
		next[t->levels[t->places[u]] + 1]++;
	for (size_t l = 1; l <= t->deepest; l++)
		next[l + 1] += next[l];
	for (size_t u = 0; u < t->unknown; u++)
		order[next[t->levels[t->places[u]]]++] = t->places[u];
	*ends = next;
	return order;
}

static void remember_node(struct fg_store *store, const struct tree_rows *t, size_t node)
{
	int64_t key[2] = {0, function_of(t, node)};

	(void)parent_row(t, node, &key[0]);
	(void)fg_map_add(&store->ids.nodes, key, sizeof(key), t->tree->ids[node], NULL);
}

/* Look up nodes whose parent has a row; a parent without one has no stored children. */
static int find_level(struct fg_store *store, const struct tree_rows *t, const uint32_t *nodes,
		      size_t count, struct fg_error *err)
{
	struct fg_arena arena = {0};
	int64_t *parents = fg_arena_array(&arena, count, sizeof(*parents));
	int64_t *functions = fg_arena_array(&arena, count, sizeof(*functions));
	int64_t *found = fg_arena_array(&arena, count, sizeof(*found));
	uint32_t *asked = fg_arena_array(&arena, count, sizeof(*asked));
	struct fg_rows rows = {.columns = {{.numbers = parents}, {.numbers = functions}},
			       .column_count = 2};
	int status = FG_OK;

	for (size_t i = 0; i < count; i++) {
		if (!parent_row(t, nodes[i], &parents[rows.count]))
			continue;
		functions[rows.count] = function_of(t, nodes[i]);
		asked[rows.count++] = nodes[i];
	}
	status = fg_call_paths_find(store, &rows, found, err);
	for (size_t i = 0; i < rows.count && status == FG_OK; i++) {
		t->tree->ids[asked[i]] = (uint64_t)found[i];
		if (found[i])
			remember_node(store, t, asked[i]);
	}
	fg_arena_release(&arena);
	return status;
}

static int find_nodes(struct fg_store *store, struct tree_rows *t, struct fg_error *err)
{
	size_t *ends = NULL;
	const uint32_t *order = by_level(t, &ends);
	int status = FG_OK;

	for (size_t l = 1; l <= t->deepest && status == FG_OK; l++)
		status = find_level(store, t, order + ends[l - 1], ends[l] - ends[l - 1], err);
	return status;
}

/* Parents come before their children, and so do their ids. */
static int add_nodes(struct fg_store *store, struct tree_rows *t, struct fg_error *err)
{
	const struct fg_tree *tree = t->tree;
	int64_t *ids = fg_arena_array(&t->arena, t->unknown, sizeof(*ids));
	int64_t *parents = fg_arena_array(&t->arena, t->unknown, sizeof(*parents));
	int64_t *functions = fg_arena_array(&t->arena, t->unknown, sizeof(*functions));
	uint32_t *places = fg_arena_array(&t->arena, t->unknown, sizeof(*places));
	struct fg_rows rows = {
		.columns = {{.numbers = ids}, {.numbers = parents}, {.numbers = functions}},
		.column_count = 3};
	int64_t next = 0;
	int status = FG_OK;

	for (size_t u = 0; u < t->unknown; u++) {
		if (!tree->ids[t->places[u]])
			places[rows.count++] = t->places[u];
	}
	if (rows.count == 0)
		return FG_OK;
	status = give_ids(store, FG_SQL_PATH_LAST, &store->ids.next_node, rows.count, &next, err);
	for (size_t i = 0; i < rows.count && status == FG_OK; i++) {
		(void)parent_row(t, places[i], &parents[i]);
		functions[i] = function_of(t, places[i]);
		ids[i] = next + (int64_t)i;
		tree->ids[places[i]] = (uint64_t)ids[i];
	}
	if (status != FG_OK)
		return status;
	status = fg_call_paths_write(store, &rows, err);
	if (status != FG_OK)
		return status;
	for (size_t i = 0; i < rows.count; i++)
		remember_node(store, t, places[i]);
	return FG_OK;
}

static int node_ids(struct fg_store *store, const struct fg_tree *tree, struct fg_error *err)
{
	struct tree_rows t = {.tree = tree};
	int status = FG_OK;

	list_levels(store, &t);
	if (t.unknown)
		status = find_nodes(store, &t, err);
	if (status == FG_OK)
		status = add_nodes(store, &t, err);
	fg_arena_release(&t.arena);
	return status;
}

/* Grow from `had` to `count` items; new ones are 0. */
static void *widen(void *items, size_t had, size_t count, size_t size)
{
	items = fg_xreallocarray(items, count, size);
	memset((char *)items + had * size, 0, (count - had) * size);
	return items;
}

int fg_store_intern(struct fg_store *store, const struct fg_profile_set *set,
		    struct fg_interned *interned, struct fg_error *err)
{
	const size_t functions = interned->function_count;
	const struct fg_tree tree = {
		.nodes = set->nodes,
		.first = interned->node_count,
		.count = set->node_count,
		.functions = interned->functions =
			widen(interned->functions, functions, set->function_count,
			      sizeof(*interned->functions)),
		.ids = interned->nodes = widen(interned->nodes, interned->node_count,
					       set->node_count, sizeof(*interned->nodes))};
	int status =
		function_ids(store, set->functions + functions, set->function_count - functions,
			     interned->functions + functions, err);
	if (status != FG_OK)
		return status;
	status = node_ids(store, &tree, err);
	if (status != FG_OK)
		return status;
	interned->function_count = set->function_count;
	interned->node_count = set->node_count;
	return FG_OK;
}
