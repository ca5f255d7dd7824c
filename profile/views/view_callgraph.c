// SPDX-License-Identifier: Apache-2.0
/*
 * The call graph as gprof prints it: each function between its callers above and its callees below.
 * gprof has to distribute a function's time over its callers by the number of calls; here whole
 * stacks were sampled, so every figure is measured. A caller's line has the time of *this* function
 * (self and callees) under that caller; a callee's line has the callee's time when called from
 * here. "27/45" means 27 samples on this edge out of 45 samples of the called function. If calls
 * were counted, another column shows the same for calls, with the share.
 */
#include "base/number.h"
#include "profile/views/calls.h"
#include "profile/views/view_private.h"

#include <inttypes.h>

enum {
	FEW_FUNCTIONS = 12,
	FEW_EDGES = 8,
	NO_RANK = 0,
};

static const struct fg_view_column columns[] = {
	{"index", "index", .kind = FG_CELL_TEXT, .left = true},
	{"inclusive_share", "incl %", .kind = FG_CELL_SHARE, .has_error = true},
	{"self_ns", "self %t", .kind = FG_CELL_VALUE},
	{"children_ns", "children %t", .kind = FG_CELL_VALUE, .unit_like = 3},
	{"samples", "samples", .kind = FG_CELL_COUNT},
	{"calls", "calls", .kind = FG_CELL_COUNT},
	{"role", "role", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"library", "library", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"name", "name", .kind = FG_CELL_TEXT, .left = true},
};

enum {
	COLUMN_CALLS = 5,
};

struct graph {
	const struct fg_view_calls *calls;
	const struct fg_calltree *tree;
	struct fg_label_figures *figures;
	size_t count;
	struct fg_label_edge *edges;
	size_t edge_count;
	uint32_t *rank_of;           /* rank by label, from 1; 0: not in the list */
	struct fg_pair_index selves; /* caller, callee → index + 1 into self_ns */
	double *self_ns;             /* time of the callee below this caller */
	size_t self_count, self_capacity;
};

static void add_selves(struct graph *g)
{
	for (uint32_t i = 1; i < g->tree->node_count; i++) {
		const struct fg_calltree_node *node = &g->tree->nodes[i];
		const uint32_t caller = g->tree->nodes[node->parent].label;
		bool is_new = false;
		uint32_t at = *fg_pair_index_add(&g->selves, caller, node->label,
						 (uint32_t)g->self_count, &is_new);

		if (is_new) {
			FG_APPEND(g->self_ns, g->self_count, g->self_capacity) = 0;
		}
		g->self_ns[at] += g->tree->self[0][i].value;
	}
}

static void graph_init(struct graph *g, const struct fg_calltree *tree,
		       const struct fg_view_calls *calls)
{
	*g = (struct graph){.tree = tree, .calls = calls};
	g->count = fg_calltree_flat(tree, &g->figures);
	g->edge_count = fg_calltree_edges(tree, &g->edges);
	g->rank_of = fg_xcalloc(tree->label_count, sizeof(*g->rank_of));
	fg_view_sort_by_inclusive(g->figures, g->count);
	for (size_t i = 0; i < g->count; i++)
		g->rank_of[g->figures[i].label] = (uint32_t)i + 1;
	add_selves(g);
}

static void graph_release(struct graph *g)
{
	free(g->figures);
	free(g->edges);
	free(g->rank_of);
	free(g->self_ns);
	fg_pair_index_release(&g->selves);
}

static double self_on_edge(const struct graph *g, const struct fg_label_edge *edge)
{
	const uint32_t *at = fg_pair_index_get(&g->selves, edge->caller, edge->callee);

	return at ? g->self_ns[*at] : 0;
}

static const char *name_with_rank(const struct graph *g, struct fg_view_table *table,
				  uint32_t label)
{
	const char *name = g->tree->labels[label].name;

	if (g->rank_of[label] == NO_RANK)
		return name;
	return fg_arena_printf(&table->arena, "%s [%" PRIu32 "]", name, g->rank_of[label]);
}

