// SPDX-License-Identifier: Apache-2.0
/*
 * Labels are selected in two steps. The first takes the labels that match the focus or lie within
 * `depth` calls of it (or of the start). The second takes the largest of these above the floor (in
 * a difference: by the larger of the two sides); labels that match the focus come first and have no
 * floor. If there are too many, half of the limit goes to the largest by self time and the other
 * half to the largest by inclusive time: in a deep call tree hundreds of functions have all of the
 * inclusive time and hide the hot functions. Calls between kept functions stay. If a function's
 * nearest kept caller is further up, the call is drawn dashed, and a sample counts at the
 * function's outermost frame.
 */
#include "profile/views/graph_select.h"

#include "base/sort.h"
#include "profile/selection.h"

#include <math.h>

enum {
	FEW_NODES = 80,
};

static const uint32_t not_kept = UINT32_MAX;
static const uint32_t unreached = UINT32_MAX;

static const double default_node_floor = 0.005;
static const double default_edge_floor = 0.001;

struct selection {
	const struct fg_calltree *tree;
	const struct fg_graph_options *options;
	struct fg_graph *graph;
	struct fg_label_figures *figures;
	size_t count;
	struct fg_label_edge *edges;
	size_t edge_count;
	bool *is_focus;     /* indexed by label */
	uint32_t *distance; /* by label: calls from the focus, down or up; or `unreached` */
	uint32_t *node_of;  /* by label: index of the node, or `not_kept` */
	double floor[2];    /* smallest weight of nodes, and of edges */
};

/*
 * Returns the weight of a function: its inclusive value, or in a difference the larger of the two
 * inclusive values.
 */
static double weight_of(const struct selection *s, const struct fg_label_figures *figures)
{
	double most = figures->inclusive[0].value;

	if (s->tree->column_count > 1)
		most = fmax(most, figures->inclusive[1].value);
	return most;
}

static int mark_focus(struct selection *s, struct fg_error *err)
{
	struct fg_pattern pattern = {0};
	size_t found = 0;

	if (!s->options->focus)
		return FG_OK;
	FG_TRY(fg_pattern_compile(s->options->focus, &pattern, err));
	for (size_t i = 0; i < s->count; i++) {
		const uint32_t label = s->figures[i].label;

		s->is_focus[label] = fg_matches_function(&pattern, s->tree->labels[label].name,
							 s->tree->labels[label].library);
		found += s->is_focus[label];
	}
	fg_pattern_release(&pattern);
	if (found == 0)
		return fg_error_set(err, FG_ENOENT, "no function matches '%s'", s->options->focus);
	return FG_OK;
}

/* Does one step of a breadth-first search; `up` walks from callees to callers. */
static bool spread(const struct selection *s, uint32_t *distance, bool up, uint32_t step)
{
	bool moved = false;

	for (size_t i = 0; i < s->edge_count; i++) {
		const uint32_t near = up ? s->edges[i].callee : s->edges[i].caller;
		const uint32_t far = up ? s->edges[i].caller : s->edges[i].callee;

		if (distance[near] == step && distance[far] == unreached) {
			distance[far] = step + 1;
			moved = true;
		}
	}
	return moved;
}

static void walk(struct selection *s, bool up)
{
	const unsigned limit = s->options->depth > 0 ? s->options->depth : UINT32_MAX - 1;
	uint32_t *distance = fg_xcalloc(s->tree->label_count, sizeof(*distance));

	for (size_t i = 0; i < s->tree->label_count; i++)
		distance[i] = s->options->focus ? (s->is_focus[i] ? 0 : unreached) : unreached;
	if (!s->options->focus)
		distance[0] = 0; /* the root */
	for (uint32_t step = 0; step < limit && spread(s, distance, up, step); step++)
		continue;
	for (size_t i = 0; i < s->tree->label_count; i++) {
		if (distance[i] < s->distance[i])
			s->distance[i] = distance[i];
	}
	free(distance);
}

static void measure_distance(struct selection *s)
{
	const bool is_limited = s->options->focus || s->options->depth > 0;

	for (size_t i = 0; i < s->tree->label_count; i++)
		s->distance[i] = is_limited ? unreached : 0;
	if (!is_limited)
		return;
	walk(s, false);
	if (s->options->focus)
		walk(s, true);
}

