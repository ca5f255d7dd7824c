// SPDX-License-Identifier: Apache-2.0
/* Two runs by call path: the heaviest part of their tree. */
#include "store/serving/paths.h"

#include "base/sort.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/api/sides.h"
#include "store/serving/side.h"

#include <math.h>

enum {
	PATHS_DEFAULT = 20000,
	PATHS_MAX = 200000
};

static double weight(const struct fg_path_tree *tree, size_t node)
{
	return tree->inclusive[0][node] > tree->inclusive[1][node] ? tree->inclusive[0][node]
								   : tree->inclusive[1][node];
}

/* The inclusive time from which a path is shown when at most `limit` are. */
static double threshold(const struct fg_path_tree *tree, size_t limit)
{
	double *weights = NULL;
	double least = 0;

	if (tree->set.node_count <= limit)
		return 0;
	weights = fg_xcalloc(tree->set.node_count, sizeof(*weights));
	for (size_t i = 0; i < tree->set.node_count; i++)
		weights[i] = weight(tree, i);
	least = fg_select_largest(weights, tree->set.node_count, limit - 1);
	free(weights);
	return least;
}

/* The part of a tree that is shown: 1 + its index there, or 0. */
struct shown {
	uint32_t *nodes;
	uint32_t *functions;
	bool is_time;
};

/* A parent is at least as heavy as its children, so it is never missing. */
static void choose(const struct fg_path_tree *tree, size_t limit, struct shown *shown)
{
	const double least = threshold(tree, limit);
	uint32_t nodes = 0;
	uint32_t functions = 0;

	shown->nodes = fg_xcalloc(tree->set.node_count, sizeof(*shown->nodes));
	shown->functions = fg_xcalloc(tree->set.function_count, sizeof(*shown->functions));
	for (size_t i = 0; i < tree->set.node_count; i++) {
		if (i > 0 && weight(tree, i) < least)
			continue;
		shown->nodes[i] = ++nodes;
		shown->functions[tree->set.nodes[i].function] = 1;
	}
	for (size_t i = 0; i < tree->set.function_count; i++) {
		if (shown->functions[i])
			shown->functions[i] = ++functions;
	}
}

/* Times: nanoseconds as milliseconds, to the microsecond. */
static double written(double value, bool is_time)
{
	return is_time ? round(value / 1e3) / 1e3 : value;
}

static void write_node(struct fg_json_writer *w, const struct fg_path_tree *tree,
		       const struct shown *shown, size_t i)
{
	const struct fg_profile_node *node = &tree->set.nodes[i];

	fg_json_begin_array(w, NULL);
	fg_json_int(w, NULL, i == 0 ? 0 : (int64_t)shown->nodes[i] - shown->nodes[node->parent]);
	fg_json_int(w, NULL, (int64_t)shown->functions[node->function] - 1);
	for (int side = 0; side < 2; side++)
		fg_json_double(w, NULL, written(tree->self[side][i], shown->is_time));
	fg_json_end(w);
}

/* Columns: a fifth of the size of an object per node. */
static void write_tree(struct fg_json_writer *w, const struct fg_path_tree *tree, size_t limit,
		       bool is_time)
{
	struct shown shown = {.is_time = is_time};

	choose(tree, limit, &shown);
	fg_json_begin_array(w, "names");
	for (size_t i = 0; i < tree->set.function_count; i++) {
		if (shown.functions[i])
			fg_json_text(w, NULL, tree->set.functions[i].name);
	}
	fg_json_end(w);
	fg_json_begin_array(w, "libraries");
	for (size_t i = 0; i < tree->set.function_count; i++) {
		if (shown.functions[i])
			fg_json_text(w, NULL, tree->set.functions[i].library);
	}
	fg_json_end(w);
	fg_json_begin_array(w, "nodes");
	for (size_t i = 0; i < tree->set.node_count; i++) {
		if (shown.nodes[i])
			write_node(w, tree, &shown, i);
	}
	fg_json_end(w);
	fg_json_int(w, "nodes_total", (int64_t)tree->set.node_count);
	free(shown.nodes);
	free(shown.functions);
}

int fg_handle_paths(struct fg_request *rq, struct fg_error *err)
{
	struct fg_run_side sides[2];
	struct fg_path_tree tree = {0};
	struct fg_shown_measure measure = {0};
	const char *benchmark = NULL;
	struct fg_json_writer w;
	size_t limit = PATHS_DEFAULT;
	int status = fg_request_need(rq, "benchmark", &benchmark, err);

	if (status != FG_OK)
		return status;
	status = fg_request_size(rq, "limit", PATHS_MAX, &limit, err);
	if (status != FG_OK)
		return status;
	if (limit == 0)
		return fg_error_set(err, FG_EINVAL, "parameter 'limit' must be at least 1");
	status = fg_sides_read(rq, sides, err);
	if (status != FG_OK)
		return status;
	status = fg_sides_measure(rq, sides, benchmark, &measure, err);
	if (status != FG_OK)
		return status;
	status = fg_store_paths(rq->store, sides, benchmark, &tree, err);
	if (status != FG_OK)
		goto out;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_sides_write(&w, sides);
	fg_sides_write_measure(&w, &measure);
	fg_json_begin_array(&w, "repetitions");
	fg_json_int(&w, NULL, tree.repetitions[0]);
	fg_json_int(&w, NULL, tree.repetitions[1]);
	fg_json_end(&w);
	write_tree(&w, &tree, limit, !measure.other);
	fg_json_end(&w);
	fg_path_tree_release(&tree);
out:
	fg_series_measures_release(&measure.all);
	return status;
}
