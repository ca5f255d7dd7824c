// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a view as text. The values of a column have the unit in its heading and the same number of
 * decimals, so that they can be compared by eye; a text cell may have its own unit. The last column
 * takes the remaining width; a name that does not fit is cut in its middle, where C++ names differ
 * least.
 */
#include "base/number.h"
#include "base/text.h"
#include "profile/views/view.h"

#include <math.h>

enum {
	GAP = 2,
	NARROWEST_NAME = 16,
	WANTED_NAME = 32, /* optional columns are dropped until the name has this width */
};

struct layout {
	const struct fg_view_table *table;
	const struct fg_view_text_options *options;
	struct fg_strbuf *out;
	size_t widths[FG_VIEW_MAX_COLUMNS];
	size_t error_widths[FG_VIEW_MAX_COLUMNS];
	const struct unit *units[FG_VIEW_MAX_COLUMNS];
	int decimals[FG_VIEW_MAX_COLUMNS];
	bool hidden[FG_VIEW_MAX_COLUMNS];
	size_t last; /* index of the column with the name */
};

/* A unit; lists of units begin with the largest unit and end with the unit worth 1. */
struct unit {
	const char *name;
	double worth;
};

static const struct unit time_units[] = {
	{"s", 1e9},
	{"ms", 1e6},
	{"µs", 1e3},
	{"ns", 1},
};

static const struct unit byte_units[] = {
	{"GiB", 1073741824.0},
	{"MiB", 1048576.0},
	{"KiB", 1024.0},
	{"B", 1},
};

/*
 * Returns the list of units for a column; NULL: its measure has only one unit and is written as a
 * count.
 */
static const struct unit *ladder_of(const struct fg_view_table *table, size_t column)
{
	if (table->columns[column].kind != FG_CELL_VALUE || fg_measure_has_time(&table->measure))
		return time_units;
	return strcmp(table->measure.unit, "bytes") == 0 ? byte_units : NULL;
}

static double largest(const struct fg_view_table *table, size_t column)
{
	double most = 0;

	for (size_t i = 0; i < table->row_count; i++)
		most = fmax(most, fabs(table->rows[i].cells[column].number));
	return most;
}

/*
 * Chooses a unit in which the largest figure of the columns that share it has about four
 * significant digits.
 */
static void choose_unit(struct layout *l, size_t column)
{
	const struct fg_view_column *columns = l->table->columns;
	const size_t leader =
		columns[column].unit_like > 0 ? columns[column].unit_like - 1U : column;
	const struct unit *unit = ladder_of(l->table, column);
	double most = largest(l->table, leader);

	if (!unit)
		return;

	for (size_t c = 0; c < l->table->column_count; c++) {
		if (columns[c].unit_like == leader + 1)
			most = fmax(most, largest(l->table, c));
	}
	while (unit->worth > 1 && most < unit->worth && most > 0)
		unit++;
	l->units[column] = unit;
	l->decimals[column] = most >= 1000 * unit->worth  ? 0
			      : most >= 100 * unit->worth ? 1
			      : most >= 10 * unit->worth  ? 2
							  : 3;
}

static void format_number(const struct layout *l, size_t column, double number,
			  struct fg_strbuf *text)
{
	const enum fg_cell_kind kind = l->table->columns[column].kind;
	char count[FG_NUMBER_TEXT_SIZE];

	if (kind == FG_CELL_SHARE)
		fg_strbuf_printf(text, "%.1f", 100 * number);
	else if (l->units[column] && kind != FG_CELL_COUNT)
		fg_strbuf_printf(text, "%.*f", l->decimals[column],
				 number / l->units[column]->worth);
	else
		fg_strbuf_add_text(text, fg_format_count(number, count));
}

static void format_cell(const struct layout *l, size_t column, const struct fg_view_cell *cell,
			struct fg_strbuf *text)
{
	fg_strbuf_clear(text);
	if (cell->text)
		fg_strbuf_add_text(text, cell->text);
	else if (cell->kind != FG_CELL_EMPTY && !isnan(cell->number))
		format_number(l, column, cell->number, text);
}

