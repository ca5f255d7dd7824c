// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "reporters/card.h"
#include "reporters/figures.h"
#include "reporters/names.h"

#include <ctype.h>
#include <math.h>

enum {
	TEXT_COLUMNS_MIN = 20,
};

/* Does the row have more than blanks and brackets, which mean nothing without context? */
static bool has_content(const struct fg_source_row *row)
{
	for (const char *at = row->text; *at; at++) {
		if (isalnum((unsigned char)*at))
			return true;
	}
	return false;
}

static double cost_of(const struct fg_source_row *row)
{
	return fmax(isnan(row->cost[0]) ? 0 : row->cost[0], isnan(row->cost[1]) ? 0 : row->cost[1]);
}

static bool is_changed(const struct fg_source_listing *source, const struct fg_source_row *row)
{
	return source->has_side[0] && source->has_side[1] &&
	       (row->line[0] == 0) != (row->line[1] == 0);
}

/*
 * Returns the index of the most expensive changed row with content that is not chosen yet;
 * `row_count` if no such row is left.
 */
static size_t next_changed(const struct fg_source_listing *source, const bool *chosen)
{
	size_t best = source->row_count;

	for (size_t i = 0; i < source->row_count; i++) {
		const struct fg_source_row *row = &source->rows[i];

		if (chosen[i] || !is_changed(source, row) || !has_content(row))
			continue;
		if (best == source->row_count || cost_of(row) > cost_of(&source->rows[best]))
			best = i;
	}
	return best;
}

static void choose(const struct fg_source_listing *source, size_t most, bool *chosen)
{
	size_t count = 0;

	for (; count < most; count++) {
		const size_t best = next_changed(source, chosen);

		if (best == source->row_count)
			break;
		chosen[best] = true;
	}
	if (count < most && source->row_count > 0)
		chosen[source->hottest] = true;
	for (size_t i = 0; most == FG_SOURCE_ROWS_MAX && i < source->row_count; i++)
		chosen[i] = true;
}

static void add_costs(struct fg_strbuf *text, const struct fg_source_row *row)
{
	const bool both = row->line[0] > 0 && row->line[1] > 0;

	for (size_t side = 0; side < 2; side++) {
		if (isfinite(row->cost[side]))
			fg_report_add_amount(text, "ms", row->cost[side]);
		else if (both && isfinite(row->cost[1 - side]))
			fg_strbuf_add_char(text, '0');
		if (side == 0 && both && text->length > 0)
			fg_strbuf_add_text(text, " → ");
	}
}

void fg_hunk_take(const struct fg_source_listing *source, size_t most, struct fg_hunk *hunk)
{
	bool chosen[FG_SOURCE_ROWS_MAX] = {0};
	struct fg_strbuf costs = {0};

	*hunk = (struct fg_hunk){.indent = SIZE_MAX};
	choose(source, most, chosen);
	for (size_t i = 0; i < source->row_count; i++) {
		const char *text = source->rows[i].text;
		const size_t blanks = strspn(text, " ");

		if (!chosen[i])
			continue;
		hunk->rows[hunk->count++] = &source->rows[i];
		fg_strbuf_clear(&costs);
		add_costs(&costs, &source->rows[i]);
		hunk->cost_columns =
			fg_max_size(hunk->cost_columns, fg_text_width(fg_strbuf_text(&costs)));
		if (text[blanks])
			hunk->indent = fg_min_size(hunk->indent, blanks);
	}
	fg_strbuf_release(&costs);
}

void fg_hunk_add_line(struct fg_strbuf *text, const struct fg_hunk *hunk, size_t row,
		      size_t columns)
{
	const struct fg_source_row *from = hunk->rows[row];
	const size_t blanks = fg_min_size(strspn(from->text, " "), hunk->indent);
	const char *sign = from->line[1] == 0 ? "-" : from->line[0] == 0 ? "+" : " ";
	struct fg_strbuf costs = {0};
	struct fg_strbuf line = {0};
	size_t width = 0;

	add_costs(&costs, from);
	fg_strbuf_printf(&line, "%s %4u  %s", sign, from->line[1] ? from->line[1] : from->line[0],
			 fg_strbuf_text(&costs));
	width = fg_text_width(fg_strbuf_text(&costs));
	fg_strbuf_add_repeated(&line, ' ', hunk->cost_columns - width + 2);
	width = fg_text_width(fg_strbuf_text(&line));
	fg_strbuf_add(text, line.data, line.length);
	fg_report_add_clean(text, from->text + blanks,
			    columns > width + TEXT_COLUMNS_MIN ? columns - width
			    : columns                          ? TEXT_COLUMNS_MIN
							       : FG_SOURCE_TEXT_MAX);
	fg_strbuf_release(&line);
	fg_strbuf_release(&costs);
}