/* Orders functions in focus first, then by the larger value of the two sides; 0: equal. */
static int compare_nodes(const struct fg_graph_node *a, const struct fg_graph_node *b,
			 const struct fg_weight *of_a, const struct fg_weight *of_b)
{
	const double one = fmax(of_a[0].value, of_a[1].value);
	const double other = fmax(of_b[0].value, of_b[1].value);

	if (a->is_focus != b->is_focus)
		return a->is_focus ? -1 : 1;
	return (one < other) - (one > other);
}

FG_ORDER_BY(by_weight, struct fg_graph_node,
	    compare_nodes(a, b, a->figures.inclusive, b->figures.inclusive), FG_UP(label))

FG_ORDER_BY(by_self, struct fg_graph_node, compare_nodes(a, b, a->figures.self, b->figures.self),
	    by_weight(a, b))

/* Moves the nodes to keep to the first `limit` places, sorted by weight. */
static void put_kept_first(struct fg_graph_node *nodes, size_t count, size_t limit)
{
	const size_t hot = limit / 2;

	if (count > limit) {
		qsort(nodes, count, sizeof(*nodes), by_self);
		qsort(nodes + hot, count - hot, sizeof(*nodes), by_weight);
		count = limit;
	}
	if (count > 1)
		qsort(nodes, count, sizeof(*nodes), by_weight);
}

static bool is_candidate(const struct selection *s, const struct fg_label_figures *figures)
{
	if (s->distance[figures->label] == unreached)
		return false;
	if (s->options->all || s->is_focus[figures->label])
		return true;
	return weight_of(s, figures) >= s->floor[0];
}

static void keep_nodes(struct selection *s)
{
	const size_t limit = s->options->all     ? SIZE_MAX
			     : s->options->nodes ? s->options->nodes
						 : FEW_NODES;
	struct fg_graph *graph = s->graph;
	double kept = 0;
	double all = 0;

	graph->nodes = fg_xcalloc(s->count, sizeof(*graph->nodes));
	for (size_t i = 0; i < s->count; i++) {
		const struct fg_label_figures *figures = &s->figures[i];

		all += figures->self[s->tree->column_count - 1].value;
		if (is_candidate(s, figures))
			graph->nodes[graph->node_count++] = (struct fg_graph_node){
				figures->label, s->is_focus[figures->label], *figures};
	}
	put_kept_first(graph->nodes, graph->node_count, limit);
	graph->node_count = fg_min_size(graph->node_count, limit);
	for (size_t i = 0; i < s->tree->label_count; i++)
		s->node_of[i] = not_kept;
	for (size_t i = 0; i < graph->node_count; i++) {
		s->node_of[graph->nodes[i].label] = (uint32_t)i;
		kept += graph->nodes[i].figures.self[s->tree->column_count - 1].value;
	}
	graph->summary.nodes = graph->node_count;
	graph->summary.nodes_left_out = s->count - graph->node_count;
	graph->summary.self_left_out = all > 0 ? fmax(0, 1 - kept / all) : 0;
}

static void add_edge(struct fg_graph *graph, size_t *capacity, const struct fg_graph_edge *edge)
{
	graph->edges =
		fg_append(graph->edges, &graph->edge_count, capacity, sizeof(graph->edges[0]));
	graph->edges[graph->edge_count - 1] = *edge;
}

static void keep_direct_edges(struct selection *s, struct fg_pair_index *pairs, size_t *capacity)
{
	for (size_t i = 0; i < s->edge_count; i++) {
		const struct fg_label_edge *edge = &s->edges[i];
		const uint32_t from = s->node_of[edge->caller];
		const uint32_t to = s->node_of[edge->callee];
		struct fg_graph_edge kept = {.from = from, .to = to};

		if (from == not_kept || to == not_kept)
			continue;
		for (unsigned c = 0; c < s->tree->column_count; c++)
			kept.values[c] = edge->weight[c].value;
		(void)fg_pair_index_add(pairs, from, to, (uint32_t)s->graph->edge_count, NULL);
		add_edge(s->graph, capacity, &kept);
	}
}

