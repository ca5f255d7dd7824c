// SPDX-License-Identifier: Apache-2.0
/*
 * Lists: functions, lines, libraries, classes, namespaces, files.  `cumulative` is the running sum
 * of self, as gprof and q-view print it; `inclusive` is the time with everything called from there;
 * `leaf` counts the samples that ended there and `samples` those that passed through, as FAST
 * counted them; `paths` is the number of different call paths to it.
 */
#include "views/view_private.h"

#include <math.h>

enum {
	FEW_ROWS = 30
};

static const struct fg_view_column columns[] = {
	{"self_share", "self %", FG_CELL_SHARE, true, false, false, 0, 0},
	{"self_ns", "self %t", FG_CELL_TIME, true, false, false, 0, 0},
	{"cumulative_share", "cumul %", FG_CELL_SHARE, false, false, false, 0, 0},
	{"inclusive_share", "incl %", FG_CELL_SHARE, true, false, false, 1, 0},
	{"inclusive_ns", "incl %t", FG_CELL_TIME, true, false, false, 0, 2},
	{"leaf_samples", "leaf", FG_CELL_COUNT, false, false, false, 0, 0},
	{"samples", "samples", FG_CELL_COUNT, false, false, false, 0, 0},
	{"paths", "paths", FG_CELL_COUNT, false, false, true, 0, 0},
	{"library", "library", FG_CELL_TEXT, false, true, false, 2, 0},
	{"place", "place", FG_CELL_TEXT, false, true, true, 0, 0},
	{"linkage_name", "linkage name", FG_CELL_TEXT, false, true, true, 0, 0},
	{"name", "name", FG_CELL_TEXT, false, true, false, 0, 0},
};

enum {
	COLUMN_LIBRARY = 8
};

static void add_row(struct fg_view_table *table, const struct fg_calltree *tree,
		    const struct fg_label_figures *figures, double cumulative_ns)
{
	const struct fg_weight *total = &tree->inclusive[0][0];
	const struct fg_label *label = &tree->labels[figures->label];
	struct fg_view_cell *cell = fg_view_add_row(table)->cells;

	*cell++ = fg_cell_weight_share(&figures->self[0], total);
	*cell++ = fg_cell_weight(&figures->self[0], total);
	*cell++ = fg_cell_share(total->ns > 0 ? cumulative_ns / total->ns : 0);
	*cell++ = fg_cell_weight_share(&figures->inclusive[0], total);
	*cell++ = fg_cell_weight(&figures->inclusive[0], total);
	*cell++ = fg_cell_count((double)figures->self[0].samples);
	*cell++ = fg_cell_count((double)figures->inclusive[0].samples);
	*cell++ = fg_cell_count(figures->leaf_paths);
	*cell++ = fg_cell_library(table, label);
	*cell++ = fg_cell_place(table, label);
	*cell++ = fg_cell_text(table, label->linkage);
	*cell = fg_cell_text(table, label->name);
}

static void note_rest(struct fg_view_table *table, size_t left_out, double left_ns,
		      const struct fg_weight *total)
{
	if (left_out > 0)
		fg_view_note(table, "%zu more with %.1f %% of the time in them (--all shows them)",
			     left_out, total->ns > 0 ? 100 * left_ns / total->ns : 0);
}

static void fill(struct fg_view_table *table, const struct fg_calltree *tree,
		 const struct fg_view_options *options)
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
		const double ns =
			options->by_inclusive ? figures[i].inclusive[0].ns : figures[i].self[0].ns;

		if (table->row_count >= limit ||
		    (!options->all && ns < options->floor * total->ns) ||
		    (!options->all && !(ns > 0))) {
			left_out++;
			left_ns += figures[i].self[0].ns;
			continue;
		}
		cumulative += figures[i].self[0].ns;
		add_row(table, tree, &figures[i], cumulative);
	}
	note_rest(table, left_out, left_ns, total);
	free(figures);
}

static int make(const struct fg_profile *profile, const struct fg_view_options *options,
		enum fg_group group, struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree_query query = options->query;
	struct fg_calltree tree;
	int rc = FG_OK;

	query.group = group;
	query.split = FG_SPLIT_NONE;
	rc = fg_calltree_build(profile, &query, &tree, err);
	if (rc != FG_OK)
		return rc;
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	table->columns[COLUMN_LIBRARY].only_data =
		group == FG_GROUP_LIBRARY || group == FG_GROUP_FILE;
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	fill(table, &tree, options);
	fg_calltree_release(&tree);
	return FG_OK;
}

/* Grouped as the query says; the others are the same list by a group of their own. */
int fg_view_flat(const struct fg_profile *profile, const struct fg_view_options *options,
		 struct fg_view_table *table, struct fg_error *err)
{
	return make(profile, options, options->query.group, table, err);
}

static bool knows_lines(const struct fg_profile *profile)
{
	for (size_t i = 1; i < profile->frame_count; i++) {
		if (profile->frames[i].file)
			return true;
	}
	return false;
}

int fg_view_lines(const struct fg_profile *profile, const struct fg_view_options *options,
		  struct fg_view_table *table, struct fg_error *err)
{
	const int rc = make(profile, options, FG_GROUP_LINE, table, err);

	if (rc == FG_OK && !knows_lines(profile))
		fg_view_note(table, "this profile does not know which lines were executed: "
				    "functions are shown (" FG_VIEW_NEEDS_SAMPLES ")");
	return rc;
}

int fg_view_libraries(const struct fg_profile *profile, const struct fg_view_options *options,
		      struct fg_view_table *table, struct fg_error *err)
{
	return make(profile, options, FG_GROUP_LIBRARY, table, err);
}

int fg_view_classes(const struct fg_profile *profile, const struct fg_view_options *options,
		    struct fg_view_table *table, struct fg_error *err)
{
	return make(profile, options, FG_GROUP_CLASS, table, err);
}

int fg_view_namespaces(const struct fg_profile *profile, const struct fg_view_options *options,
		       struct fg_view_table *table, struct fg_error *err)
{
	return make(profile, options, FG_GROUP_NAMESPACE, table, err);
}

int fg_view_files(const struct fg_profile *profile, const struct fg_view_options *options,
		  struct fg_view_table *table, struct fg_error *err)
{
	return make(profile, options, FG_GROUP_FILE, table, err);
}
