// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "reporters/figures.h"
#include "reporters/names.h"
#include "reporters/terminal_page.h"
#include "reporters/verdict_queries.h"

#include <math.h>

enum {
	MAX_BLAMED = 5, /* maximum number of functions shown without --verbose */
	FUNCTION_COLUMNS = 44,
};

static void add_share(struct fg_strbuf *line, double share)
{
	if (isfinite(share))
		fg_strbuf_printf(line, "%2.0f %%  ", fabs(share) < 0.005 ? 0.0 : share * 100);
	else
		fg_strbuf_add_text(line, "      ");
}

static void add_blamed(const struct fg_terminal_page *page, const struct fg_blame *blame,
		       const struct fg_node_verdict *node)
{
	struct fg_strbuf line = {0};
	struct fg_strbuf path = {0};
	size_t used = 0;

	add_share(&line, node->share_of_change);
	fg_report_add_function_name(&line, blame, node, FUNCTION_COLUMNS, false);
	if (node->file) {
		fg_strbuf_add_text(&line, "  ");
		fg_report_add_place(&line, node, page->options->verbose);
	}
	fg_strbuf_add_text(&line, "   ");
	fg_report_add_delta(&line, node->unit, node->delta);
	used = fg_text_width(fg_strbuf_text(&line)) + 5;
	if (node->path_count > 0 &&
	    (page->options->width == 0 || page->options->width > used + 20)) {
		fg_report_add_path(&path, &node->paths[0],
				   page->options->width == 0 ? 0 : page->options->width - used);
		fg_strbuf_printf(&line, "   %s", fg_strbuf_text(&path));
	}
	fg_terminal_add_line(page, NULL, &line);
	for (size_t i = 1; page->options->verbose && i < node->path_count; i++) {
		fg_strbuf_clear(&line);
		fg_strbuf_add_text(&line, "         ");
		fg_report_add_delta(&line, node->unit, node->paths[i].delta);
		fg_strbuf_add_text(&line, "   ");
		fg_report_add_path(&line, &node->paths[i], fg_terminal_room(page, 24));
		fg_terminal_add_line(page, NULL, &line);
	}
	fg_strbuf_release(&path);
	fg_strbuf_release(&line);
}

/* Adds the changed lines, or else the hottest line, with costs. */
static void add_source(const struct fg_terminal_page *page, const struct fg_node_verdict *node)
{
	struct fg_hunk hunk;
	struct fg_strbuf line = {0};

	if (!node->source)
		return;
	fg_hunk_take(node->source, page->options->verbose ? FG_SOURCE_ROWS_MAX : FG_CARD_LINES,
		     &hunk);
	for (size_t i = 0; i < hunk.count; i++) {
		fg_strbuf_clear(&line);
		fg_strbuf_add_text(&line, "      ");
		fg_hunk_add_line(&line, &hunk, i, fg_terminal_room(page, 8));
		fg_terminal_add_line(page, NULL, &line);
	}
	fg_strbuf_release(&line);
}

/* Adds the mechanism of a function other than the first, whose mechanism the card has. */
static void add_mechanism(const struct fg_terminal_page *page, const struct fg_node_verdict *node)
{
	struct fg_strbuf line = {0};

	if (!node->mechanism || node->mechanism->kind == FG_MECHANISM_UNKNOWN)
		return;
	fg_strbuf_add_text(&line, "      why: ");
	fg_report_add_name(&line, node->mechanism->words, fg_terminal_room(page, 12));
	fg_terminal_add_line(page, FG_TERMINAL_DIM, &line);
	fg_strbuf_release(&line);
}

