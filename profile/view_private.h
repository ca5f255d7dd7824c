/* SPDX-License-Identifier: Apache-2.0 */
/* What the views share: building rows. */
#ifndef FG_PROFILE_VIEW_PRIVATE_H
#define FG_PROFILE_VIEW_PRIVATE_H

#include "base/pattern.h"
#include "profile/view.h"

typedef int fg__view_make(const struct fg_profile *profile, const struct fg_view_options *options,
			  struct fg_view_table *table, struct fg_error *err);

fg__view_make fg__view_flat;
fg__view_make fg__view_callgraph;
fg__view_make fg__view_top_down;
fg__view_make fg__view_bottom_up;
fg__view_make fg__view_lines;
fg__view_make fg__view_libraries;
fg__view_make fg__view_classes;
fg__view_make fg__view_namespaces;
fg__view_make fg__view_files;
fg__view_make fg__view_threads;
fg__view_make fg__view_regions;
fg__view_make fg__view_units;
fg__view_make fg__view_timeline;
fg__view_make fg__view_paths;

void fg__view_columns(struct fg_view_table *table, const struct fg_view_column *columns,
		      size_t count);
/* A row of empty cells, valid until the next one is added; its cells stay where they are. */
struct fg_view_row *fg__view_row(struct fg_view_table *table);
void fg__view_head(struct fg_view_table *table, const char *format, ...) FG_PRINTF(2, 3);
void fg__view_note(struct fg_view_table *table, const char *format, ...) FG_PRINTF(2, 3);

struct fg_view_cell fg__cell_text(struct fg_view_table *table, const char *text); /* copied */
struct fg_view_cell fg__cell_count(double count);
struct fg_view_cell fg__cell_time(double ns);
struct fg_view_cell fg__cell_share(double share);
/* A figure with its standard error, the total being known. */
struct fg_view_cell fg__cell_weight(const struct fg_weight *part, const struct fg_weight *total);
struct fg_view_cell fg__cell_weight_share(const struct fg_weight *part,
					  const struct fg_weight *total);
/* The library, unless it is the name itself. */
struct fg_view_cell fg__cell_library(struct fg_view_table *table, const struct fg_label *label);
/* "file.cpp:88" of a definition or a line. */
struct fg_view_cell fg__cell_place(struct fg_view_table *table, const struct fg_label *label);

/* "12.4 s of CPU time, 12 345 samples": the line above every view; says what the query kept of the whole. */
void fg__view_total(struct fg_view_table *table, const struct fg_profile *profile,
		    const struct fg_calltree_query *query, const struct fg_weight *total);
/* Largest first; the order of labels where they are equal. */
void fg__view_sort_by_inclusive(struct fg_label_figures *figures, size_t count);
/* Does the pattern match "name [library]", as everywhere? */
bool fg__view_matches(const struct fg_pattern *pattern, const struct fg_label *label);
/* How many rows to show. */
size_t fg__view_limit(const struct fg_view_options *options, size_t otherwise);

#endif
