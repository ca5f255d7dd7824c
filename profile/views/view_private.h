/* SPDX-License-Identifier: Apache-2.0 */
/* Functions shared by the views to build rows. */
#ifndef FG_VIEWS_VIEW_PRIVATE_H
#define FG_VIEWS_VIEW_PRIVATE_H

#include "base/pattern.h"
#include "profile/views/view.h"

typedef int fg_view_maker(const struct fg_profile *profile, const struct fg_view_options *options,
			  struct fg_view_table *table, struct fg_error *err);

fg_view_maker fg_view_flat;
fg_view_maker fg_view_callgraph;
fg_view_maker fg_view_top_down;
fg_view_maker fg_view_bottom_up;
fg_view_maker fg_view_threads;
fg_view_maker fg_view_regions;
fg_view_maker fg_view_units;
fg_view_maker fg_view_timeline;
fg_view_maker fg_view_paths;
fg_view_maker fg_view_domains;
fg_view_maker fg_view_times;
fg_view_maker fg_view_memory;
fg_view_maker fg_view_leaks;
fg_view_maker fg_view_growth;
fg_view_maker fg_view_resident;
fg_view_maker fg_view_instructions;

/* Sets the columns, with keys and titles that fit the table's measure. */
void fg_view_columns(struct fg_view_table *table, const struct fg_view_column *columns,
		     size_t count);
/* Leaves out a column that this profile has no figures for. */
void fg_view_drop_column(struct fg_view_table *table, size_t column);
/* Adds a row of empty cells. The row is valid until another row is added; its cells stay valid. */
struct fg_view_row *fg_view_add_row(struct fg_view_table *table);
/* Returns the name of the whole that shares refer to: "the time", or the measure's label. */
const char *fg_view_whole(const struct fg_view_table *table);
/* Returns the total of the table's measure over all samples, before the query. */
double fg_view_whole_total(const struct fg_view_table *table, const struct fg_profile *profile);
/* FG_EUNSUPPORTED unless the table's measure is a time. */
int fg_view_check_time(const struct fg_view_table *table, struct fg_error *err);
/*
 * fg_view_head() adds a line above the table, fg_view_note() adds a line below the table, and
 * fg_view_profile_note() adds a line to the profile's own notes.
 */
void fg_view_head(struct fg_view_table *table, const char *format, ...) FG_PRINTF(2, 3);
void fg_view_note(struct fg_view_table *table, const char *format, ...) FG_PRINTF(2, 3);
void fg_view_profile_note(struct fg_view_table *table, const char *format, ...) FG_PRINTF(2, 3);

struct fg_view_cell fg_cell_text(struct fg_view_table *table, const char *text); /* copied */
struct fg_view_cell fg_cell_count(double count);
struct fg_view_cell fg_cell_time(double ns);
struct fg_view_cell fg_cell_value(double value); /* in the table's measure */
struct fg_view_cell fg_cell_share(double share);
/* Returns a figure with its standard error, for a known total. */
struct fg_view_cell fg_cell_weight(const struct fg_weight *part, const struct fg_weight *total);
struct fg_view_cell fg_cell_weight_share(const struct fg_weight *part,
					 const struct fg_weight *total);
/* Returns the library, unless it equals the name. */
struct fg_view_cell fg_cell_library(struct fg_view_table *table, const struct fg_label *label);
/* Makes the cell of a definition or a line, such as "file.cpp:88". */
struct fg_view_cell fg_cell_place(struct fg_view_table *table, const char *file, unsigned line);

/*
 * Adds the lines above the table: the title, and "12.4 s of CPU time in 12 345 samples" with the
 * part that the query keeps.
 */
void fg_view_total(struct fg_view_table *table, const struct fg_profile *profile,
		   const struct fg_calltree_query *query, const struct fg_weight *total);
/*
 * Like fg_view_total(), for a view without a tree: computes the total of everything that the query
 * keeps.
 */
int fg_view_total_of(struct fg_view_table *table, const struct fg_profile *profile,
		     const struct fg_calltree_query *query, double *total, struct fg_error *err)
	FG_NODISCARD;
/*
 * Returns the factor for region and unit times of a stored run, which are sums over all
 * repetitions.
 */
double fg_view_stored_scale(const struct fg_profile *profile,
			    const struct fg_calltree_query *query);
/* Sorts by inclusive value, largest first; ties by label. */
void fg_view_sort_by_inclusive(struct fg_label_figures *figures, size_t count);
/* An index with its value, for sorting: largest value first, ties by index. */
struct fg_view_ranked {
	uint32_t index;
	double value;
};
void fg_view_rank(struct fg_view_ranked *ranked, size_t count);
/* Matches "name [library]". */
bool fg_view_matches(const struct fg_pattern *pattern, const struct fg_label *label);
/*
 * Adds a faint row for each function of a call path, outermost first, with its name in the last
 * column.
 */
void fg_view_add_frames(struct fg_view_table *table, const struct fg_profile *profile,
			uint32_t stack);
/* Adds a row of a histogram: `count` in `column`, the range and a bar in the last column. */
void fg_view_add_bar(struct fg_view_table *table, unsigned column, const char *range, double count,
		     double most);
/* Returns the number of rows to show. */
size_t fg_view_limit(const struct fg_view_options *options, size_t otherwise);

#endif
