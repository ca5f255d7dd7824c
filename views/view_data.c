// SPDX-License-Identifier: Apache-2.0
/*
 * A view for programs: JSON ("fastgate-view/1") and CSV.  Nothing is rounded, every figure has its
 * standard error.
 */
#include "base/csv.h"
#include "base/json_write.h"
#include "views/view.h"

#include <math.h>

static bool is_number(const struct fg_view_column *column)
{
	return column->kind != FG_CELL_TEXT;
}

static bool has_number(const struct fg_view_cell *cell)
{
	return cell->kind != FG_CELL_EMPTY && cell->kind != FG_CELL_TEXT;
}

static void write_cell(struct fg_json_writer *json, const struct fg_view_column *column,
		       const struct fg_view_cell *cell)
{
	char *error_key = NULL;

	if (!is_number(column)) {
		fg_json_text(json, column->key, cell->kind == FG_CELL_TEXT ? cell->text : NULL);
		return;
	}
	fg_json_double(json, column->key, has_number(cell) ? cell->number : (double)NAN);
	if (!column->has_error)
		return;
	error_key = fg_xasprintf("%s_error", column->key);
	fg_json_double(json, error_key, has_number(cell) ? cell->error : (double)NAN);
	free(error_key);
}

static bool has_depth(const struct fg_view_table *table)
{
	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].depth > 0)
			return true;
	}
	return false;
}

static void write_lines(struct fg_json_writer *json, const char *name, const char **lines,
			size_t count)
{
	fg_json_begin_array(json, name);
	for (size_t i = 0; i < count; i++)
		fg_json_text(json, NULL, lines[i]);
	fg_json_end(json);
}

void fg_view_write_json(const struct fg_view_table *table, struct fg_strbuf *out)
{
	const bool is_tree = has_depth(table);
	struct fg_json_writer json;

	fg_json_writer_init(&json, out, 2);
	fg_json_begin_object(&json, NULL);
	fg_json_text(&json, "schema", "fastgate-view/1");
	fg_json_text(&json, "view", table->name);
	write_lines(&json, "head", table->head, table->head_count);
	fg_json_begin_array(&json, "rows");
	for (size_t i = 0; i < table->row_count; i++) {
		fg_json_begin_object(&json, NULL);
		if (is_tree)
			fg_json_int(&json, "depth", table->rows[i].depth);
		for (size_t c = 0; c < table->column_count; c++) {
			if (table->columns[c].key)
				write_cell(&json, &table->columns[c], &table->rows[i].cells[c]);
		}
		fg_json_end(&json);
	}
	fg_json_end(&json);
	write_lines(&json, "notes", table->notes, table->note_count);
	fg_json_end(&json);
	fg_strbuf_add_char(out, '\n');
}

static void write_csv_titles(const struct fg_view_table *table, bool is_tree, struct fg_csv *csv)
{
	if (is_tree)
		fg_csv_text(csv, "depth");
	for (size_t c = 0; c < table->column_count; c++) {
		const struct fg_view_column *column = &table->columns[c];

		if (!column->key)
			continue;
		fg_csv_text(csv, column->key);
		if (is_number(column) && column->has_error) {
			char *key = fg_xasprintf("%s_error", column->key);

			fg_csv_text(csv, key);
			free(key);
		}
	}
	fg_csv_end(csv);
}

static void write_csv_cell(const struct fg_view_column *column, const struct fg_view_cell *cell,
			   struct fg_csv *csv)
{
	if (!is_number(column)) {
		fg_csv_text(csv, cell->kind == FG_CELL_TEXT ? cell->text : NULL);
		return;
	}
	fg_csv_number(csv, has_number(cell) ? cell->number : (double)NAN);
	if (column->has_error)
		fg_csv_number(csv, has_number(cell) ? cell->error : (double)NAN);
}

void fg_view_write_csv(const struct fg_view_table *table, struct fg_strbuf *out)
{
	const bool is_tree = has_depth(table);
	struct fg_csv csv = {.out = out};

	write_csv_titles(table, is_tree, &csv);
	for (size_t i = 0; i < table->row_count; i++) {
		if (is_tree)
			fg_csv_number(&csv, table->rows[i].depth);
		for (size_t c = 0; c < table->column_count; c++) {
			if (table->columns[c].key)
				write_csv_cell(&table->columns[c], &table->rows[i].cells[c], &csv);
		}
		fg_csv_end(&csv);
	}
}
