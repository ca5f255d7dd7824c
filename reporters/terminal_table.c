// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "reporters/figures.h"
#include "reporters/names.h"
#include "reporters/terminal_page.h"
#include "reporters/verdict_queries.h"

enum {
	MAX_NAME_COLUMNS = 40,
	MIN_NAME_COLUMNS = 8,
};

/* Blanks before each column. */
static const unsigned gap[FG_COLUMN_COUNT] = {
	[FG_COLUMN_METRIC] = 3, [FG_COLUMN_CHANGE] = 3, [FG_COLUMN_INTERVAL] = 2,
	[FG_COLUMN_LEVELS] = 3, [FG_COLUMN_EFFORT] = 3, [FG_COLUMN_VERDICT] = 3,
};

/* Columns in the order in which a narrow terminal drops them. */
static const enum fg_terminal_column given_up[] = {
	FG_COLUMN_EFFORT,
	FG_COLUMN_LEVELS,
	FG_COLUMN_INTERVAL,
	FG_COLUMN_METRIC,
};

static void fill_row(struct fg_terminal_row *row, const struct fg_verdict *verdict,
		     const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *headline = fg_report_headline(benchmark);

	fg_report_add_benchmark_name(&row->cells[FG_COLUMN_NAME], verdict, benchmark,
				     MAX_NAME_COLUMNS);
	fg_strbuf_add_text(&row->cells[FG_COLUMN_VERDICT], fg_terminal_word(benchmark));
	if (benchmark->outcome != FG_OUTCOME_ERROR)
		fg_report_add_effort(&row->cells[FG_COLUMN_EFFORT], benchmark, headline);
	row->remark = fg_report_remark(benchmark);
	if (row->remark)
		return;
	fg_report_add_name(&row->cells[FG_COLUMN_METRIC], headline->label, 24);
	fg_report_add_change(&row->cells[FG_COLUMN_CHANGE], headline);
	fg_report_add_interval(&row->cells[FG_COLUMN_INTERVAL], headline);
	fg_report_add_levels(&row->cells[FG_COLUMN_LEVELS], headline);
}

static size_t cell_width(const struct fg_terminal_row *row, enum fg_terminal_column column)
{
	return fg_text_width(fg_strbuf_text(&row->cells[column]));
}

static size_t table_width(const struct fg_terminal_page *page)
{
	size_t total = 0;

	for (size_t c = 0; c < FG_COLUMN_COUNT; c++) {
		if (!page->hidden[c] && page->width[c] > 0)
			total += page->width[c] + gap[c];
	}
	return total;
}

void fg_terminal_table_lay_out(struct fg_terminal_page *page)
{
	const size_t width = page->options->width;
	size_t total = 0;

	for (size_t i = 0; i < page->report->verdict->benchmark_count; i++) {
		for (size_t c = 0; !page->rows[i].folded && c < FG_COLUMN_COUNT; c++) {
			const size_t wanted =
				cell_width(&page->rows[i], (enum fg_terminal_column)c);

			if (wanted > page->width[c])
				page->width[c] = wanted;
		}
	}
	if (width == 0)
		return;
	for (size_t i = 0; i < FG_ARRAY_SIZE(given_up) && table_width(page) > width; i++) {
		if (i < 3 || page->width[FG_COLUMN_NAME] <= MIN_NAME_COLUMNS)
			page->hidden[given_up[i]] = true;
	}
	total = table_width(page);
	if (total > width) {
		const size_t over = total - width;
		const size_t name = page->width[FG_COLUMN_NAME];

		page->width[FG_COLUMN_NAME] =
			name > over + MIN_NAME_COLUMNS ? name - over : MIN_NAME_COLUMNS;
	}
}

static void pad_to(struct fg_strbuf *text, size_t have, size_t want)
{
	if (have < want)
		fg_strbuf_add_repeated(text, ' ', want - have);
}

static void add_name_cell(const struct fg_terminal_page *page, const struct fg_terminal_row *row)
{
	struct fg_strbuf name = {0};

	fg_report_add_name(&name, fg_strbuf_text(&row->cells[FG_COLUMN_NAME]),
			   page->width[FG_COLUMN_NAME]);
	fg_terminal_add_styled(page, FG_TERMINAL_BOLD, fg_strbuf_text(&name));
	pad_to(page->text, fg_text_width(fg_strbuf_text(&name)), page->width[FG_COLUMN_NAME]);
	fg_strbuf_release(&name);
}

/* The remark spans the columns from the metric to the levels. */
static void add_remark_cell(const struct fg_terminal_page *page, const struct fg_terminal_row *row)
{
	size_t room = 0;
	struct fg_strbuf remark = {0};

	for (size_t c = FG_COLUMN_METRIC; c < FG_COLUMN_EFFORT; c++) {
		if (!page->hidden[c] && page->width[c] > 0)
			room += page->width[c] + gap[c];
	}
	room = room > gap[FG_COLUMN_METRIC] ? room - gap[FG_COLUMN_METRIC] : 0;
	if (room == 0)
		room = strlen(row->remark);
	fg_report_add_name(&remark, row->remark, page->options->width > 0 ? room : 0);
	fg_strbuf_add_repeated(page->text, ' ', gap[FG_COLUMN_METRIC]);
	fg_strbuf_add_text(page->text, fg_strbuf_text(&remark));
	pad_to(page->text, fg_text_width(fg_strbuf_text(&remark)), room);
	fg_strbuf_release(&remark);
}

static void add_cell(const struct fg_terminal_page *page, const struct fg_terminal_row *row,
		     enum fg_terminal_column column)
{
	const size_t have = cell_width(row, column);
	const bool right = column == FG_COLUMN_CHANGE;

	if (page->hidden[column] || page->width[column] == 0)
		return;
	fg_strbuf_add_repeated(page->text, ' ', gap[column]);
	if (right)
		pad_to(page->text, have, page->width[column]);
	fg_strbuf_add_text(page->text, fg_strbuf_text(&row->cells[column]));
	if (!right)
		pad_to(page->text, have, page->width[column]);
}

void fg_terminal_table_add_row(const struct fg_terminal_page *page, size_t benchmark)
{
	const struct fg_terminal_row *row = &page->rows[benchmark];
	const struct fg_benchmark_verdict *of = &page->report->verdict->benchmarks[benchmark];

	add_name_cell(page, row);
	if (row->remark) {
		add_remark_cell(page, row);
	} else {
		for (size_t c = FG_COLUMN_METRIC; c < FG_COLUMN_EFFORT; c++)
			add_cell(page, row, (enum fg_terminal_column)c);
	}
	add_cell(page, row, FG_COLUMN_EFFORT);
	fg_strbuf_add_repeated(page->text, ' ', gap[FG_COLUMN_VERDICT]);
	fg_terminal_add_styled(page, fg_terminal_outcomes[of->outcome].color, fg_terminal_word(of));
	fg_strbuf_add_char(page->text, '\n');
}

void fg_terminal_table_init(struct fg_terminal_page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;

	page->rows = fg_xcalloc(verdict->benchmark_count, sizeof(page->rows[0]));
	for (size_t i = 0; i < verdict->benchmark_count; i++)
		fill_row(&page->rows[i], verdict, &verdict->benchmarks[i]);
}

void fg_terminal_table_release(struct fg_terminal_page *page)
{
	for (size_t i = 0; i < page->report->verdict->benchmark_count; i++) {
		for (size_t c = 0; c < FG_COLUMN_COUNT; c++)
			fg_strbuf_release(&page->rows[i].cells[c]);
	}
	free(page->rows);
}
