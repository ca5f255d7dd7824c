// SPDX-License-Identifier: Apache-2.0
/*
 * Memory, where allocations were counted.  `leaks`: the call paths whose blocks were lost, or not
 * given back.  `memory`: functions, with everything that was counted about their allocations side
 * by side.
 */
#include "views/view_private.h"

enum {
	FEW_ROWS = 30
};

/* ---- several measures over one tree ---- */

/* A tree of another measure, and its nodes and labels in the first. */
struct other {
	struct fg_calltree tree;
	uint32_t *nodes;
	uint32_t *labels;
};

static void other_release(struct other *other)
{
	free(other->nodes);
	free(other->labels);
	fg_calltree_release(&other->tree);
}

/* A profile without the measure has a tree of nothing. */
static int other_init(struct other *other, const struct fg_profile *profile,
		      const struct fg_calltree_query *query, const char *measure,
		      struct fg_calltree *first, struct fg_error *err)
{
	struct fg_calltree_query wanted = *query;
	uint16_t index = 0;
	int status = FG_OK;

	*other = (struct other){0};
	wanted.measure = measure;
	if (fg_profile_find_measure(profile, measure, &index, NULL) != FG_OK)
		return FG_OK;
	status = fg_calltree_build(profile, &wanted, &other->tree, err);
	if (status != FG_OK)
		return status;
	other->nodes = fg_xcalloc(other->tree.node_count, sizeof(other->nodes[0]));
	other->labels = fg_xcalloc(other->tree.label_count, sizeof(other->labels[0]));
	for (size_t i = 1; i < other->tree.label_count; i++)
		other->labels[i] = fg_calltree_label(first, &other->tree.labels[i]);
	for (size_t i = 1; i < other->tree.node_count; i++) {
		const struct fg_calltree_node *node = &other->tree.nodes[i];
		const uint32_t *found = fg_pair_index_get(
			&first->node_index, other->nodes[node->parent], other->labels[node->label]);

		if (found && (node->parent == 0 || other->nodes[node->parent]))
			other->nodes[i] = *found;
	}
	return FG_OK;
}

/* What was counted at each node of the first tree; yours to free. */
static int values_by_node(const struct fg_profile *profile, const struct fg_calltree_query *query,
			  const char *measure, struct fg_calltree *first, double **values,
			  struct fg_error *err)
{
	struct other other;
	const int status = other_init(&other, profile, query, measure, first, err);

	*values = NULL;
	if (status != FG_OK)
		return status;
	*values = fg_xcalloc(first->node_count, sizeof(**values));
	for (size_t i = 1; i < other.tree.node_count; i++)
		(*values)[other.nodes[i]] += other.tree.self[0][i].value;
	other_release(&other);
	return FG_OK;
}

/* ---- leaks ---- */

static const struct fg_view_column leak_columns[] = {
	{.key = "share", .title = "%", .kind = FG_CELL_SHARE},
	{.key = "bytes", .title = "lost %t", .kind = FG_CELL_VALUE},
	{.key = "blocks", .title = "blocks", .kind = FG_CELL_COUNT},
	{.key = "allocations", .title = "of", .kind = FG_CELL_COUNT},
	{.key = "library", .title = "library", .kind = FG_CELL_TEXT, .left = true, .optional = 1},
	{.key = "path", .title = "allocated by", .kind = FG_CELL_TEXT, .left = true},
};

enum {
	COLUMN_LOST = 1
};

struct ranked {
	uint32_t index;
	double value;
};

