// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"
#include "base/text.h"
#include "reporters/figures.h"
#include "reporters/names.h"
#include "reporters/terminal_page.h"

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

static bool is_worth_a_line(const struct fg_node_verdict *node)
{
	return node->outcome == FG_OUTCOME_REGRESSION || node->outcome == FG_OUTCOME_IMPROVEMENT ||
	       (isfinite(node->share_of_change) && fabs(node->share_of_change) >= 0.01);
}

static void add_rest(const struct fg_terminal_page *page, size_t count, double share,
		     double delta_ms)
{
	struct fg_strbuf line = {0};

	add_share(&line, share);
	fg_strbuf_printf(&line, "%zu other function%s   ", count, count == 1 ? "" : "s");
	fg_report_add_delta_ms(&line, delta_ms);
	fg_terminal_add_line(page, NULL, &line);
	fg_strbuf_release(&line);
}

static void add_unattributed(const struct fg_terminal_page *page,
			     const struct fg_benchmark_verdict *benchmark)
{
	const double share = benchmark->unattributed_ms / benchmark->total_delta_ms;
	struct fg_strbuf line = {0};

	if (!isfinite(share) || fabs(share) < 0.005)
		return;
	add_share(&line, share);
	fg_strbuf_add_text(&line, "unattributed");
	fg_terminal_add_line(page, NULL, &line);
	fg_strbuf_release(&line);
}

void fg_terminal_add_blame(const struct fg_terminal_page *page,
			   const struct fg_benchmark_verdict *benchmark)
{
	size_t shown = 0;
	size_t left = 0;
	double left_share = 0;
	double left_ms = 0;

	for (size_t i = 0; i < benchmark->function_count; i++) {
		const struct fg_node_verdict *node = &benchmark->functions[i];

		if (page->options->verbose || (shown < MAX_BLAMED && is_worth_a_line(node))) {
			add_blamed(page, node);
			shown++;
		} else {
			left++;
			left_share += node->share_of_change;
			left_ms += node->delta_ms;
		}
	}
	if (left > 0 && shown > 0 && !(fabs(left_share) < 0.01))
		add_rest(page, left, left_share, left_ms);
	if (benchmark->function_count > 0)
		add_unattributed(page, benchmark);
	for (size_t i = 0; i < benchmark->moved_count; i++) {
		const struct fg_moved *moved = &benchmark->moved[i];
		char number[FG_NUMBER_TEXT_SIZE] = "";
		struct fg_strbuf line = {0};

		fg_strbuf_add_text(&line, "moved, not slower: ");
		fg_report_add_plain_name(&line, moved->from, FUNCTION_COLUMNS);
		fg_strbuf_add_text(&line, " → ");
		fg_report_add_plain_name(&line, moved->to, FUNCTION_COLUMNS);
		fg_strbuf_printf(&line, "   %s   %s",
				 fg_format_duration(fabs(moved->moved_ms) * 1e6, number),
				 moved->kind);
		fg_terminal_add_sentence(page, NULL, fg_strbuf_text(&line));
		fg_strbuf_release(&line);
	}
}
