// SPDX-License-Identifier: Apache-2.0
/* Tables of the views: columns, rows, cells, heads and notes. */
#include "base/number.h"
#include "base/sort.h"
#include "base/text.h"
#include "profile/selection.h"
#include "profile/views/view_private.h"

#include <math.h>
#include <stdarg.h>

/*
 * Adapts a key and title written for time to another measure: "self_ns" becomes "self", and "time
 * %t" the unit alone.
 */
static void name_column(struct fg_view_table *table, struct fg_view_column *column)
{
	const size_t length = strlen(column->key);

	if (fg_text_ends_with(column->key, "_ns"))
		column->key = fg_arena_strndup(&table->arena, column->key, length - strlen("_ns"));
	if (fg_text_starts_with(column->title, "time "))
		column->title += strlen("time ");
}

const char *fg_view_whole(const struct fg_view_table *table)
{
	return fg_measure_has_time(&table->measure) ? "the time" : table->measure.label;
}

int fg_view_check_time(const struct fg_view_table *table, struct fg_error *err)
{
	if (fg_measure_has_time(&table->measure))
		return FG_OK;
	return fg_error_set(err, FG_EUNSUPPORTED,
			    "this view shows only time, not %s: choose another view",
			    table->measure.label);
}

void fg_view_columns(struct fg_view_table *table, const struct fg_view_column *columns,
		     size_t count)
{
	FG_ASSERT(count <= FG_VIEW_MAX_COLUMNS);
	memcpy(table->columns, columns, count * sizeof(*columns));
	table->column_count = count;
	for (size_t i = 0; i < count && !fg_measure_has_time(&table->measure); i++) {
		if (columns[i].kind == FG_CELL_VALUE)
			name_column(table, &table->columns[i]);
		else if (columns[i].kind == FG_CELL_TIME)
			table->columns[i].unit_like = 0;
	}
}

void fg_view_drop_column(struct fg_view_table *table, size_t column)
{
	table->columns[column].key = NULL;
	table->columns[column].only_data = true;
}

struct fg_view_row *fg_view_add_row(struct fg_view_table *table)
{
	struct fg_view_row *row = NULL;

	row = &FG_APPEND(table->rows, table->row_count, table->row_capacity);
	row->cells = fg_arena_array(&table->arena, table->column_count, sizeof(*row->cells));
	return row;
}

