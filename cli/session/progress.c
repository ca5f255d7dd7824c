// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/session/session.h"

#include <math.h>

enum {
	REDRAW_MS = 100,
	PLAIN_LINE_S = 30,
};

static const char *const phase_words[] = {
	[FG_RUNNER_SETUP] = "set-up",
	[FG_RUNNER_WARMUP] = "warm-up",
	[FG_RUNNER_TRIAL] = "finding the schedule",
	[FG_RUNNER_MEASURE] = NULL,
};

/* The limit on pairs; 0: unlimited. */
static unsigned most_pairs(const struct fg_progress *progress,
			   const struct fg_runner_progress *runner)
{
	if (!progress->is_paired)
		return runner->wanted;
	return progress->measure->until_sure ? 0 : progress->measure->max_pairs;
}

/*
 * Upper bound of the remaining time: that of all pairs, or the rest of the budget if it ends first;
 * 0 if unknown.
 */
static double most_ns_left(const struct fg_progress *progress,
			   const struct fg_runner_progress *runner)
{
	const unsigned most = most_pairs(progress, runner);
	const double budget_ns = (double)progress->measure->budget_ns;
	const double by_budget = fmax(budget_ns - (double)runner->spent_ns, 0.0);
	const double by_pairs =
		most > runner->pairs ? (double)runner->per_pair_ns * (most - runner->pairs) : 0.0;

	if (most == 0)
		return by_budget;
	return budget_ns > 0 ? fmin(by_budget, by_pairs) : by_pairs;
}

static void describe(const struct fg_progress *progress, const struct fg_runner_progress *runner,
		     const struct fg_gate_progress *gate, struct fg_strbuf *line)
{
	char change[FG_NUMBER_TEXT_SIZE];
	char low[FG_NUMBER_TEXT_SIZE];
	char high[FG_NUMBER_TEXT_SIZE];
	char left[FG_NUMBER_TEXT_SIZE];
	const unsigned most = most_pairs(progress, runner);
	const double left_ns = most_ns_left(progress, runner);

	if (progress->total > 1)
		fg_strbuf_printf(line, "[%zu/%zu] ", progress->index, progress->total);
	fg_text_add_clean(line, runner->series->name, strlen(runner->series->name), 60);
	if (phase_words[runner->phase]) {
		fg_strbuf_printf(line, "  %s", phase_words[runner->phase]);
		return;
	}
	fg_strbuf_printf(line, "  pair %u", runner->pairs);
	if (most > 0)
		fg_strbuf_printf(line, " of at most %u", most);
	if (gate && isfinite(gate->ratio) && isfinite(gate->low) && isfinite(gate->high))
		fg_strbuf_printf(line, "  %s [%s, %s]", fg_format_change(gate->ratio - 1.0, change),
				 fg_format_change(gate->low - 1.0, low),
				 fg_format_change(gate->high - 1.0, high));
	if (runner->per_pair_ns > 0 && left_ns >= (double)FG_NS_PER_S)
		fg_strbuf_printf(line, "  at most %s left", fg_format_duration(left_ns, left));
}

void fg_progress_begin(struct fg_progress *progress, const char *benchmark)
{
	const struct fg_cli *cli = progress->cli;
	struct fg_strbuf name = {0};

	progress->drawn_ns = fg_clock_monotonic_ns();
	if (cli->quiet || cli->err_is_terminal)
		return;
	fg_text_add_clean(&name, benchmark, strlen(benchmark), 60);
	fg_cli_say(cli, "measuring %s (%zu of %zu)", fg_strbuf_text(&name), progress->index,
		   progress->total);
	fg_strbuf_release(&name);
}

void fg_progress_show(struct fg_progress *progress, const struct fg_runner_progress *runner,
		      const struct fg_gate_progress *gate)
{
	const struct fg_cli *cli = progress->cli;
	const int64_t now = fg_clock_monotonic_ns();
	const int64_t wait_ns =
		cli->err_is_terminal ? REDRAW_MS * FG_NS_PER_MS : PLAIN_LINE_S * FG_NS_PER_S;
	struct fg_strbuf line = {0};

	if (cli->quiet ||
	    (now - progress->drawn_ns < wait_ns && (progress->is_drawn || !cli->err_is_terminal)))
		return;
	describe(progress, runner, gate, &line);
	if (cli->err_is_terminal) {
		/*
		 * A character has at least one byte per column, so a cut by bytes is never too
		 * wide; it does not split characters.
		 */
		struct fg_strbuf cut = {0};

		fg_text_add_clean(&cut, fg_strbuf_text(&line), line.length,
				  cli->columns > 1 ? cli->columns - 1 : 1);
		(void)fprintf(stderr, "\r\033[K%s", fg_strbuf_text(&cut));
		(void)fflush(stderr);
		fg_strbuf_release(&cut);
		progress->is_drawn = true;
	} else {
		fg_cli_say(cli, "%s", fg_strbuf_text(&line));
	}
	progress->drawn_ns = now;
	fg_strbuf_release(&line);
}

void fg_progress_clear(struct fg_progress *progress)
{
	if (!progress->is_drawn)
		return;
	(void)fprintf(stderr, "\r\033[K");
	(void)fflush(stderr);
	progress->is_drawn = false;
}
