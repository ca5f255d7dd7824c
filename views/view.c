// SPDX-License-Identifier: Apache-2.0
#include "views/view.h"

#include "base/number.h"
#include "base/text.h"
#include "profile/selection.h"
#include "views/view_private.h"

#include <math.h>

#define VIEW(called, does, by, needs)                                             \
 {                                                                                \
  .name = (called), .description = (does), .make = (by), .needs_samples = (needs) \
 }

const struct fg_view fg_views[] = {
	VIEW("flat", "functions by the time spent in them", fg_view_flat, false),
	VIEW("callgraph", "each function between its callers and its callees, as gprof shows it",
	     fg_view_callgraph, false),
	VIEW("top-down", "the call tree from the start of the program down", fg_view_top_down,
	     false),
	VIEW("bottom-up", "where time is spent, and who called that", fg_view_bottom_up, false),
	VIEW("lines", "source lines", fg_view_lines, true),
	VIEW("libraries", "shared libraries and the program itself", fg_view_libraries, false),
	VIEW("classes", "classes, free functions by namespace", fg_view_classes, false),
	VIEW("namespaces", "outermost namespaces", fg_view_namespaces, false),
	VIEW("files", "source files", fg_view_files, false),
	VIEW("threads", "threads, with the time that the kernel counted", fg_view_threads, true),
	VIEW("regions", "marked regions by branch, with their functions", fg_view_regions, true),
	VIEW("units", "units of work: the slowest ones and statistics", fg_view_units, true),
	VIEW("timeline", "how busy the program was over time, and with what", fg_view_timeline,
	     true),
	VIEW("paths", "on which paths, and in which units of work, a function costs", fg_view_paths,
	     true),
	{.name = NULL},
};

#undef VIEW

const struct fg_view *fg_view_find(const char *name)
{
	for (const struct fg_view *view = fg_views; view->name; view++) {
		if (strcmp(view->name, name) == 0)
			return view;
	}
	return NULL;
}

int fg_view_make(const struct fg_view *view, const struct fg_profile *profile,
		 const struct fg_view_options *options, struct fg_view_table *table,
		 struct fg_error *err)
{
	struct fg_view_table made = {.name = view->name};
	const int rc = view->make(profile, options, &made, err);

	if (rc != FG_OK) {
		fg_view_table_release(&made);
		return rc;
	}
	if (profile->lost_ns > 0 && profile->total_ns > 0)
		fg_view_note(&made, "%.2g %% of the time could not be sampled",
			     100 * profile->lost_ns / (profile->lost_ns + profile->total_ns));
	if (profile->truncated_ns > 0 && profile->total_ns > 0)
		fg_view_note(&made, "%.2g %% of the time has a stack that does not reach its start",
			     100 * profile->truncated_ns / profile->total_ns);
	*table = made;
	return FG_OK;
}

void fg_view_table_release(struct fg_view_table *table)
{
	fg_arena_release(&table->arena);
	free(table->head);
	free(table->rows);
	free(table->notes);
	*table = (struct fg_view_table){0};
}

void fg_view_columns(struct fg_view_table *table, const struct fg_view_column *columns,
		     size_t count)
{
	FG_ASSERT(count <= FG_VIEW_MAX_COLUMNS);
	memcpy(table->columns, columns, count * sizeof(*columns));
	table->column_count = count;
}

struct fg_view_row *fg_view_add_row(struct fg_view_table *table)
{
	struct fg_view_row *row = NULL;

	table->rows = fg_grow(table->rows, &table->row_capacity, table->row_count + 1,
			      sizeof(*table->rows));
	row = &table->rows[table->row_count++];
	*row = (struct fg_view_row){
		.cells = fg_arena_array(&table->arena, table->column_count, sizeof(*row->cells))};
	return row;
}