/* Makes a cell such as "27/45 (60 %)": calls on this edge out of all calls to the callee. */
static struct fg_view_cell calls_on_edge(const struct graph *g, struct fg_view_table *table,
					 const struct fg_label_edge *edge)
{
	const double all = fg_view_calls_of(g->calls, edge->callee);
	const double here = fg_view_calls_between(g->calls, edge->caller, edge->callee);
	struct fg_view_cell cell = {0};
	char part[FG_NUMBER_TEXT_SIZE];
	char whole[FG_NUMBER_TEXT_SIZE];

	if (!(here > 0))
		return cell; /* counted under another function, which may have inlined the caller */
	cell = fg_cell_count(here);
	cell.text = fg_arena_printf(&table->arena, "%s/%s (%.3g %%)", fg_format_count(here, part),
				    fg_format_count(all, whole), 100 * here / all);
	return cell;
}

static void add_edge(const struct graph *g, struct fg_view_table *table,
		     const struct fg_label_edge *edge, bool is_caller)
{
	const uint32_t shown = is_caller ? edge->caller : edge->callee;
	const struct fg_weight *weight = &edge->weight[0];
	const double self = self_on_edge(g, edge);
	const struct fg_label_figures *callee = &g->figures[g->rank_of[edge->callee] - 1];
	struct fg_view_row *row = fg_view_add_row(table);
	struct fg_view_cell *cell = row->cells;
	char part[FG_NUMBER_TEXT_SIZE];
	char whole[FG_NUMBER_TEXT_SIZE];

	row->style = FG_VIEW_FAINT;
	row->guide = "    ";
	cell++;
	cell++;
	*cell++ = fg_cell_value(self);
	*cell++ = fg_cell_value(weight->value > self ? weight->value - self : 0);
	*cell = fg_cell_count((double)weight->samples);
	cell++->text = fg_arena_printf(
		&table->arena, "%s/%s", fg_format_count((double)weight->samples, part),
		fg_format_count((double)callee->inclusive[0].samples, whole));
	*cell++ = calls_on_edge(g, table, edge);
	*cell++ = fg_cell_text(table, is_caller ? "caller" : "callee");
	*cell++ = fg_cell_library(table, &g->tree->labels[shown]);
	*cell = fg_cell_text(table, name_with_rank(g, table, shown));
}

static void add_function(const struct graph *g, struct fg_view_table *table,
			 const struct fg_label_figures *figures)
{
	const struct fg_weight *total = &g->tree->inclusive[0][0];
	const struct fg_weight *inclusive = &figures->inclusive[0];
	const double calls = fg_view_calls_of(g->calls, figures->label);
	struct fg_view_row *row = fg_view_add_row(table);
	struct fg_view_cell *cell = row->cells;

	row->style = FG_VIEW_PRIMARY;
	*cell++ = (struct fg_view_cell){.kind = FG_CELL_TEXT,
					.text = fg_arena_printf(&table->arena, "[%" PRIu32 "]",
								g->rank_of[figures->label])};
	*cell++ = fg_cell_weight_share(inclusive, total);
	*cell++ = fg_cell_value(figures->self[0].value);
	*cell++ = fg_cell_value(inclusive->value > figures->self[0].value
					? inclusive->value - figures->self[0].value
					: 0);
	*cell++ = fg_cell_count((double)inclusive->samples);
	if (calls > 0)
		*cell = fg_cell_count(calls);
	cell++;
	*cell++ = fg_cell_text(table, "function");
	*cell++ = fg_cell_library(table, &g->tree->labels[figures->label]);
	*cell = fg_cell_text(table, name_with_rank(g, table, figures->label));
}

/*
 * Writes the edges from a function's callers, or to its callees, to `found`, largest first. Returns
 * their number.
 */
