// SPDX-License-Identifier: Apache-2.0
/*
 * The call paths of one or two runs as one tree.  Every comparison needs it, so it avoids hashing:
 * ids come sorted from the store, two sorted lists are merged, and the tree is copied from the
 * session's whole tree in order of ids, which puts parents first.
 */
#include "store/serving/paths.h"

#include "base/arena.h"
#include "base/map.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "store/bytes.h"
#include "store/call_tree.h"
#include "store/chunks.h"
#include "store/functions.h"
#include "store/serving/side.h"
#include "store/serving/sums.h"
#include "store/session.h"
#include "store/transaction.h"
#include "store/values.h"

static int take_name(struct fg_byte_reader *reader, void *context, struct fg_error *err)
{
	char **name = context;
	const char *text = NULL;
	const size_t length = fg_read_text(reader, FG_MAX_FUNCTION_BYTES, &text);

	if (reader->failed)
		return fg_error_set(err, FG_EPARSE, "the name of a profile is damaged");
	free(*name);
	*name = fg_xstrndup(text ? text : "", length);
	return FG_OK;
}

static int read_weights(struct fg_store *store, const struct fg_run_side *side,
			const char *benchmark, struct fg_weights *weights, char **program,
			struct fg_error *err)
{
	int64_t series = 0;
	int status = fg_store_find_series(store, side->run, benchmark, &series, err);

	weights->arm = side->arm;
	if (status != FG_OK)
		return status;
	status = fg_store_chunks(store, series, FG_CHUNK_PROGRAM, take_name, program, err);
	if (status != FG_OK)
		return status;
	status = fg_store_weights(store, series, side->measure, weights, err);
	if (status != FG_OK)
		return status;
	if (weights->repetitions == 0)
		return fg_store_no_profile(side, benchmark, err);
	return FG_OK;
}

/* The part of the whole tree that is wanted. */
struct cut {
	bool *wanted;
	uint32_t *places; /* store's node → node of the set */
	uint64_t end;     /* one past the largest id */
};

static int add_function(struct fg_store *store, struct fg_map *known, uint64_t id,
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
	*index = (uint32_t)set->function_count;
	set->functions[set->function_count++] = row.function;
	(void)fg_map_add(known, &id, sizeof(id), *index, NULL);
	return FG_OK;
}

/* Copy the marked nodes into the set, without its indexes: nothing will be added to it. */
static int cut_out(struct fg_store *store, struct cut *cut, struct fg_profile_set *set,
		   struct fg_error *err)
{
	const struct fg_profile_function root = set->functions[0];
	struct fg_map known = {0};
	size_t count = 1;
	int status = FG_OK;

	for (uint64_t id = 1; id < cut->end; id++)
		count += cut->wanted[id];
	set->nodes = fg_arena_array(&set->arena, count, sizeof(*set->nodes));
	set->functions = fg_arena_array(&set->arena, count, sizeof(*set->functions));
	set->functions[0] = root;
	set->node_capacity = count;
	set->function_capacity = count;
	for (uint64_t id = 1; id < cut->end && status == FG_OK; id++) {
		const struct fg_tree_node *node = &store->tree.nodes[id];
		uint32_t function = 0;

		if (!cut->wanted[id] || node->parent == 0)
			continue; /* a root is node 0, which exists */
		status = add_function(store, &known, node->function, set, &function, err);
		cut->places[id] = (uint32_t)set->node_count;
		set->nodes[set->node_count++] =
			(struct fg_profile_node){cut->places[node->parent], function};
	}
	fg_map_release(&known);
	return status;
}

static void roll_up(struct fg_path_tree *tree, const struct fg_weights *w, int side,
		    const uint32_t *places)
{
	double *self = fg_xcalloc(tree->set.node_count, sizeof(*self));
	double *inclusive = fg_xcalloc(tree->set.node_count, sizeof(*inclusive));

	tree->repetitions[side] = w->repetitions;
	for (size_t i = 0; i < w->count; i++)
		self[places[w->ids[i]]] += w->sums[i];
	/*
	 * Sums of whole nanoseconds first, means afterwards: the same in whatever order the nodes
	 * come.
	 */
	memcpy(inclusive, self, tree->set.node_count * sizeof(*self));
	for (size_t n = tree->set.node_count - 1; n > 0; n--)
		inclusive[tree->set.nodes[n].parent] = fg_measure_join(
			w->fold, inclusive[tree->set.nodes[n].parent], inclusive[n]);
	for (size_t n = 0; n < tree->set.node_count && w->repetitions; n++) {
		self[n] /= w->repetitions;
		inclusive[n] /= w->repetitions;
	}
	tree->self[side] = self;
	tree->inclusive[side] = inclusive;
}

static int make_tree(struct fg_store *store, const struct fg_weights weights[2],
		     const char *program, struct fg_path_tree *tree, struct fg_error *err)
{
	struct cut cut = {0};
	int status = FG_OK;

	for (int side = 0; side < 2; side++) {
		const struct fg_weights *w = &weights[side];

		if (w->count && w->ids[w->count - 1] >= cut.end)
			cut.end = w->ids[w->count - 1] + 1;
	}
	status = fg_store_read_tree(store, cut.end ? cut.end - 1 : 0, err);
	cut.wanted = fg_xcalloc(cut.end + 1, sizeof(*cut.wanted));
	cut.places = fg_xcalloc(cut.end + 1, sizeof(*cut.places));
	for (int side = 0; side < 2 && status == FG_OK; side++)
		status = fg_store_mark_paths(store, weights[side].ids, weights[side].count,
					     cut.wanted, err);
	fg_profile_set_init(&tree->set, program);
	if (status == FG_OK)
		status = cut_out(store, &cut, &tree->set, err);
	for (int side = 0; side < 2 && status == FG_OK; side++)
		roll_up(tree, &weights[side], side, cut.places);
	free(cut.wanted);
	free(cut.places);
	return status;
}

int fg_store_paths(struct fg_store *store, const struct fg_run_side sides[2], const char *benchmark,
		   struct fg_path_tree *tree, struct fg_error *err)
{
	struct fg_path_tree found = {0};
	struct fg_weights weights[2] = {{0}};
	char *program = NULL;
	bool mine = false;
	int status = fg_store_view(store, &mine, err);

	for (int i = 0; i < 2 && sides[i].run && status == FG_OK; i++)
		status = read_weights(store, &sides[i], benchmark, &weights[i], &program, err);
	if (status == FG_OK)
		status = make_tree(store, weights, program, &found, err);
	fg_store_view_end(store, mine);
	fg_weights_release(&weights[0]);
	fg_weights_release(&weights[1]);
	free(program);
	if (status == FG_OK)
		*tree = found;
	else
		fg_path_tree_release(&found);
	return status;
}

void fg_path_tree_release(struct fg_path_tree *tree)
{
	if (tree->set.function_count)
		fg_profile_set_release(&tree->set);
	for (int i = 0; i < 2; i++) {
		free(tree->self[i]);
		free(tree->inclusive[i]);
	}
	*tree = (struct fg_path_tree){0};
}
