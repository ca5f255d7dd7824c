// SPDX-License-Identifier: Apache-2.0
/*
 * Memory, if allocations were counted. `leaks`: call paths whose blocks were lost, or not freed.
 * `growth`: call paths that hold more than at an earlier dump. `memory`: functions, with all counts
 * of their allocations side by side.
 */
#include "profile/views/view_private.h"

enum {
	FEW_ROWS = 30
};

/* ---- several measures over one tree ---- */

/* A tree of another measure, with the corresponding nodes and labels of the first tree. */
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

/* Makes the tree; it is empty if the profile lacks the measure. */
static int other_init(struct other *other, const struct fg_profile *profile,
		      const struct fg_calltree_query *query, const char *measure,
		      struct fg_calltree *first, struct fg_error *err)
{
	struct fg_calltree_query wanted = *query;
	uint16_t index = 0;

	*other = (struct other){0};
	wanted.measure = measure;
	if (fg_profile_find_measure(profile, measure, &index, NULL) != FG_OK)
		return FG_OK;
	FG_TRY(fg_calltree_build(profile, &wanted, &other->tree, err));
	other->nodes = fg_xcalloc(other->tree.node_count, sizeof(other->nodes[0]));
	other->labels = fg_calltree_map_labels(first, &other->tree);
	for (size_t i = 1; i < other->tree.node_count; i++) {
		const struct fg_calltree_node *node = &other->tree.nodes[i];
		const uint32_t *found = fg_pair_index_get(
			&first->node_index, other->nodes[node->parent], other->labels[node->label]);

		if (found && (node->parent == 0 || other->nodes[node->parent]))
			other->nodes[i] = *found;
	}
	return FG_OK;
}

/* Computes the values by node of the first tree. The caller frees them. */
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
	{"share", "%", .kind = FG_CELL_SHARE},
	{"bytes", "lost %t", .kind = FG_CELL_VALUE},
	{"blocks", "blocks", .kind = FG_CELL_COUNT},
	{"allocations", "of", .kind = FG_CELL_COUNT},
	{"library", "library", .kind = FG_CELL_TEXT, .left = true, .optional = 1},
	{"path", "allocated by", .kind = FG_CELL_TEXT, .left = true},
};

enum {
	COLUMN_LOST = 1
};

/* Returns "keep ← load ← main": the allocating function first, because the end may be cut. */
static struct fg_view_cell path_cell(struct fg_view_table *table, const struct fg_calltree *tree,
				     uint32_t node)
{
	struct fg_strbuf text = {0};

	for (uint32_t at = node; at != 0; at = tree->nodes[at].parent) {
		if (at != node)
			fg_strbuf_add_text(&text, " ← ");
		fg_strbuf_add_text(&text, tree->labels[tree->nodes[at].label].name);
	}
	return (struct fg_view_cell){.kind = FG_CELL_TEXT,
				     .text = fg_strbuf_keep(&text, &table->arena)};
}

static void note_more_paths(struct fg_view_table *table, size_t count)
{
	fg_view_note(table, "%zu more call path%s (--rows N, --all)", count, count == 1 ? "" : "s");
}

static void list_leaks(struct fg_view_table *table, const struct fg_calltree *tree,
		       const double *blocks, const double *allocations,
		       const struct fg_view_options *options)
{
	const double total = tree->inclusive[0][0].value;
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	struct fg_view_ranked *leaks = fg_xcalloc(tree->node_count, sizeof(*leaks));
	size_t count = 0;

	for (uint32_t i = 1; i < tree->node_count; i++) {
		const double value = tree->self[0][i].value;

		if (blocks[i] > 0 && (options->all || value >= options->floor * total))
			leaks[count++] = (struct fg_view_ranked){i, value};
	}
	fg_view_rank(leaks, count);
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
		note_more_paths(table, count - limit);
	free(leaks);
}

