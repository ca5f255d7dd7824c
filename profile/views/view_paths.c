// SPDX-License-Identifier: Apache-2.0
/*
 * Conditional cost: some functions always cost the same time; other functions are slow only when
 * called from one place, or in one unit of work out of a hundred.
 *
 * Without --function: the functions with the number of paths to them, the share of their time on
 * the largest path, the number of units of work in which they ran, and the variation of their time
 * from unit to unit. The cost of a function is conditional if one path dominates, or if the
 * standard deviation is much larger than the mean.
 *
 * With --function: the paths to its outermost occurrence, with the same figures for each. Time
 * below the function counts as its own.
 */
#include "profile/views/view_private.h"

#include <math.h>

enum {
	FEW_ROWS = 20,
	NO_UNIT = 0,
};

static const struct fg_view_column columns[] = {
	{"inclusive_share", "incl %", .kind = FG_CELL_SHARE, .has_error = true},
	{"inclusive_ns", "incl %t", .kind = FG_CELL_VALUE, .has_error = true, .optional = 1},
	{"paths", "paths", .kind = FG_CELL_COUNT},
	{"largest_path_share", "largest %", .kind = FG_CELL_SHARE},
	{"units", "units", .kind = FG_CELL_COUNT},
	{"unit_mean_ns", "mean %t", .kind = FG_CELL_VALUE},
	{"unit_sd_ns", "sd %t", .kind = FG_CELL_VALUE, .unit_like = 6},
	{"unit_max_ns", "max %t", .kind = FG_CELL_VALUE, .only_data = true, .unit_like = 6},
	{"library", "library", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"name", "name", .kind = FG_CELL_TEXT, .left = true},
};

enum {
	COLUMN_PATHS = 2,
	COLUMN_LARGEST = 3,
	COLUMN_UNITS = 4,
	COLUMN_NAME = 9
};

/* The figures of one row over the units of work. */
struct spread {
	double sum;
	double square;
	double most;
	size_t units; /* units in which the row has time */
};

static void spread_add(struct spread *spread, double value)
{
	spread->sum += value;
	spread->square += value * value;
	spread->units++;
	if (value > spread->most)
		spread->most = value;
}

static void add_spread(struct fg_view_row *row, const struct spread *spread, size_t all_units)
{
	const double count = (double)all_units;
	const double mean = spread->sum / count;

	if (all_units == 0)
		return;
	row->cells[COLUMN_UNITS] = fg_cell_count((double)spread->units);
	row->cells[COLUMN_UNITS + 1] = fg_cell_value(mean);
	if (all_units > 1)
		row->cells[COLUMN_UNITS + 2] = fg_cell_value(
			sqrt(fmax(0, spread->square - count * mean * mean) / (count - 1)));
	row->cells[COLUMN_UNITS + 3] = fg_cell_value(spread->most);
}

/*
 * Finds the unit of each node in a tree split by units: the ancestor at depth 2; NO_UNIT for a node
 * outside any unit.
 */
static uint32_t *units_of_nodes(const struct fg_calltree *split, size_t *unit_count)
{
	uint32_t *unit = fg_xcalloc(split->node_count, sizeof(*unit));

	*unit_count = 0;
	for (uint32_t i = 1; i < split->node_count; i++) {
		const struct fg_calltree_node *node = &split->nodes[i];

		if (node->depth == 2 && (split->labels[node->label].flags & FG_FRAME_MARK) != 0) {
			unit[i] = i;
			(*unit_count)++;
		} else {
			unit[i] = unit[node->parent];
		}
	}
	return unit;
}

static int build_split(const struct fg_profile *profile, const struct fg_calltree_query *wanted,
		       struct fg_calltree *split, struct fg_error *err)
{
	struct fg_calltree_query query = *wanted;

	query.split = FG_SPLIT_UNIT;
	query.only_units = true;
	return fg_calltree_build(profile, &query, split, err);
}

struct label_sum {
	uint32_t label;
	double value;
};

/* Sums up the inclusive time of each function over the units. */
static void spread_labels(const struct fg_calltree *split, const uint32_t *unit,
			  const uint32_t *map, struct spread *spreads)
{
	struct fg_pair_index pairs = {0};
	struct label_sum *sums = NULL;
	size_t count = 0;
	size_t capacity = 0;

	for (uint32_t i = 1; i < split->node_count; i++) {
		const struct fg_calltree_node *node = &split->nodes[i];
		bool is_new = false;
		uint32_t at = 0;

		if (unit[i] == NO_UNIT || unit[i] == i || node->recursive)
			continue;
		at = *fg_pair_index_add(&pairs, unit[i], node->label, (uint32_t)count, &is_new);
		sums = fg_grow(sums, &capacity, count + 1, sizeof(*sums));
		if (is_new)
			sums[count++] = (struct label_sum){.label = map[node->label]};
		sums[at].value += split->inclusive[0][i].value;
	}
	for (size_t i = 0; i < count; i++)
		spread_add(&spreads[sums[i].label], sums[i].value);
	fg_pair_index_release(&pairs);
	free(sums);
}