/* Adds the rest of the change as the last row, so that the list adds up. */
static void add_everything_else(const struct fg_terminal_page *page, const struct fg_blame *blame,
				size_t shown)
{
	const struct fg_remainder rest = fg_report_everything_else(blame, shown);
	const size_t left = fg_report_sure_count(blame) - shown;
	struct fg_strbuf line = {0};

	if (!isfinite(rest.delta))
		return;
	add_share(&line, rest.share);
	fg_strbuf_add_text(&line, "everything else   ");
	fg_report_add_delta(&line, blame->unit, rest.delta);
	if (left > 0)
		fg_strbuf_printf(&line, "   %zu more function%s changed significantly: --verbose",
				 left, left == 1 ? "" : "s");
	fg_terminal_add_line(page, NULL, &line);
	fg_strbuf_release(&line);
}

static void add_not_sure(const struct fg_terminal_page *page, const struct fg_blame *blame)
{
	struct fg_strbuf line = {0};
	struct fg_strbuf names = {0};

	fg_report_add_not_sure(&names, blame, FUNCTION_COLUMNS);
	if (names.length > 0) {
		fg_strbuf_printf(&line, "not sure: %s", fg_strbuf_text(&names));
		fg_terminal_add_sentence(page, FG_TERMINAL_DIM, fg_strbuf_text(&line));
	}
	fg_strbuf_release(&names);
	fg_strbuf_release(&line);
}

static void add_moved(const struct fg_terminal_page *page, const struct fg_moved *moved)
{
	struct fg_strbuf line = {0};

	fg_strbuf_printf(&line,
			 "moved, not %s: ", fg_report_is_time(moved->unit) ? "slower" : "more");
	fg_report_add_plain_name(&line, moved->from, FUNCTION_COLUMNS);
	fg_strbuf_add_text(&line, " → ");
	fg_report_add_plain_name(&line, moved->to, FUNCTION_COLUMNS);
	fg_strbuf_add_text(&line, "   ");
	fg_report_add_amount(&line, moved->unit, fabs(moved->amount));
	fg_strbuf_printf(&line, "   %s", moved->kind);
	if (strcmp(moved->kind, "relinked") == 0 && moved->from_library && moved->to_library) {
		fg_strbuf_add_text(&line, ", ");
		fg_report_add_name(&line, moved->from_library, FUNCTION_COLUMNS);
		fg_strbuf_add_text(&line, " → ");
		fg_report_add_name(&line, moved->to_library, FUNCTION_COLUMNS);
	}
	fg_terminal_add_sentence(page, NULL, fg_strbuf_text(&line));
	fg_strbuf_release(&line);
}

/*
 * Adds the heading of a measure other than time. A time needs no heading: the benchmark's row shows
 * a time.
 */
static void add_heading(const struct fg_terminal_page *page, const struct fg_blame *blame)
{
	struct fg_strbuf line = {0};

	fg_strbuf_add_text(&line, "by ");
	fg_report_add_name(&line, blame->label, FUNCTION_COLUMNS);
	fg_strbuf_add_char(&line, ':');
	fg_terminal_add_line(page, FG_TERMINAL_DIM, &line);
	fg_strbuf_release(&line);
}

static void add_blame(const struct fg_terminal_page *page, const struct fg_blame *blame)
{
	const size_t sure = fg_report_sure_count(blame);
	const size_t shown = page->options->verbose ? sure : fg_min_size(sure, MAX_BLAMED);
	bool has_source = false;

	if (blame->function_count > 0 && !fg_report_is_time(blame->unit))
		add_heading(page, blame);
	for (size_t i = 0; i < shown; i++) {
		add_blamed(page, blame, &blame->functions[i]);
		if (!has_source || page->options->verbose)
			add_source(page, &blame->functions[i]);
		if (i > 0)
			add_mechanism(page, &blame->functions[i]);
		has_source = has_source || blame->functions[i].source;
	}
	if (shown > 0)
		add_everything_else(page, blame, shown);
	add_not_sure(page, blame);
	for (size_t i = 0; i < blame->moved_count; i++)
		add_moved(page, &blame->moved[i]);
}

void fg_terminal_add_blame(const struct fg_terminal_page *page,
			   const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_blame *blame = NULL;

	for (size_t i = 0; (blame = fg_report_blame(benchmark, i)); i++)
		add_blame(page, blame);
}
