/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the functions and calls of a tree that go into a picture. */
#ifndef FG_VIEWS_GRAPH_SELECT_H
#define FG_VIEWS_GRAPH_SELECT_H

#include "profile/views/graph.h"

struct fg_graph_node {
	uint32_t label;
	bool is_focus;
	struct fg_label_figures figures;
};

struct fg_graph_edge {
	uint32_t from; /* indexes of nodes */
	uint32_t to;
	bool skips; /* skips functions that were left out */
	double values[FG_CALLTREE_COLUMNS];
};

struct fg_graph {
	struct fg_graph_node *nodes; /* in focus first, then by inclusive time, largest first */
	size_t node_count;
	struct fg_graph_edge *edges; /* direct edges by caller and time, then dashed edges */
	size_t edge_count;
	double total[FG_CALLTREE_COLUMNS];
	struct fg_graph_summary summary;
};

int fg_graph_select(const struct fg_calltree *tree, const struct fg_graph_options *options,
		    struct fg_graph *graph, struct fg_error *err) FG_NODISCARD;
void fg_graph_release(struct fg_graph *graph);

#endif
