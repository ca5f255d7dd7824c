// SPDX-License-Identifier: Apache-2.0
/*
 * Bottom-up trees. In full, the tree of a profile with a million stacks, 300 deep, would have 300
 * million nodes, so a node is expanded only if its weight reaches the floor. Every node has a list
 * of the call paths that it represents, as pairs (node where the time was spent, current ancestor).
 * Expanding a node sorts its list by the next caller and gives each caller above the floor its part
 * of the list.
 */
#include "base/sort.h"
#include "profile/calltree.h"

struct path {
	uint32_t source; /* node of the tree, where the time was spent */
	uint32_t at;     /* the ancestor that the inverted node stands for */
	uint32_t caller; /* label above `at`; UINT32_MAX: none */
};

struct inversion {
	const struct fg_calltree *tree;
	struct fg_calltree *inverted;
	uint32_t *label_of; /* label of the tree → label of the inverted tree */
	unsigned max_depth;
	double floor;
};

FG_ORDER_BY(by_caller_and_source, struct path, FG_UP(caller), FG_UP(source))

static void keep(const struct inversion *in, uint32_t node, const struct path *paths, size_t count)
{
	for (unsigned c = 0; c < in->tree->column_count; c++)
		for (size_t i = 0; i < count; i++)
			fg_calltree_add(in->inverted, node, c, &in->tree->self[c][paths[i].source],
					1.0);
}

static bool reaches_floor(const struct inversion *in, const struct path *paths, size_t count)
{
	for (unsigned c = 0; c < in->tree->column_count; c++) {
		double value = 0.0;

		for (size_t i = 0; i < count; i++)
			value = fg_measure_join(in->tree->measure.fold, value,
						in->tree->self[c][paths[i].source].value);
		if (value >= in->floor && value > 0.0)
			return true;
	}
	return false;
}

/* Finds the next caller of every path, and sorts the paths by it. */
static void look_up(const struct inversion *in, struct path *paths, size_t count)
{
	const struct fg_calltree_node *nodes = in->tree->nodes;

	for (size_t i = 0; i < count; i++) {
		uint32_t above = nodes[paths[i].at].parent;

		paths[i].caller = above == 0 ? UINT32_MAX : nodes[above].label;
	}
	qsort(paths, count, sizeof(paths[0]), by_caller_and_source);
}

static size_t group_end(const struct path *paths, size_t start, size_t count)
{
	size_t end = start + 1;

	while (end < count && paths[end].caller == paths[start].caller)
		end++;
	return end;
}

/* Recursion is bounded by max_depth. */
static void expand(const struct inversion *in, uint32_t node, struct path *paths, size_t count)
{
	size_t end;

	if (in->inverted->nodes[node].depth >= in->max_depth) {
		keep(in, node, paths, count);
		return;
	}
	look_up(in, paths, count);
	for (size_t start = 0; start < count; start = end) {
		struct path *group = paths + start;
		uint32_t child;

		end = group_end(paths, start, count);
		if (group->caller == UINT32_MAX || !reaches_floor(in, group, end - start)) {
			keep(in, node, group, end - start);
			continue;
		}
		child = fg_calltree_child(in->inverted, node, in->label_of[group->caller]);
		for (size_t i = 0; i < end - start; i++)
			group[i].at = in->tree->nodes[group[i].at].parent;
		expand(in, child, group, end - start);
	}
}

static bool has_time(const struct fg_calltree *tree, size_t node)
{
	bool has = false;

	for (unsigned c = 0; c < tree->column_count; c++)
		has = has || tree->self[c][node].samples > 0 || tree->self[c][node].value > 0.0;
	return has;
}

/* Time on the root itself (samples without a stack) stays on the root. */
static struct path *find_leaves(const struct inversion *in, size_t *count)
{
	const struct fg_calltree *tree = in->tree;
	struct path *paths = fg_xcalloc(tree->node_count, sizeof(paths[0]));

	*count = 0;
	for (size_t n = 1; n < tree->node_count; n++)
		if (has_time(tree, n))
			paths[(*count)++] = (struct path){.source = (uint32_t)n,
							  .at = (uint32_t)n,
							  .caller = tree->nodes[n].label};
	qsort(paths, *count, sizeof(paths[0]), by_caller_and_source);
	return paths;
}

void fg_calltree_invert(const struct fg_calltree *tree, unsigned max_depth, double floor,
			struct fg_calltree *inverted)
{
	enum {
		MAX_LEVELS = 512
	};
	struct inversion in = {
		.tree = tree,
		.inverted = inverted,
		.max_depth = max_depth < 1            ? 1
			     : max_depth > MAX_LEVELS ? MAX_LEVELS
						      : max_depth,
		.floor = floor,
	};
	struct path *paths;
	size_t count;
	size_t end;

	fg_calltree_init(inverted, tree->column_count, tree->labels[0].name);
	fg_calltree_set_measure(inverted, &tree->measure);
	inverted->inverted = true;
	in.label_of = fg_calltree_map_labels(inverted, tree);
	for (unsigned c = 0; c < tree->column_count; c++)
		fg_calltree_add(inverted, 0, c, &tree->self[c][0], 1.0);
	paths = find_leaves(&in, &count);
	for (size_t start = 0; start < count; start = end) {
		end = group_end(paths, start, count);
		if (reaches_floor(&in, paths + start, end - start))
			expand(&in,
			       fg_calltree_child(inverted, 0, in.label_of[paths[start].caller]),
			       paths + start, end - start);
		else
			keep(&in, 0, paths + start, end - start);
	}
	free(paths);
	free(in.label_of);
	fg_calltree_finish(inverted);
}