/* With --measure heap.live, lists memory that was not freed, even if it is still reachable. */
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
				    "leaks shows heap.leaked or heap.live, not %s",
				    table->measure.name);
	FG_TRY(fg_calltree_build(profile, &options->query, &tree, err));
	FG_TRY_OUT(values_by_node(profile, &options->query, of_blocks, &tree, &blocks, err));
	FG_TRY_OUT(values_by_node(profile, &options->query, "heap.allocations", &tree, &allocations,
				  err));
	fg_view_columns(table, leak_columns, FG_ARRAY_SIZE(leak_columns));
	if (are_held)
		table->columns[COLUMN_LOST].title = "held %t";
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	list_leaks(table, &tree, blocks, allocations, options);
	if (!are_held)
		fg_view_note(table,
			     "a pointer left in a register or on the unused stack hides a leak, so "
			     "there may be more leaks");
	if (tree.inclusive[0][0].value <= 0)
		fg_view_note(table, are_held ? "everything was freed"
					     : "nothing was lost: each block was freed, or can "
					       "still be reached");
out:
	free(blocks);
	free(allocations);
	fg_calltree_release(&tree);
	return status;
}

/* ---- growth ---- */

static const struct fg_view_column growth_columns[] = {
	{"share", "%", .kind = FG_CELL_SHARE},
	{"grown", "grown %t", .kind = FG_CELL_VALUE},
	{"blocks", "blocks", .kind = FG_CELL_COUNT},
	{"before", "before %t", .kind = FG_CELL_VALUE},
	{"after", "after %t", .kind = FG_CELL_VALUE},
	{"library", "library", .kind = FG_CELL_TEXT, .left = true, .optional = 1},
	{"path", "allocated by", .kind = FG_CELL_TEXT, .left = true},
};

enum {
	MARK_SIZE = 48
};

/* Returns the name of the measure of memory held at a dump, or at the end. */
static const char *measure_at(const char *of, unsigned dump, char text[MARK_SIZE])
{
	(void)(dump == FG_VIEW_AT_END ? snprintf(text, MARK_SIZE, "%s", of)
				      : snprintf(text, MARK_SIZE, "%s.%u", of, dump));
	return text;
}

static const char *name_of_mark(unsigned dump, char text[MARK_SIZE])
{
	(void)(dump == FG_VIEW_AT_END ? snprintf(text, MARK_SIZE, "the end")
				      : snprintf(text, MARK_SIZE, "dump %u", dump));
	return text;
}

static bool has_dump(const struct fg_profile *profile, unsigned dump)
{
	char name[MARK_SIZE];
	uint16_t index = 0;

	return fg_profile_find_measure(profile, measure_at("heap.live", dump, name), &index,
				       NULL) == FG_OK;
}

/*
 * Chooses the first and the last dump (or the end, if there is only one dump), unless the user
 * named other dumps.
 */
static int choose_marks(const struct fg_profile *profile, const struct fg_view_options *options,
			unsigned marks[2], struct fg_error *err)
{
	unsigned last = 0;

	while (has_dump(profile, last + 1))
		last++;
	if (last == 0)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"no dumps were taken: call fg_dump() in the program, append "
			"a line 'dump' to the file given to fastgate record --control, or "
			"use --dump-signal");
	marks[0] = options->dump_from ? options->dump_from : 1;
	marks[1] = options->dump_to ? options->dump_to : last > 1 ? last : FG_VIEW_AT_END;
	for (size_t i = 0; i < 2; i++)
		if (!has_dump(profile, marks[i]))
			return fg_error_set(err, FG_ENOENT,
					    "there is no dump %u; the profile has %u", marks[i],
					    last);
	return FG_OK;
}

struct growth {
	double *before; /* indexed by node */
	double *blocks;
	double *blocks_before;
};

static void list_growth(struct fg_view_table *table, const struct fg_calltree *tree,
			const struct growth *growth, const struct fg_view_options *options)
{
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	struct fg_view_ranked *grown = fg_xcalloc(tree->node_count, sizeof(*grown));
	double total = 0;
	size_t count = 0;

	for (uint32_t i = 1; i < tree->node_count; i++) {
		const double value = tree->self[0][i].value - growth->before[i];

		if (value > 0) {
			grown[count++] = (struct fg_view_ranked){i, value};
			total += value;
		}
	}
	fg_view_rank(grown, count);
	for (size_t i = 0; i < count && i < limit; i++) {
		const uint32_t node = grown[i].index;
		struct fg_view_cell *cells = NULL;

		if (!options->all && grown[i].value < options->floor * total)
			break;
		cells = fg_view_add_row(table)->cells;
		cells[0] = fg_cell_share(grown[i].value / total);
		cells[1] = fg_cell_value(grown[i].value);
		cells[2] = fg_cell_count(growth->blocks[node] - growth->blocks_before[node]);
		cells[3] = fg_cell_value(growth->before[node]);
		cells[4] = fg_cell_value(tree->self[0][node].value);
		cells[5] = fg_cell_library(table, &tree->labels[tree->nodes[node].label]);
		cells[6] = path_cell(table, tree, node);
	}
	if (count > limit)
		note_more_paths(table, count - limit);
	if (count == 0)
		fg_view_note(table, "no call path holds more than before");
	free(grown);
}