/* Adds dashed edges across nodes that were left out, unless a direct edge exists. */
static void add_skipping_edges(struct selection *s, struct fg_pair_index *pairs, size_t *capacity)
{
	const struct fg_calltree *tree = s->tree;
	/* nearest kept node at or above, or not_kept */
	uint32_t *above = fg_xcalloc(tree->node_count, sizeof(*above));

	above[0] = s->node_of[tree->nodes[0].label];
	for (uint32_t i = 1; i < tree->node_count; i++) {
		const uint32_t up = above[tree->nodes[i].parent];
		const uint32_t own = s->node_of[tree->nodes[i].label];
		const uint32_t parent = s->node_of[tree->nodes[tree->nodes[i].parent].label];
		bool is_new = false;
		uint32_t at = 0;

		above[i] = own == not_kept ? up : own;
		if (own == not_kept || up == not_kept || parent != not_kept || up == own ||
		    tree->nodes[i].recursive)
			continue;
		at = *fg_pair_index_add(pairs, up, own, (uint32_t)s->graph->edge_count, &is_new);
		if (is_new)
			add_edge(s->graph, capacity,
				 &(struct fg_graph_edge){.from = up, .to = own, .skips = true});
		for (unsigned c = 0; c < tree->column_count && s->graph->edges[at].skips; c++)
			s->graph->edges[at].values[c] += tree->inclusive[c][i].value;
	}
	free(above);
}

static void drop_small_edges(struct selection *s)
{
	struct fg_graph *graph = s->graph;
	size_t kept = 0;
	size_t direct = 0;

	for (size_t i = 0; i < graph->edge_count; i++) {
		if (!s->options->all &&
		    fmax(graph->edges[i].values[0], graph->edges[i].values[1]) < s->floor[1])
			continue;
		direct += !graph->edges[i].skips;
		graph->edges[kept++] = graph->edges[i];
	}
	graph->edge_count = kept;
	graph->summary.edges = kept;
	graph->summary.edges_left_out = 0;
	for (size_t i = 0; i < s->edge_count; i++) /* the root is not a function */
		graph->summary.edges_left_out += s->edges[i].caller != 0;
	graph->summary.edges_left_out -= fg_min_size(graph->summary.edges_left_out, direct);
}

static void release(struct selection *s)
{
	free(s->figures);
	free(s->edges);
	free(s->is_focus);
	free(s->distance);
	free(s->node_of);
}

int fg_graph_select(const struct fg_calltree *tree, const struct fg_graph_options *options,
		    struct fg_graph *graph, struct fg_error *err)
{
	struct selection s = {.tree = tree, .options = options, .graph = graph};
	struct fg_pair_index pairs = {0};
	size_t capacity = 0;
	double total = 0;
	int status = FG_OK;

	*graph = (struct fg_graph){0};
	for (unsigned c = 0; c < tree->column_count; c++) {
		graph->total[c] = tree->inclusive[c][0].value;
		total = fmax(total, graph->total[c]);
	}
	s.floor[0] = total * (options->node_floor > 0 ? options->node_floor : default_node_floor);
	s.floor[1] = total * (options->edge_floor > 0 ? options->edge_floor : default_edge_floor);
	s.count = fg_calltree_flat(tree, &s.figures);
	s.edge_count = fg_calltree_edges(tree, &s.edges);
	s.is_focus = fg_xcalloc(tree->label_count, sizeof(bool));
	s.distance = fg_xcalloc(tree->label_count, sizeof(uint32_t));
	s.node_of = fg_xcalloc(tree->label_count, sizeof(uint32_t));
	status = mark_focus(&s, err);
	if (status == FG_OK) {
		measure_distance(&s);
		keep_nodes(&s);
		keep_direct_edges(&s, &pairs, &capacity);
		add_skipping_edges(&s, &pairs, &capacity);
		drop_small_edges(&s);
	}
	fg_pair_index_release(&pairs);
	release(&s);
	return status;
}

void fg_graph_release(struct fg_graph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	*graph = (struct fg_graph){0};
}