FG_PRINTF(5, 0)
static void add_line(struct fg_arena *arena, const char ***lines, size_t *count, size_t *capacity,
		     const char *format, va_list ap)
{
	struct fg_strbuf raw = {0};
	struct fg_strbuf text = {0};

	/* A line may contain the name of a command, which can be any text. */
	fg_strbuf_vprintf(&raw, format, ap);
	fg_text_add_escaped(&text, fg_strbuf_text(&raw), raw.length);
	*lines = fg_append(*lines, count, capacity, sizeof((*lines)[0]));
	(*lines)[*count - 1] = fg_strbuf_keep(&text, arena);
	fg_strbuf_release(&raw);
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

void fg_view_profile_note(struct fg_view_table *table, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add_line(&table->arena, &table->profile_notes, &table->profile_note_count,
		 &table->profile_note_capacity, format, ap);
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

struct fg_view_cell fg_cell_value(double value)
{
	return (struct fg_view_cell){.kind = FG_CELL_VALUE, .number = value};
}

struct fg_view_cell fg_cell_share(double share)
{
	return (struct fg_view_cell){.kind = FG_CELL_SHARE, .number = share};
}

struct fg_view_cell fg_cell_weight(const struct fg_weight *part, const struct fg_weight *total)
{
	struct fg_view_cell cell = fg_cell_value(part->value);

	cell.error = fg_weight_error(part, total);
	return cell;
}

struct fg_view_cell fg_cell_weight_share(const struct fg_weight *part,
					 const struct fg_weight *total)
{
	struct fg_view_cell cell = fg_cell_share(total->value > 0 ? part->value / total->value : 0);

	if (total->value > 0)
		cell.error = fg_weight_error(part, total) / total->value;
	return cell;
}

struct fg_view_cell fg_cell_library(struct fg_view_table *table, const struct fg_label *label)
{
	if (!label->library || strcmp(label->library, label->name) == 0)
		return (struct fg_view_cell){0};
	return fg_cell_text(table, label->library);
}

struct fg_view_cell fg_cell_place(struct fg_view_table *table, const char *file, unsigned line)
{
	if (!file || line == 0)
		return fg_cell_text(table, file);
	return (struct fg_view_cell){.kind = FG_CELL_TEXT,
				     .text = fg_arena_printf(&table->arena, "%s:%u", file, line)};
}

double fg_view_whole_total(const struct fg_view_table *table, const struct fg_profile *profile)
{
	uint16_t index = 0;

	return fg_profile_find_measure(profile, table->measure.name, &index, NULL) == FG_OK
		       ? profile->measures[index].total
		       : 0;
}

static uint32_t repetitions_of(const struct fg_view_table *table, const struct fg_profile *profile)
{
	uint16_t index = 0;

	if (fg_profile_find_measure(profile, table->measure.name, &index, NULL) != FG_OK)
		return profile->repetition_count;
	return fg_profile_repetitions(profile, index);
}

void fg_view_total(struct fg_view_table *table, const struct fg_profile *profile,
		   const struct fg_calltree_query *query, const struct fg_weight *total)
{
	const uint32_t repetitions = repetitions_of(table, profile);
	const double parts = query->per_repetition ? repetitions : 1;
	const bool is_sum = table->measure.fold == FG_FOLD_SUM;
	const double whole_value = fg_view_whole_total(table, profile) / (is_sum ? parts : 1);
	struct fg_strbuf line = {0};
	char whole[FG_NUMBER_TEXT_SIZE];
	char kept[FG_NUMBER_TEXT_SIZE];
	char samples[FG_NUMBER_TEXT_SIZE];
	bool is_part = false;

	if (profile->title)
		fg_view_head(table, "%s", profile->title);
	(void)fg_measure_text(&table->measure, whole_value, whole);
	(void)fg_format_count((double)total->samples, samples);
	(void)fg_measure_text(&table->measure, total->value, kept);
	if (!is_sum)
		fg_strbuf_printf(&line, "%s: %s", table->measure.label, kept);
	else if (strcmp(table->measure.unit, "1") == 0)
		fg_strbuf_printf(&line, "%s %s", kept, table->measure.label);
	else
		fg_strbuf_printf(&line, "%s of %s", kept, table->measure.label);
	is_part = fabs(total->value - whole_value) > 5e-4 * whole_value;
	if (is_part)
		fg_strbuf_printf(&line, ", %.1f %% of %s",
				 whole_value > 0 ? 100 * total->value / whole_value : 0, whole);
	/* An exact count has no samples. */
	if (!table->measure.exact)
		fg_strbuf_printf(&line, "%s %s samples", is_part ? ";" : " in", samples);
	if (query->per_repetition && repetitions > 1)
		fg_strbuf_printf(&line, "; the mean of %u repetitions", repetitions);
	else if (query->per_repetition)
		fg_strbuf_add_text(&line, "; one repetition");
	fg_view_head(table, "%s", fg_strbuf_text(&line));
	fg_strbuf_release(&line);
}

int fg_view_total_of(struct fg_view_table *table, const struct fg_profile *profile,
		     const struct fg_calltree_query *query, double *total, struct fg_error *err)
{
	struct fg_calltree tree;

	FG_TRY(fg_calltree_build(profile, query, &tree, err));
	fg_view_total(table, profile, query, &tree.inclusive[0][0]);
	*total = tree.inclusive[0][0].value;
	fg_calltree_release(&tree);
	return FG_OK;
}

FG_ORDER_BY(by_inclusive, struct fg_label_figures, FG_DOWN(inclusive[0].value), FG_UP(label))

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

FG_ORDER_BY(by_value, struct fg_view_ranked, FG_DOWN(value), FG_UP(index))

void fg_view_rank(struct fg_view_ranked *ranked, size_t count)
{
	if (count > 1)
		qsort(ranked, count, sizeof(ranked[0]), by_value);
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

/* ---- histograms ---- */

void fg_view_add_frames(struct fg_view_table *table, const struct fg_profile *profile,
			uint32_t stack)
{
	size_t count = 0;
	const char **names = fg_stack_names(profile, stack, &count);

	for (size_t i = 0; i < count; i++) {
		struct fg_view_row *row = fg_view_add_row(table);

		row->style = FG_VIEW_FAINT;
		row->cells[table->column_count - 1] = fg_cell_text(table, names[i]);
	}
	free(names);
}

void fg_view_add_bar(struct fg_view_table *table, unsigned column, const char *range, double count,
		     double most)
{
	enum {
		BAR = 40 /* maximum length of a bar, in characters */
	};
	struct fg_strbuf text = {0};
	struct fg_view_row *row = fg_view_add_row(table);
	const unsigned bar = (unsigned)ceil(BAR * count / most);

	fg_strbuf_printf(&text, "%-14s ", range);
	for (unsigned n = 0; n < bar; n++)
		fg_strbuf_add_char(&text, '#');
	row->cells[column] = fg_cell_count(count);
	row->cells[table->column_count - 1] = fg_cell_text(table, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
}