FG_PRINTF(5, 0)
static void add_line(struct fg_arena *arena, const char ***lines, size_t *count, size_t *capacity,
		     const char *format, va_list ap)
{
	struct fg_strbuf text = {0};

	fg_strbuf_vprintf(&text, format, ap);
	*lines = fg_grow(*lines, capacity, *count + 1, sizeof(**lines));
	(*lines)[(*count)++] = fg_arena_strdup(arena, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
}

void fg_view_head(struct fg_view_table *table, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_line(&table->arena, &table->head, &table->head_count, &table->head_capacity, format,
		 ap);
	va_end(ap);
}

void fg_view_note(struct fg_view_table *table, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_line(&table->arena, &table->notes, &table->note_count, &table->note_capacity, format,
		 ap);
	va_end(ap);
}

struct fg_view_cell fg_cell_text(struct fg_view_table *table, const char *text)
{
	if (!text || !*text)
		return (struct fg_view_cell){0};
	return (struct fg_view_cell){.kind = FG_CELL_TEXT,
				     .text = fg_arena_strdup(&table->arena, text)};
}

struct fg_view_cell fg_cell_count(double count)
{
	return (struct fg_view_cell){.kind = FG_CELL_COUNT, .number = count};
}

struct fg_view_cell fg_cell_time(double ns)
{
	return (struct fg_view_cell){.kind = FG_CELL_TIME, .number = ns};
}

struct fg_view_cell fg_cell_share(double share)
{
	return (struct fg_view_cell){.kind = FG_CELL_SHARE, .number = share};
}

struct fg_view_cell fg_cell_weight(const struct fg_weight *part, const struct fg_weight *total)
{
	struct fg_view_cell cell = fg_cell_time(part->ns);

	cell.error = fg_weight_error(part, total);
	return cell;
}

struct fg_view_cell fg_cell_weight_share(const struct fg_weight *part,
					 const struct fg_weight *total)
{
	struct fg_view_cell cell = fg_cell_share(total->ns > 0 ? part->ns / total->ns : 0);

	if (total->ns > 0)
		cell.error = fg_weight_error(part, total) / total->ns;
	return cell;
}

struct fg_view_cell fg_cell_library(struct fg_view_table *table, const struct fg_label *label)
{
	if (!label->library || strcmp(label->library, label->name) == 0)
		return (struct fg_view_cell){0};
	return fg_cell_text(table, label->library);
}

struct fg_view_cell fg_cell_place(struct fg_view_table *table, const struct fg_label *label)
{
	if (!label->file)
		return (struct fg_view_cell){0};
	if (label->line == 0)
		return fg_cell_text(table, label->file);
	return (struct fg_view_cell){
		.kind = FG_CELL_TEXT,
		.text = fg_arena_printf(&table->arena, "%s:%u", label->file, label->line)};
}

static const char *clock_name(const struct fg_profile *profile)
{
	if (profile->sample_count > 0 && profile->samples[0].kind == FG_TIME_WALL)
		return "wall-clock time";
	return "CPU time";
}

void fg_view_total(struct fg_view_table *table, const struct fg_profile *profile,
		   const struct fg_calltree_query *query, const struct fg_weight *total)
{
	const double parts = query->per_repetition ? profile->repetition_count : 1;
	const double whole_ns = profile->total_ns / parts;
	struct fg_strbuf line = {0};
	char whole[FG_NUMBER_TEXT_SIZE];
	char kept[FG_NUMBER_TEXT_SIZE];
	char samples[FG_NUMBER_TEXT_SIZE];

	if (profile->title)
		fg_view_head(table, "%s", profile->title);
	(void)fg_format_duration(whole_ns, whole);
	(void)fg_format_count((double)total->samples, samples);
	fg_strbuf_printf(&line, "%s of %s", fg_format_duration(total->ns, kept),
			 clock_name(profile));
	if (fabs(total->ns - whole_ns) > 5e-4 * whole_ns)
		fg_strbuf_printf(&line, ", %.1f %% of %s; %s samples",
				 whole_ns > 0 ? 100 * total->ns / whole_ns : 0, whole, samples);
	else
		fg_strbuf_printf(&line, " in %s samples", samples);
	if (query->per_repetition)
		fg_strbuf_printf(&line, "; the mean of %u repetitions", profile->repetition_count);
	fg_view_head(table, "%s", fg_strbuf_text(&line));
	fg_strbuf_release(&line);
}

static int by_inclusive(const void *left, const void *right)
{
	const struct fg_label_figures *a = left;
	const struct fg_label_figures *b = right;

	if (a->inclusive[0].ns > b->inclusive[0].ns)
		return -1;
	if (a->inclusive[0].ns < b->inclusive[0].ns)
		return 1;
	return a->label < b->label ? -1 : a->label > b->label;
}

double fg_view_stored_scale(const struct fg_profile *profile, const struct fg_calltree_query *query)
{
	const bool is_sum = !query->per_repetition && query->repetition == 0;

	return is_sum || profile->repetition_count == 0 ? 1.0 : 1.0 / profile->repetition_count;
}

void fg_view_sort_by_inclusive(struct fg_label_figures *figures, size_t count)
{
	if (count > 1)
		qsort(figures, count, sizeof(*figures), by_inclusive);
}

bool fg_view_matches(const struct fg_pattern *pattern, const struct fg_label *label)
{
	return fg_matches_function(pattern, label->name, label->library);
}

size_t fg_view_limit(const struct fg_view_options *options, size_t otherwise)
{
	if (options->all)
		return SIZE_MAX;
	return options->rows > 0 ? options->rows : otherwise;
}
