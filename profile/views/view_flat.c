// SPDX-License-Identifier: Apache-2.0
/*
 * Lists: functions, lines, libraries, classes, namespaces, files. `cumulative` is the running sum
 * of self, as gprof and q-view print it; `inclusive` includes everything called from the row's
 * function; as in FAST, `leaf` counts the samples that ended in the function, and `samples` counts
 * all samples that passed through it; `paths` is the number of different call paths that end in it.
 * If calls were counted, there are also `calls` and the time per call, self and inclusive.
 */
#include "profile/views/calls.h"
#include "profile/views/view_private.h"

#include <math.h>

enum {
	FEW_ROWS = 30
};

static const struct fg_view_column columns[] = {
	{"self_share", "self %", .kind = FG_CELL_SHARE, .has_error = true},
	{"self_ns", "self %t", .kind = FG_CELL_VALUE, .has_error = true},
	{"cumulative_share", "cumul %", .kind = FG_CELL_SHARE},
	{"inclusive_share", "incl %", .kind = FG_CELL_SHARE, .has_error = true, .optional = 1},
	{"inclusive_ns", "incl %t", .kind = FG_CELL_VALUE, .has_error = true, .unit_like = 2},
	{"calls", "calls", .kind = FG_CELL_COUNT},
	{"self_per_call_ns", "self/call", .kind = FG_CELL_VALUE},
	{"total_per_call_ns", "total/call", .kind = FG_CELL_VALUE},
	{"leaf_samples", "leaf", .kind = FG_CELL_COUNT},
	{"samples", "samples", .kind = FG_CELL_COUNT},
	{"paths", "paths", .kind = FG_CELL_COUNT, .only_data = true},
	{"library", "library", .kind = FG_CELL_TEXT, .left = true, .optional = 2},
	{"place", "place", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"linkage_name", "linkage name", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"name", "name", .kind = FG_CELL_TEXT, .left = true},
};

enum {
	COLUMN_CALLS = 5, /* the first of three columns about calls */
	COLUMN_LIBRARY = 11
};

/* Returns a cell with its own unit, because the column ranges from nanoseconds to minutes. */
static struct fg_view_cell per_call(struct fg_view_table *table, double value)
{
	struct fg_view_cell cell = fg_cell_value(value);
	char text[FG_NUMBER_TEXT_SIZE];

	cell.text =
		fg_arena_strdup(&table->arena, fg_format_value(value, table->measure.unit, text));
	return cell;
}

static void add_row(struct fg_view_table *table, const struct fg_calltree *tree,
		    const struct fg_label_figures *figures, double cumulative_ns,
		    const struct fg_view_calls *calls)
{
	const struct fg_weight *total = &tree->inclusive[0][0];
	const struct fg_label *label = &tree->labels[figures->label];
	const double count = fg_view_calls_of(calls, figures->label);
	struct fg_view_cell *cell = fg_view_add_row(table)->cells;

	*cell++ = fg_cell_weight_share(&figures->self[0], total);
	*cell++ = fg_cell_weight(&figures->self[0], total);
	*cell++ = fg_cell_share(total->value > 0 ? cumulative_ns / total->value : 0);
	*cell++ = fg_cell_weight_share(&figures->inclusive[0], total);
	*cell++ = fg_cell_weight(&figures->inclusive[0], total);
	if (count > 0) {
		cell[0] = fg_cell_count(count);
		cell[1] = per_call(table, figures->self[0].value / count);
		cell[2] = per_call(table, figures->inclusive[0].value / count);
	}
	cell += 3;
	*cell++ = fg_cell_count((double)figures->self[0].samples);
	*cell++ = fg_cell_count((double)figures->inclusive[0].samples);
	*cell++ = fg_cell_count(figures->leaf_paths);
	*cell++ = fg_cell_library(table, label);
	*cell++ = fg_cell_place(table, label->file, label->line);
	*cell++ = fg_cell_text(table, label->linkage);
	*cell = fg_cell_text(table, label->name);
}

static void note_rest(struct fg_view_table *table, size_t left_out, double left_ns,
		      const struct fg_weight *total)
{
	if (left_out > 0)
		fg_view_note(table, "%zu more with %.1f %% of %s (--all shows all)", left_out,
			     total->value > 0 ? 100 * left_ns / total->value : 0,
			     fg_view_whole(table));
}

static void fill(struct fg_view_table *table, const struct fg_calltree *tree,
		 const struct fg_view_options *options, const struct fg_view_calls *calls)
{
	const struct fg_weight *total = &tree->inclusive[0][0];
	struct fg_label_figures *figures = NULL;
	const size_t count = fg_calltree_flat(tree, &figures);
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	size_t left_out = 0;
	double left_ns = 0;
	double cumulative = 0;

	if (options->by_inclusive)
		fg_view_sort_by_inclusive(figures, count);
	for (size_t i = 0; i < count; i++) {
		const double value = options->by_inclusive ? figures[i].inclusive[0].value
							   : figures[i].self[0].value;

		if (table->row_count >= limit ||
		    (!options->all && value < options->floor * total->value) ||
		    (!options->all && !(value > 0))) {
			left_out++;
			left_ns += figures[i].self[0].value;
			continue;
		}
		cumulative += figures[i].self[0].value;
		add_row(table, tree, &figures[i], cumulative, calls);
	}
	note_rest(table, left_out, left_ns, total);
	free(figures);
}

static bool has_lines(const struct fg_profile *profile)
{
	for (size_t i = 1; i < profile->frame_count; i++) {
		if (profile->frames[i].file)
			return true;
	}
	return false;
}

int fg_view_flat(const struct fg_profile *profile, const struct fg_view_options *options,
		 struct fg_view_table *table, struct fg_error *err)
{
	const enum fg_group group = options->query.group;
	struct fg_calltree_query query = options->query;
	struct fg_view_calls calls = {0};
	struct fg_calltree tree;
	int status = FG_OK;

	query.split = FG_SPLIT_NONE;
	FG_TRY(fg_calltree_build(profile, &query, &tree, err));
	FG_TRY_OUT(fg_view_calls_init(&calls, &tree, profile, &query, err));
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	for (size_t i = 0; i < 3 && !calls.known; i++)
		fg_view_drop_column(table, COLUMN_CALLS + i);
	if (group == FG_GROUP_LIBRARY || group == FG_GROUP_FILE)
		table->columns[COLUMN_LIBRARY].only_data = true;
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	fill(table, &tree, options, &calls);
	if (group == FG_GROUP_LINE && !has_lines(profile))
		fg_view_note(table,
			     "this profile does not record which lines were executed, so functions "
			     "are shown (" FG_VIEW_NEEDS_SAMPLES ")");
out:
	fg_view_calls_release(&calls);
	fg_calltree_release(&tree);
	return status;
}