static double held_at(const struct fg_profile *profile, const char *measure)
{
	uint16_t index = 0;

	return fg_profile_find_measure(profile, measure, &index, NULL) == FG_OK
		       ? profile->measures[index].total
		       : 0;
}

/* Adds the line "memory held: 18 MiB at dump 1, 25 MiB at dump 2". */
static void show_marks(struct fg_view_table *table, const struct fg_profile *profile,
		       const unsigned marks[2])
{
	char names[2][MARK_SIZE];
	char sizes[2][FG_NUMBER_TEXT_SIZE];

	for (size_t i = 0; i < 2; i++) {
		char measure[MARK_SIZE];

		(void)fg_format_size(held_at(profile, measure_at("heap.live", marks[i], measure)),
				     sizes[i]);
		(void)name_of_mark(marks[i], names[i]);
	}
	fg_view_head(table, "memory held: %s at %s, %s at %s", sizes[0], names[0], sizes[1],
		     names[1]);
}

int fg_view_growth(const struct fg_profile *profile, const struct fg_view_options *options,
		   struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree_query query = options->query;
	struct growth growth = {0};
	struct fg_calltree tree;
	unsigned marks[2] = {0, 0};
	char after[MARK_SIZE];
	char other[MARK_SIZE];
	int status = FG_OK;

	if (strcmp(table->measure.name, "heap.live") != 0)
		return fg_error_set(err, FG_EUNSUPPORTED, "growth shows heap.live, not %s",
				    table->measure.name);
	FG_TRY(choose_marks(profile, options, marks, err));
	query.measure = measure_at("heap.live", marks[1], after);
	FG_TRY(fg_calltree_build(profile, &query, &tree, err));
	FG_TRY_OUT(values_by_node(profile, &query, measure_at("heap.live", marks[0], other), &tree,
				  &growth.before, err));
	FG_TRY_OUT(values_by_node(profile, &query, measure_at("heap.live_blocks", marks[1], other),
				  &tree, &growth.blocks, err));
	FG_TRY_OUT(values_by_node(profile, &query, measure_at("heap.live_blocks", marks[0], other),
				  &tree, &growth.blocks_before, err));
	fg_view_columns(table, growth_columns, FG_ARRAY_SIZE(growth_columns));
	show_marks(table, profile, marks);
	list_growth(table, &tree, &growth, options);
out:
	free(growth.before);
	free(growth.blocks);
	free(growth.blocks_before);
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
	[COLUMN_SHARE] = {"share", "%", .kind = FG_CELL_SHARE},
	[COLUMN_BYTES] = {"bytes", "total %t", .kind = FG_CELL_VALUE},
	[COLUMN_ALLOCATIONS] = {"allocations", "calls", .kind = FG_CELL_COUNT},
	[COLUMN_LARGEST] = {"largest", "max %t", .kind = FG_CELL_VALUE, .optional = 1},
	[COLUMN_LIVE] = {"live", "live %t", .kind = FG_CELL_VALUE},
	[COLUMN_LIVE_BLOCKS] = {"live_blocks", "blocks", .kind = FG_CELL_COUNT},
	[COLUMN_LEAKED] = {"leaked", "lost %t", .kind = FG_CELL_VALUE, .optional = 5},
	[COLUMN_PEAK] = {"peak", "at peak %t", .kind = FG_CELL_VALUE},
	[COLUMN_OWN_PEAK] = {"own_peak", "own peak %t", .kind = FG_CELL_VALUE, .optional = 3},
	[COLUMN_TEMPORARY] = {"temporary", "temporary", .kind = FG_CELL_COUNT, .optional = 4},
	[COLUMN_UNTOUCHED] = {"untouched", "untouched %t", .kind = FG_CELL_VALUE, .optional = 6},
	[COLUMN_LIBRARY] = {"library", "library", .kind = FG_CELL_TEXT, .left = true,
			    .optional = 2},
	[COLUMN_NAME] = {"name", "name", .kind = FG_CELL_TEXT, .left = true},
};