struct callers {
	size_t paths;   /* different paths to an outermost occurrence */
	double largest; /* inclusive time of the largest path */
};

static struct callers *count_callers(const struct fg_calltree *tree)
{
	struct callers *callers = fg_xcalloc(tree->label_count, sizeof(*callers));

	for (uint32_t i = 1; i < tree->node_count; i++) {
		struct callers *own = &callers[tree->nodes[i].label];

		if (tree->nodes[i].recursive)
			continue;
		own->paths++;
		own->largest = fmax(own->largest, tree->inclusive[0][i].value);
	}
	return callers;
}

static void list_functions(struct fg_view_table *table, const struct fg_calltree *tree,
			   const struct spread *spreads, size_t units,
			   const struct fg_view_options *options)
{
	const struct fg_weight *total = &tree->inclusive[0][0];
	struct callers *callers = count_callers(tree);
	struct fg_label_figures *figures = NULL;
	const size_t count = fg_calltree_flat(tree, &figures);
	const size_t limit = fg_view_limit(options, FEW_ROWS);

	fg_view_sort_by_inclusive(figures, count);
	for (size_t i = 0; i < count && table->row_count < limit; i++) {
		const uint32_t label = figures[i].label;
		const double value = figures[i].inclusive[0].value;
		struct fg_view_row *row = NULL;

		if (!options->all && value < options->floor * total->value)
			break;
		row = fg_view_add_row(table);
		row->cells[0] = fg_cell_weight_share(&figures[i].inclusive[0], total);
		row->cells[1] = fg_cell_weight(&figures[i].inclusive[0], total);
		row->cells[COLUMN_PATHS] = fg_cell_count((double)callers[label].paths);
		row->cells[COLUMN_LARGEST] =
			fg_cell_share(value > 0 ? callers[label].largest / value : 0);
		add_spread(row, &spreads[label], units);
		row->cells[COLUMN_NAME - 1] = fg_cell_library(table, &tree->labels[label]);
		row->cells[COLUMN_NAME] = fg_cell_text(table, tree->labels[label].name);
	}
	if (count > table->row_count)
		fg_view_note(table, "%zu more function%s (--rows N, --all)",
			     count - table->row_count, count - table->row_count == 1 ? "" : "s");
	fg_view_note(table, "--function PATTERN shows the paths to one function");
	free(figures);
	free(callers);
}

/* Returns "main → loop → fit". */
static const char *path_text(struct fg_view_table *table, const struct fg_calltree *tree,
			     uint32_t node)
{
	struct fg_strbuf text = {0};
	uint32_t *path = NULL;
	size_t capacity = 0;
	size_t depth = 0;

	for (uint32_t at = node; at != 0; at = tree->nodes[at].parent) {
		FG_APPEND(path, depth, capacity) = tree->nodes[at].label;
	}
	while (depth-- > 0) {
		fg_strbuf_add_text(&text, tree->labels[path[depth]].name);
		if (depth > 0)
			fg_strbuf_add_text(&text, " → ");
	}
	free(path);
	return fg_strbuf_keep(&text, &table->arena);
}

/* Finds the matching nodes without a match above them: each is one path to the function. */
static bool *find_paths(const struct fg_calltree *tree, const struct fg_pattern *pattern)
{
	bool *matches = fg_xcalloc(tree->label_count, sizeof(bool));
	bool *inside = fg_xcalloc(tree->node_count, sizeof(bool)); /* nodes at or below a match */
	bool *is_path = fg_xcalloc(tree->node_count, sizeof(bool));

	for (size_t i = 1; i < tree->label_count; i++)
		matches[i] = fg_view_matches(pattern, &tree->labels[i]);
	for (uint32_t i = 1; i < tree->node_count; i++) {
		const bool above = inside[tree->nodes[i].parent];

		is_path[i] = !above && matches[tree->nodes[i].label];
		inside[i] = above || is_path[i];
	}
	free(matches);
	free(inside);
	return is_path;
}

/*
 * Sums up the time of each path over the units. Looks up the nodes of the split tree in `tree` by
 * their labels.
 */