static size_t find_edges(const struct graph *g, uint32_t label, bool callers,
			 const struct fg_label_edge **found)
{
	size_t count = 0;

	for (size_t i = 0; i < g->edge_count; i++) {
		const struct fg_label_edge *edge = &g->edges[i];
		size_t at = 0;

		if ((callers ? edge->callee : edge->caller) != label || edge->caller == 0)
			continue;
		for (at = count++; at > 0 && found[at - 1]->weight[0].value < edge->weight[0].value;
		     at--)
			found[at] = found[at - 1];
		found[at] = edge;
	}
	return count;
}

static void add_block(const struct graph *g, struct fg_view_table *table, size_t figure,
		      size_t edge_limit, const struct fg_label_edge **found)
{
	const uint32_t label = g->figures[figure].label;
	const size_t first = table->row_count;
	size_t count = find_edges(g, label, true, found);

	for (size_t i = fg_min_size(count, edge_limit); i-- > 0;)
		add_edge(g, table, found[i], true);
	if (count > edge_limit)
		fg_view_note(table, "[%zu] has %zu more caller%s", figure + 1, count - edge_limit,
			     count - edge_limit == 1 ? "" : "s");
	add_function(g, table, &g->figures[figure]);
	count = find_edges(g, label, false, found);
	for (size_t i = 0; i < fg_min_size(count, edge_limit); i++)
		add_edge(g, table, found[i], false);
	if (count > edge_limit)
		fg_view_note(table, "[%zu] has %zu more callee%s", figure + 1, count - edge_limit,
			     count - edge_limit == 1 ? "" : "s");
	table->rows[first].rule_before = first > 0;
}

static bool is_wanted(const struct graph *g, size_t figure, const struct fg_pattern *pattern,
		      double floor)
{
	const struct fg_label *label = &g->tree->labels[g->figures[figure].label];

	if (pattern->set)
		return fg_view_matches(pattern, label);
	return g->figures[figure].inclusive[0].value >= floor;
}

static int fill(struct fg_view_table *table, const struct fg_calltree *tree,
		const struct fg_view_calls *calls, const struct fg_view_options *options,
		struct fg_error *err)
{
	const double floor = options->all ? 0 : options->floor * tree->inclusive[0][0].value;
	const size_t limit = fg_view_limit(options, FEW_FUNCTIONS);
	struct fg_pattern pattern = {0};
	const struct fg_label_edge **found = NULL;
	struct graph g;
	size_t shown = 0;
	size_t wanted = 0;
	int status = FG_OK;

	if (options->function)
		FG_TRY(fg_pattern_compile(options->function, &pattern, err));
	graph_init(&g, tree, calls);
	found = fg_xcalloc(g.edge_count, sizeof(const struct fg_label_edge *));
	for (size_t i = 0; i < g.count; i++) {
		if (!is_wanted(&g, i, &pattern, floor))
			continue;
		wanted++;
		if (shown >= limit)
			continue;
		shown++;
		add_block(&g, table, i, options->all ? SIZE_MAX : FEW_EDGES, found);
	}
	if (options->function && wanted == 0)
		status =
			fg_error_set(err, FG_ENOENT, "no function matches '%s'", options->function);
	else if (wanted > shown)
		fg_view_note(table,
			     "%zu more function%s (--rows N shows more, --function PATTERN "
			     "shows one)",
			     wanted - shown, wanted - shown == 1 ? "" : "s");
	free(found);
	graph_release(&g);
	fg_pattern_release(&pattern);
	return status;
}

int fg_view_callgraph(const struct fg_profile *profile, const struct fg_view_options *options,
		      struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree_query query = options->query;
	struct fg_view_calls calls = {0};
	struct fg_calltree tree;
	int status = FG_OK;

	query.split = FG_SPLIT_NONE;
	FG_TRY(fg_calltree_build(profile, &query, &tree, err));
	FG_TRY_OUT(fg_view_calls_init(&calls, &tree, profile, &query, err));
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	if (!calls.known)
		fg_view_drop_column(table, COLUMN_CALLS);
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	status = fill(table, &tree, &calls, options, err);
out:
	fg_view_calls_release(&calls);
	fg_calltree_release(&tree);
	return status;
}