/* NULL: the column shows no measure. */
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

struct functions {
	double (*values)[COLUMN_COUNT]; /* indexed by label */
	size_t count;
	bool is_known[COLUMN_COUNT]; /* false: not recorded, so the column is dropped */
};

static int column_of(const char *measure)
{
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (measures[i] && strcmp(measures[i], measure) == 0)
			return i;
	return COLUMN_COUNT;
}

/*
 * Fills a column. `first`, the tree of allocations, has every function, because only allocated
 * memory can be held.
 */
static int fill_column(struct functions *functions, int column, const struct fg_profile *profile,
		       const struct fg_view_options *options, struct fg_calltree *first,
		       struct fg_error *err)
{
	struct fg_label_figures *figures = NULL;
	struct other other;
	size_t figure_count = 0;

	FG_TRY(other_init(&other, profile, &options->query, measures[column], first, err));
	functions->is_known[column] = other.labels != NULL;
	if (other.labels)
		figure_count = fg_calltree_flat(&other.tree, &figures);
	for (size_t i = 0; i < figure_count; i++) {
		const uint32_t label = other.labels[figures[i].label];

		if (label < functions->count)
			functions->values[label][column] = options->by_inclusive
								   ? figures[i].inclusive[0].value
								   : figures[i].self[0].value;
	}
	free(figures);
	other_release(&other);
	return FG_OK;
}

static void add_function(struct fg_view_table *table, const struct fg_calltree *tree,
			 const struct functions *functions, uint32_t index, double share)
{
	struct fg_view_cell *cells = fg_view_add_row(table)->cells;
	const struct fg_label *label = &tree->labels[index];
	const double *values = functions->values[index];

	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (measures[i] && functions->is_known[i])
			cells[i] = memory_columns[i].kind == FG_CELL_VALUE
					   ? fg_cell_value(values[i])
					   : fg_cell_count(values[i]);
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
	struct fg_view_ranked *ranked = fg_xcalloc(functions->count, sizeof(*ranked));
	size_t count = 0;

	for (uint32_t i = 1; i < functions->count; i++) {
		const double value = functions->values[i][order];

		if (functions->values[i][COLUMN_ALLOCATIONS] > 0 &&
		    (options->all || value >= options->floor * total))
			ranked[count++] = (struct fg_view_ranked){i, value};
	}
	fg_view_rank(ranked, count);
	for (size_t i = 0; i < count && i < limit; i++)
		add_function(table, tree, functions, ranked[i].index,
			     total > 0 ? ranked[i].value / total : 0);
	if (count > limit)
		fg_view_note(table, "%zu more function%s (--rows N, --all)", count - limit,
			     count - limit == 1 ? "" : "s");
	free(ranked);
}

static int fill(struct fg_view_table *table, const struct fg_profile *profile,
		const struct fg_view_options *options, struct fg_calltree *tree,
		struct fg_error *err)
{
	struct functions functions = {
		.values = fg_xcalloc(tree->label_count, sizeof(functions.values[0])),
		.count = tree->label_count,
	};
	double total = 0;
	int status = fg_view_total_of(table, profile, &options->query, &total, err);

	for (int i = 0; i < COLUMN_COUNT && status == FG_OK; i++)
		if (measures[i])
			status = fill_column(&functions, i, profile, options, tree, err);
	if (status == FG_OK) {
		fg_view_columns(table, memory_columns, COLUMN_COUNT);
		list_functions(table, tree, &functions, options, total);
		fg_view_note(table,
			     "bytes are the requested sizes, without malloc's block headers%s",
			     functions.is_known[COLUMN_UNTOUCHED]
				     ? "; untouched pages are whole pages of blocks of 64 KiB or "
				       "more"
				     : "");
	}
	free(functions.values);
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
	FG_TRY(fg_calltree_build(profile, &query, &tree, err));
	status = fill(table, profile, options, &tree, err);
	fg_calltree_release(&tree);
	return status;
}