static void format_error(const struct layout *l, size_t column, const struct fg_view_cell *cell,
			 struct fg_strbuf *text)
{
	fg_strbuf_clear(text);
	if (cell->kind == FG_CELL_EMPTY || isnan(cell->error))
		return;
	fg_strbuf_add_text(text, " ±");
	format_number(l, column, cell->error, text);
}

static bool shows_error(const struct layout *l, size_t column)
{
	return l->options->errors && l->table->columns[column].has_error;
}

/* Returns the unit in a heading. Plain numbers have no unit and are called counts. */
static const char *unit_name(const struct layout *l, size_t column)
{
	const char *unit = l->table->measure.unit;

	if (l->units[column])
		return l->units[column]->name;
	if (strcmp(unit, "1") != 0)
		return unit;
	return strcmp(l->table->columns[column].title, "%t") == 0 ? l->table->measure.label
								  : "count";
}

static void title_of(const struct layout *l, size_t column, struct fg_strbuf *text)
{
	const char *title = l->table->columns[column].title;
	const char *unit = strstr(title, "%t");

	fg_strbuf_clear(text);
	if (!unit) {
		fg_strbuf_add_text(text, title);
		return;
	}
	fg_strbuf_add(text, title, (size_t)(unit - title));
	fg_strbuf_add_text(text, unit_name(l, column));
	fg_strbuf_add_text(text, unit + 2);
}

static bool is_shown(const struct layout *l, size_t column)
{
	return !l->hidden[column];
}

static bool is_empty(const struct fg_view_table *table, size_t column)
{
	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].cells[column].kind != FG_CELL_EMPTY)
			return false;
	}
	return table->row_count > 0;
}

static void measure(struct layout *l, size_t column, struct fg_strbuf *text)
{
	const struct fg_view_table *table = l->table;

	choose_unit(l, column);
	title_of(l, column, text);
	l->widths[column] = fg_text_width(fg_strbuf_text(text));
	for (size_t i = 0; i < table->row_count; i++) {
		size_t width = 0;

		format_cell(l, column, &table->rows[i].cells[column], text);
		width = fg_text_width(fg_strbuf_text(text));
		if (width > l->widths[column])
			l->widths[column] = width;
		if (!shows_error(l, column))
			continue;
		format_error(l, column, &table->rows[i].cells[column], text);
		width = fg_text_width(fg_strbuf_text(text));
		if (width > l->error_widths[column])
			l->error_widths[column] = width;
	}
}

/* Returns the width of the columns before the name, with their gaps. */
static size_t width_before_name(const struct layout *l)
{
	size_t width = 0;

	for (size_t i = 0; i + 1 < l->table->column_count; i++) {
		if (is_shown(l, i))
			width += l->widths[i] + l->error_widths[i] + GAP;
	}
	return width;
}

static void make_room(struct layout *l)
{
	const size_t wanted = fg_min_size(l->widths[l->last], WANTED_NAME);

	while (l->options->columns > 0 && width_before_name(l) + wanted > l->options->columns) {
		size_t least = SIZE_MAX;

		for (size_t i = 0; i < l->table->column_count; i++) {
			const unsigned rank = l->table->columns[i].optional;

			if (is_shown(l, i) && rank > 0 &&
			    (least == SIZE_MAX || rank > l->table->columns[least].optional))
				least = i;
		}
		if (least == SIZE_MAX)
			return;
		l->hidden[least] = true;
	}
}

static void lay_out(struct layout *l)
{
	const size_t last = l->table->column_count - 1;
	struct fg_strbuf text = {0};

	for (size_t i = 0; i <= last; i++) {
		l->hidden[i] =
			l->table->columns[i].only_data || (i < last && is_empty(l->table, i));
		if (is_shown(l, i))
			measure(l, i, &text);
	}
	l->last = last;
	make_room(l);
	fg_strbuf_release(&text);
}

static void pad(struct fg_strbuf *out, size_t width, size_t used)
{
	if (used < width)
		fg_strbuf_add_repeated(out, ' ', width - used);
}