static void spread_nodes(const struct fg_calltree *tree, const struct fg_calltree *split,
			 const uint32_t *unit, const uint32_t *map, struct spread *spreads)
{
	uint32_t *same = fg_xcalloc(split->node_count, sizeof(*same));

	for (uint32_t i = 1; i < split->node_count; i++) {
		const struct fg_calltree_node *node = &split->nodes[i];
		const uint32_t *found = NULL;

		if (unit[i] == NO_UNIT || unit[i] == i)
			continue;
		found = fg_pair_index_get(&tree->node_index, same[node->parent], map[node->label]);
		if (!found)
			continue;
		same[i] = *found;
		spread_add(&spreads[same[i]], split->inclusive[0][i].value);
	}
	free(same);
}

static void list_paths(struct fg_view_table *table, const struct fg_calltree *tree,
		       const bool *is_path, const struct spread *spreads, size_t units,
		       const struct fg_view_options *options)
{
	const struct fg_weight *total = &tree->inclusive[0][0];
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	struct fg_view_ranked *paths = fg_xcalloc(tree->node_count, sizeof(*paths));
	size_t count = 0;

	for (uint32_t i = 1; i < tree->node_count; i++) {
		if (is_path[i] && tree->inclusive[0][i].value > 0)
			paths[count++] = (struct fg_view_ranked){i, tree->inclusive[0][i].value};
	}
	fg_view_rank(paths, count);
	for (size_t i = 0; i < count && i < limit; i++) {
		struct fg_view_row *row = fg_view_add_row(table);
		const uint32_t node = paths[i].index;

		row->cells[0] = fg_cell_weight_share(&tree->inclusive[0][node], total);
		row->cells[1] = fg_cell_weight(&tree->inclusive[0][node], total);
		add_spread(row, &spreads[node], units);
		row->cells[COLUMN_NAME - 1] =
			fg_cell_library(table, &tree->labels[tree->nodes[node].label]);
		row->cells[COLUMN_NAME] = (struct fg_view_cell){
			.kind = FG_CELL_TEXT, .text = path_text(table, tree, node)};
	}
	if (count > limit)
		fg_view_note(table, "%zu more path%s (--rows N, --all)", count - limit,
			     count - limit == 1 ? "" : "s");
	free(paths);
}

static int fill(struct fg_view_table *table, const struct fg_profile *profile,
		const struct fg_view_options *options, struct fg_calltree *tree,
		const bool *is_path, struct fg_error *err)
{
	struct spread *spreads = NULL;
	struct fg_calltree split;
	uint32_t *unit = NULL;
	uint32_t *map = NULL;
	size_t units = 0;

	FG_TRY(build_split(profile, &options->query, &split, err));
	unit = units_of_nodes(&split, &units);
	map = fg_calltree_map_labels(tree, &split);
	spreads = fg_xcalloc(tree->node_count + tree->label_count, sizeof(*spreads));
	if (is_path) {
		spread_nodes(tree, &split, unit, map, spreads);
		list_paths(table, tree, is_path, spreads, units, options);
	} else {
		spread_labels(&split, unit, map, spreads);
		list_functions(table, tree, spreads, units, options);
	}
	free(spreads);
	free(map);
	free(unit);
	fg_calltree_release(&split);
	return FG_OK;
}

static void set_columns(struct fg_view_table *table, bool has_paths, bool has_units)
{
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	table->columns[COLUMN_PATHS].only_data = has_paths;
	table->columns[COLUMN_LARGEST].only_data = has_paths;
	for (size_t i = COLUMN_UNITS; i < COLUMN_UNITS + 3; i++)
		table->columns[i].only_data = !has_units;
}

static int make(const struct fg_profile *profile, const struct fg_view_options *options,
		const struct fg_pattern *pattern, struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree_query query = options->query;
	struct fg_calltree tree;
	bool *is_path = NULL;
	int status = FG_OK;

	query.split = FG_SPLIT_NONE;
	FG_TRY(fg_calltree_build(profile, &query, &tree, err));
	set_columns(table, pattern->set, profile->unit_count > 1);
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	if (pattern->set)
		is_path = find_paths(&tree, pattern);
	status = fill(table, profile, options, &tree, is_path, err);
	if (status == FG_OK && pattern->set && table->row_count == 0)
		status = fg_error_set(err, FG_ENOENT,
				      "no time was seen in a function that matches '%s'",
				      options->function);
	free(is_path);
	fg_calltree_release(&tree);
	return status;
}

int fg_view_paths(const struct fg_profile *profile, const struct fg_view_options *options,
		  struct fg_view_table *table, struct fg_error *err)
{
	struct fg_pattern pattern = {0};
	int status = FG_OK;

	if (options->function)
		status = fg_pattern_compile(options->function, &pattern, err);
	if (status == FG_OK)
		status = make(profile, options, &pattern, table, err);
	fg_pattern_release(&pattern);
	return status;
}
