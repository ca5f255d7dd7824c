// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"
#include "base/text.h"
#include "reporters/figures.h"
#include "reporters/names.h"
#include "reporters/terminal_page.h"
#include "reporters/verdict_queries.h"

#include <math.h>

enum {
	MAX_BLAMED = 5, /* functions shown unless --verbose */
	FUNCTION_COLUMNS = 44,
};

static void add_share(struct fg_strbuf *line, double share)
{
	if (isfinite(share))
		fg_strbuf_printf(line, "%2.0f %%  ", fabs(share) < 0.005 ? 0.0 : share * 100);
	else
		fg_strbuf_add_text(line, "      ");
}

static void add_blamed(const struct fg_terminal_page *page, const struct fg_node_verdict *node)
{
	struct fg_strbuf line = {0};
	struct fg_strbuf path = {0};
	size_t used = 0;

	add_share(&line, node->share_of_change);
	fg_report_add_name(&line, node->name, FUNCTION_COLUMNS);
	if (node->file) {
		fg_strbuf_add_text(&line, "  ");
		fg_report_add_place(&line, node, page->options->verbose);
	}
	fg_strbuf_add_text(&line, "   ");
	fg_report_add_delta_ms(&line, node->delta_ms);
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
		fg_report_add_delta_ms(&line, node->paths[i].delta_ms);
		fg_strbuf_add_text(&line, "   ");
		fg_report_add_path(&line, &node->paths[i], fg_terminal_room(page, 24));
		fg_terminal_add_line(page, NULL, &line);
	}
	fg_strbuf_release(&path);
	fg_strbuf_release(&line);
}

/* The list adds up: its last row is what the rows above it do not explain. */
static void add_everything_else(const struct fg_terminal_page *page,
				const struct fg_benchmark_verdict *benchmark, size_t shown)
{
	const struct fg_remainder rest = fg_report_everything_else(benchmark, shown);
	const size_t left = fg_report_sure_count(benchmark) - shown;
	struct fg_strbuf line = {0};

	if (!isfinite(rest.delta_ms))
		return;
	add_share(&line, rest.share);
	fg_strbuf_add_text(&line, "everything else   ");
	fg_report_add_delta_ms(&line, rest.delta_ms);
	if (left > 0)
		fg_strbuf_printf(&line, "   with %zu function%s that %s sure, too: --verbose", left,
				 left == 1 ? "" : "s", left == 1 ? "is" : "are");
	fg_terminal_add_line(page, NULL, &line);
	fg_strbuf_release(&line);
}

static void add_not_sure(const struct fg_terminal_page *page,
			 const struct fg_benchmark_verdict *benchmark)
{
	struct fg_strbuf line = {0};
	struct fg_strbuf names = {0};

	fg_report_add_not_sure(&names, benchmark, FUNCTION_COLUMNS);
	if (names.length > 0) {
		fg_strbuf_printf(&line, "not sure: %s", fg_strbuf_text(&names));
		fg_terminal_add_sentence(page, FG_TERMINAL_DIM, fg_strbuf_text(&line));
	}
	fg_strbuf_release(&names);
	fg_strbuf_release(&line);
}

static void add_moved(const struct fg_terminal_page *page, const struct fg_moved *moved)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";
	struct fg_strbuf line = {0};

	fg_strbuf_add_text(&line, "moved, not slower: ");
	fg_report_add_plain_name(&line, moved->from, FUNCTION_COLUMNS);
	fg_strbuf_add_text(&line, " → ");
	fg_report_add_plain_name(&line, moved->to, FUNCTION_COLUMNS);
	fg_strbuf_printf(&line, "   %s   %s",
			 fg_format_duration(fabs(moved->moved_ms) * 1e6, number), moved->kind);
	if (strcmp(moved->kind, "relinked") == 0 && moved->from_library && moved->to_library) {
		fg_strbuf_add_text(&line, ", ");
		fg_report_add_name(&line, moved->from_library, FUNCTION_COLUMNS);
		fg_strbuf_add_text(&line, " → ");
		fg_report_add_name(&line, moved->to_library, FUNCTION_COLUMNS);
	}
	fg_terminal_add_sentence(page, NULL, fg_strbuf_text(&line));
	fg_strbuf_release(&line);
}

void fg_terminal_add_blame(const struct fg_terminal_page *page,
			   const struct fg_benchmark_verdict *benchmark)
{
	const size_t sure = fg_report_sure_count(benchmark);
	const size_t shown = page->options->verbose ? sure : fg_min_size(sure, MAX_BLAMED);

	for (size_t i = 0; i < shown; i++)
		add_blamed(page, &benchmark->functions[i]);
	if (shown > 0)
		add_everything_else(page, benchmark, shown);
	add_not_sure(page, benchmark);
	for (size_t i = 0; i < benchmark->moved_count; i++)
		add_moved(page, &benchmark->moved[i]);
}