static size_t name_width(const struct layout *l, size_t used, const char *guide)
{
	const size_t taken = used + (guide ? fg_text_width(guide) : 0);

	if (l->options->columns == 0)
		return 0;
	if (l->options->columns < taken + NARROWEST_NAME)
		return NARROWEST_NAME;
	return l->options->columns - taken;
}

static const char *color_of(const struct layout *l, const struct fg_view_row *row)
{
	if (!l->options->color || row->style == FG_VIEW_PLAIN)
		return NULL;
	return row->style == FG_VIEW_PRIMARY ? "\033[1m" : "\033[2m";
}

static size_t add_number(const struct layout *l, size_t column, const struct fg_view_cell *cell,
			 struct fg_strbuf *text)
{
	const size_t width = l->widths[column];
	size_t used = 0;

	format_cell(l, column, cell, text);
	used = fg_text_width(fg_strbuf_text(text));
	if (!l->table->columns[column].left)
		pad(l->out, width, used);
	fg_strbuf_add_text(l->out, fg_strbuf_text(text));
	if (l->table->columns[column].left)
		pad(l->out, width, used);
	if (!shows_error(l, column))
		return width;
	format_error(l, column, cell, text);
	fg_strbuf_add_text(l->out, fg_strbuf_text(text));
	pad(l->out, l->error_widths[column], fg_text_width(fg_strbuf_text(text)));
	return width + l->error_widths[column];
}

static void trim_line(struct fg_strbuf *out)
{
	while (out->length > 0 && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
	fg_strbuf_add_char(out, '\n');
}

static void write_row(const struct layout *l, const struct fg_view_row *row, struct fg_strbuf *text)
{
	const char *color = color_of(l, row);
	size_t used = 0;

	if (row->rule_before)
		fg_strbuf_add_char(l->out, '\n');
	if (color)
		fg_strbuf_add_text(l->out, color);
	for (size_t i = 0; i < l->table->column_count; i++) {
		if (!is_shown(l, i))
			continue;
		if (used > 0) {
			fg_strbuf_add_repeated(l->out, ' ', GAP);
			used += GAP;
		}
		if (i == l->last) {
			format_cell(l, i, &row->cells[i], text);
			fg_strbuf_add_text(l->out, row->guide ? row->guide : "");
			fg_text_add_cut(l->out, fg_strbuf_text(text),
					name_width(l, used, row->guide));
		} else {
			used += add_number(l, i, &row->cells[i], text);
		}
	}
	if (color)
		fg_strbuf_add_text(l->out, "\033[0m");
	trim_line(l->out);
}

/* Writes the titles: a row whose cells are empty except for their text. */
static void write_titles(const struct layout *l, struct fg_strbuf *text)
{
	struct fg_view_cell cells[FG_VIEW_MAX_COLUMNS] = {0};
	struct fg_arena arena = {0};

	for (size_t i = 0; i < l->table->column_count; i++) {
		title_of(l, i, text);
		cells[i].text = fg_strbuf_keep(text, &arena);
	}
	write_row(l, &(struct fg_view_row){.cells = cells, .style = FG_VIEW_PRIMARY}, text);
	fg_arena_release(&arena);
}

void fg_view_write_text(const struct fg_view_table *table,
			const struct fg_view_text_options *options, struct fg_strbuf *out)
{
	struct layout l = {.table = table, .options = options, .out = out};
	struct fg_strbuf text = {0};

	lay_out(&l);
	for (size_t i = 0; i < table->head_count; i++) {
		fg_text_add_cut(out, table->head[i], options->columns);
		fg_strbuf_add_char(out, '\n');
	}
	if (table->head_count > 0)
		fg_strbuf_add_char(out, '\n');
	if (table->row_count > 0)
		write_titles(&l, &text);
	for (size_t i = 0; i < table->row_count; i++)
		write_row(&l, &table->rows[i], &text);
	if (table->note_count > 0)
		fg_strbuf_add_char(out, '\n');
	for (size_t i = 0; i < table->note_count; i++) {
		fg_text_add_cut(out, table->notes[i], options->columns);
		fg_strbuf_add_char(out, '\n');
	}
	fg_strbuf_release(&text);
}
