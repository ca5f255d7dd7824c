// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a view for programs: JSON ("fastgate-view/1") and CSV. Nothing is rounded, and figures
 * computed from samples come with their standard errors. Tables of further measures add their
 * figures to the rows of the first table.
 */
#include "base/csv.h"
#include "base/json_write.h"
#include "base/map.h"
#include "base/text.h"
#include "profile/views/view.h"

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

static void write_lines(struct fg_json_writer *json, const char **lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fg_json_text(json, NULL, lines[i]);
}

/* ---- one object per measure ---- */

/* Rows by identity: the text of the row and, in a tree, of its ancestors. */
struct row_index {
	struct fg_map by_text;
	struct fg_strbuf *paths; /* text of the last row at each depth */
	size_t path_count, path_capacity;
};

static void read_path(struct row_index *index, const struct fg_view_table *table, size_t row)
{
	const struct fg_view_row *at = &table->rows[row];
	struct fg_strbuf *path = NULL;

	index->paths = fg_grow(index->paths, &index->path_capacity, (size_t)at->depth + 1,
			       sizeof(index->paths[0]));
	for (; index->path_count <= at->depth; index->path_count++)
		index->paths[index->path_count] = (struct fg_strbuf){0};
	path = &index->paths[at->depth];
	fg_strbuf_clear(path);
	if (at->depth > 0)
		fg_strbuf_add_text(path, fg_strbuf_text(&index->paths[at->depth - 1]));
	for (size_t c = 0; c < table->column_count; c++) {
		if (table->columns[c].kind == FG_CELL_TEXT && at->cells[c].kind == FG_CELL_TEXT)
			fg_strbuf_add_text(path, at->cells[c].text);
		fg_strbuf_add_char(path, '\x1f');
	}
}

/*
 * Returns the index of the corresponding row of the first table; `row` itself if it has no
 * counterpart.
 */
static uint64_t *find_row(struct row_index *index, const struct fg_view_table *table, size_t row,
			  bool *is_new)
{
	const struct fg_strbuf *path = NULL;

	read_path(index, table, row);
	path = &index->paths[table->rows[row].depth];
	return fg_map_add(&index->by_text, path->data, path->length, row, is_new);
}

static void row_index_release(struct row_index *index)
{
	for (size_t i = 0; i < index->path_count; i++)
		fg_strbuf_release(&index->paths[i]);
	free(index->paths);
	fg_map_release(&index->by_text);
}

/* Writes "self_ns" as "self": the object of a measure has its own unit. */
static void write_measure_cell(struct fg_json_writer *json, const struct fg_view_column *column,
			       const struct fg_view_cell *cell)
{
	struct fg_view_column plain = *column;
	char *key = NULL;

	if (!column->key || (column->kind != FG_CELL_VALUE && column->kind != FG_CELL_SHARE &&
			     column->kind != FG_CELL_COUNT))
		return;
	key = fg_xstrdup(column->key);
	if (column->kind == FG_CELL_VALUE && fg_text_ends_with(key, "_ns"))
		key[strlen(key) - strlen("_ns")] = '\0';
	plain.key = key;
	write_cell(json, &plain, cell);
	free(key);
}

static void write_measure(struct fg_json_writer *json, const struct fg_view_table *table,
			  size_t row)
{
	fg_json_begin_object(json, table->measure.name);
	for (size_t c = 0; c < table->column_count; c++)
		write_measure_cell(json, &table->columns[c], &table->rows[row].cells[c]);
	fg_json_end(json);
}

static void write_row(struct fg_json_writer *json, const struct fg_view_table *table, size_t row)
{
	for (size_t c = 0; c < table->column_count; c++) {
		if (table->columns[c].key)
			write_cell(json, &table->columns[c], &table->rows[row].cells[c]);
	}
}

/*
 * Joins rows: element [row of the first table][table] is index + 1 of the corresponding row of that
 * table; 0: none.
 */
static size_t *join_rows(const struct fg_view_table *tables, size_t count)
{
	size_t *rows = fg_xcalloc(tables->row_count * count + 1, sizeof(rows[0]));
	struct row_index first = {0};

	for (size_t row = 0; row < tables->row_count; row++) {
		(void)find_row(&first, tables, row, NULL);
		rows[row * count] = row + 1;
	}
	for (size_t t = 1; t < count; t++) {
		for (size_t row = 0; row < tables[t].row_count; row++) {
			bool is_new = false;
			const uint64_t at = *find_row(&first, &tables[t], row, &is_new);

			if (!is_new && at < tables->row_count)
				rows[at * count + t] = row + 1;
		}
	}
	row_index_release(&first);
	return rows;
}

static void write_rows(struct fg_json_writer *json, const struct fg_view_table *tables,
		       size_t count)
{
	const bool is_tree = has_depth(tables);
	size_t *rows = join_rows(tables, count);

	fg_json_begin_array(json, "rows");
	for (size_t row = 0; row < tables->row_count; row++) {
		if (tables->rows[row].only_text)
			continue;
		fg_json_begin_object(json, NULL);
		if (is_tree)
			fg_json_int(json, "depth", tables->rows[row].depth);
		write_row(json, tables, row);
		fg_json_begin_object(json, "measures");
		for (size_t t = 0; t < count; t++) {
			if (rows[row * count + t] > 0)
				write_measure(json, &tables[t], rows[row * count + t] - 1);
		}
		fg_json_end(json);
		fg_json_end(json);
	}
	fg_json_end(json);
	free(rows);
}

static void write_measures(struct fg_json_writer *json, const struct fg_view_table *tables,
			   size_t count)
{
	fg_json_begin_array(json, "measures");
	for (size_t t = 0; t < count; t++) {
		fg_json_begin_object(json, NULL);
		fg_json_text(json, "name", tables[t].measure.name);
		fg_json_text(json, "label", tables[t].measure.label);
		fg_json_text(json, "unit", tables[t].measure.unit);
		fg_json_end(json);
	}
	fg_json_end(json);
}

void fg_view_write_json(const struct fg_view_table *tables, size_t count, struct fg_strbuf *out)
{
	struct fg_json_writer json;

	fg_json_writer_init(&json, out, 2);
	fg_json_begin_object(&json, NULL);
	fg_json_text(&json, "schema", "fastgate-view/1");
	fg_json_text(&json, "view", tables->name);
	write_measures(&json, tables, count);
	fg_json_begin_array(&json, "head");
	write_lines(&json, tables->head, tables->head_count);
	fg_json_end(&json);
	write_rows(&json, tables, count);
	fg_json_begin_array(&json, "notes");
	write_lines(&json, tables->notes, tables->note_count);
	write_lines(&json, tables->profile_notes, tables->profile_note_count);
	fg_json_end(&json);
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
		if (table->rows[i].only_text)
			continue;
		if (is_tree)
			fg_csv_number(&csv, table->rows[i].depth);
		for (size_t c = 0; c < table->column_count; c++) {
			if (table->columns[c].key)
				write_csv_cell(&table->columns[c], &table->rows[i].cells[c], &csv);
		}
		fg_csv_end(&csv);
	}
}