static int largest_first(const void *left, const void *right)
{
	const struct ranked *a = left;
	const struct ranked *b = right;

	if (a->value > b->value)
		return -1;
	if (a->value < b->value)
		return 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* "keep ← load ← main": who allocated comes first, for the end may be cut. */
static struct fg_view_cell path_cell(struct fg_view_table *table, const struct fg_calltree *tree,
				     uint32_t node)
{
	struct fg_strbuf text = {0};
	struct fg_view_cell cell;

	for (uint32_t at = node; at != 0; at = tree->nodes[at].parent) {
		if (at != node)
			fg_strbuf_add_text(&text, " ← ");
		fg_strbuf_add_text(&text, tree->labels[tree->nodes[at].label].name);
	}
	cell = fg_cell_text(table, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
	return cell;
}

static void list_leaks(struct fg_view_table *table, const struct fg_calltree *tree,
		       const double *blocks, const double *allocations,
		       const struct fg_view_options *options)
{
	const double total = tree->inclusive[0][0].value;
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	struct ranked *leaks = fg_xcalloc(tree->node_count, sizeof(*leaks));
	size_t count = 0;

	for (uint32_t i = 1; i < tree->node_count; i++) {
		const double value = tree->self[0][i].value;

		if (blocks[i] > 0 && (options->all || value >= options->floor * total))
			leaks[count++] = (struct ranked){i, value};
	}
	qsort(leaks, count, sizeof(*leaks), largest_first);
	for (size_t i = 0; i < count && i < limit; i++) {
		const uint32_t node = leaks[i].index;
		struct fg_view_cell *cells = fg_view_add_row(table)->cells;

		cells[0] = fg_cell_share(total > 0 ? leaks[i].value / total : 0);
		cells[1] = fg_cell_value(leaks[i].value);
		cells[2] = fg_cell_count(blocks[node]);
		cells[3] = fg_cell_count(allocations[node]);
		cells[4] = fg_cell_library(table, &tree->labels[tree->nodes[node].label]);
		cells[5] = path_cell(table, tree, node);
	}
	if (count > limit)
		fg_view_note(table, "%zu more call paths (--rows N, --all)", count - limit);
	free(leaks);
}

/* With --measure heap.live everything that was not given back, lost or not. */
int fg_view_leaks(const struct fg_profile *profile, const struct fg_view_options *options,
		  struct fg_view_table *table, struct fg_error *err)
{
	const bool are_held = strcmp(table->measure.name, "heap.live") == 0;
	const char *of_blocks = are_held ? "heap.live_blocks" : "heap.leaked_blocks";
	struct fg_calltree tree;
	double *blocks = NULL;
	double *allocations = NULL;
	int status = FG_OK;

	if (!are_held && strcmp(table->measure.name, "heap.leaked") != 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "leaks are of heap.leaked or heap.live, not of %s",
				    table->measure.name);
	status = fg_calltree_build(profile, &options->query, &tree, err);
	if (status != FG_OK)
		return status;
	status = values_by_node(profile, &options->query, of_blocks, &tree, &blocks, err);
	if (status != FG_OK)
		goto out;
	status = values_by_node(profile, &options->query, "heap.allocations", &tree, &allocations,
				err);
	if (status != FG_OK)
		goto out;
	fg_view_columns(table, leak_columns, FG_ARRAY_SIZE(leak_columns));
	if (are_held)
		table->columns[COLUMN_LOST].title = "held %t";
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	list_leaks(table, &tree, blocks, allocations, options);
	if (tree.inclusive[0][0].value <= 0)
		fg_view_note(table, are_held ? "everything was given back"
					     : "nothing was lost: each block was freed, or can "
					       "still be reached");
out:
	free(blocks);
	free(allocations);
	fg_calltree_release(&tree);
	return status;
}

/* ---- memory ---- */

enum {
	COLUMN_SHARE,
	COLUMN_BYTES,
	COLUMN_ALLOCATIONS,
	COLUMN_LARGEST,
	COLUMN_LIVE,
	COLUMN_LIVE_BLOCKS,
	COLUMN_LEAKED,
	COLUMN_PEAK,
	COLUMN_OWN_PEAK,
	COLUMN_TEMPORARY,
	COLUMN_UNTOUCHED,
	COLUMN_LIBRARY,
	COLUMN_NAME,
	COLUMN_COUNT,
};

static const struct fg_view_column memory_columns[COLUMN_COUNT] = {
	[COLUMN_SHARE] = {.key = "share", .title = "%", .kind = FG_CELL_SHARE},
	[COLUMN_BYTES] = {.key = "bytes", .title = "total %t", .kind = FG_CELL_VALUE},
	[COLUMN_ALLOCATIONS] = {.key = "allocations", .title = "calls", .kind = FG_CELL_COUNT},
	[COLUMN_LARGEST] = {.key = "largest",
			    .title = "max %t",
			    .kind = FG_CELL_VALUE,
			    .optional = 1},
	[COLUMN_LIVE] = {.key = "live", .title = "live %t", .kind = FG_CELL_VALUE},
	[COLUMN_LIVE_BLOCKS] = {.key = "live_blocks", .title = "blocks", .kind = FG_CELL_COUNT},
	[COLUMN_LEAKED] = {.key = "leaked",
			   .title = "lost %t",
			   .kind = FG_CELL_VALUE,
			   .optional = 5},
	[COLUMN_PEAK] = {.key = "peak", .title = "at peak %t", .kind = FG_CELL_VALUE},
	[COLUMN_OWN_PEAK] = {.key = "own_peak",
			     .title = "own peak %t",
			     .kind = FG_CELL_VALUE,
			     .optional = 3},
	[COLUMN_TEMPORARY] = {.key = "temporary",
			      .title = "temporary",
			      .kind = FG_CELL_COUNT,
			      .optional = 4},
	[COLUMN_UNTOUCHED] = {.key = "untouched",
			      .title = "untouched %t",
			      .kind = FG_CELL_VALUE,
			      .optional = 6},
	[COLUMN_LIBRARY] = {.key = "library",
			    .title = "library",
			    .kind = FG_CELL_TEXT,
			    .left = true,
			    .optional = 2},
	[COLUMN_NAME] = {.key = "name", .title = "name", .kind = FG_CELL_TEXT, .left = true},
};

/* NULL: the column shows none. */
static const char *const measures[COLUMN_COUNT] = {
	[COLUMN_BYTES] = "heap.bytes",
	[COLUMN_ALLOCATIONS] = "heap.allocations",
	[COLUMN_LARGEST] = "heap.largest",
	[COLUMN_LIVE] = "heap.live",
	[COLUMN_LIVE_BLOCKS] = "heap.live_blocks",
	[COLUMN_LEAKED] = "heap.leaked",
	[COLUMN_UNTOUCHED] = "heap.untouched",
	[COLUMN_PEAK] = "heap.peak",
	[COLUMN_OWN_PEAK] = "heap.own_peak",
	[COLUMN_TEMPORARY] = "heap.temporary",
};

struct function {
	double values[COLUMN_COUNT];
	uint32_t label;
};

struct functions {
	struct function *items;
	size_t count;
};

static int column_of(const char *measure)
{
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (measures[i] && strcmp(measures[i], measure) == 0)
			return i;
	return COLUMN_COUNT;
}

/* Whatever is held was allocated, so the functions of `first`, the tree of allocations, are all. */
static int fill_column(struct functions *functions, int column, const struct fg_profile *profile,
		       const struct fg_view_options *options, struct fg_calltree *first,
		       struct fg_error *err)
{
	struct fg_label_figures *figures = NULL;
	struct other other;
	size_t figure_count = 0;
	const int status =
		other_init(&other, profile, &options->query, measures[column], first, err);

	if (status != FG_OK)
		return status;
	if (other.labels)
		figure_count = fg_calltree_flat(&other.tree, &figures);
	for (size_t i = 0; i < figure_count; i++) {
		const uint32_t label = other.labels[figures[i].label];

		if (label < functions->count)
			functions->items[label].values[column] =
				options->by_inclusive ? figures[i].inclusive[0].value
						      : figures[i].self[0].value;
	}
	free(figures);
	other_release(&other);
	return FG_OK;
}

static void add_function(struct fg_view_table *table, const struct fg_calltree *tree,
			 const struct function *function, double share)
{
	struct fg_view_cell *cells = fg_view_add_row(table)->cells;
	const struct fg_label *label = &tree->labels[function->label];

	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (measures[i])
			cells[i] = memory_columns[i].kind == FG_CELL_VALUE
					   ? fg_cell_value(function->values[i])
					   : fg_cell_count(function->values[i]);
	}
	cells[COLUMN_SHARE] = fg_cell_share(share);
	cells[COLUMN_LIBRARY] = fg_cell_library(table, label);
	cells[COLUMN_NAME] = fg_cell_text(table, label->name);
}

static void list_functions(struct fg_view_table *table, const struct fg_calltree *tree,
			   const struct functions *functions, const struct fg_view_options *options,
			   double total)
{
	const int order = column_of(table->measure.name);
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	struct ranked *ranked = fg_xcalloc(functions->count, sizeof(*ranked));
	size_t count = 0;

	for (uint32_t i = 1; i < functions->count; i++) {
		const double value = functions->items[i].values[order];

		if (functions->items[i].values[COLUMN_ALLOCATIONS] > 0 &&
		    (options->all || value >= options->floor * total))
			ranked[count++] = (struct ranked){i, value};
	}
	qsort(ranked, count, sizeof(*ranked), largest_first);
	for (size_t i = 0; i < count && i < limit; i++)
		add_function(table, tree, &functions->items[ranked[i].index],
			     total > 0 ? ranked[i].value / total : 0);
	if (count > limit)
		fg_view_note(table, "%zu more functions (--rows N, --all)", count - limit);
	free(ranked);
}

static int fill(struct fg_view_table *table, const struct fg_profile *profile,
		const struct fg_view_options *options, struct fg_calltree *tree,
		struct fg_error *err)
{
	struct functions functions = {
		.items = fg_xcalloc(tree->label_count, sizeof(functions.items[0])),
		.count = tree->label_count,
	};
	struct fg_weight total = {.value = fg_view_whole_total(table, profile)};
	int status = FG_OK;

	for (uint32_t i = 0; i < functions.count; i++)
		functions.items[i].label = i;
	for (int i = 0; i < COLUMN_COUNT && status == FG_OK; i++)
		if (measures[i])
			status = fill_column(&functions, i, profile, options, tree, err);
	if (status == FG_OK) {
		fg_view_columns(table, memory_columns, COLUMN_COUNT);
		fg_view_total(table, profile, &options->query, &total);
		list_functions(table, tree, &functions, options, total.value);
	}
	free(functions.items);
	return status;
}

int fg_view_memory(const struct fg_profile *profile, const struct fg_view_options *options,
		   struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree_query query = options->query;
	struct fg_calltree tree;
	int status = FG_OK;
	const int column = column_of(table->measure.name);

	if (column == COLUMN_COUNT || memory_columns[column].kind != FG_CELL_VALUE)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "memory is ordered by heap.bytes, heap.largest, heap.live, "
				    "heap.leaked, heap.peak, heap.own_peak or heap.untouched, "
				    "not by %s",
				    table->measure.name);
	query.measure = measures[COLUMN_ALLOCATIONS];
	status = fg_calltree_build(profile, &query, &tree, err);
	if (status != FG_OK)
		return status;
	status = fill(table, profile, options, &tree, err);
	fg_calltree_release(&tree);
	return status;
}
