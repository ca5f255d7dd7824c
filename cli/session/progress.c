// SPDX-License-Identifier: Apache-2.0
#include "cli/session/progress.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"

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

/*
 * Upper bound of the remaining time: the pairs up to the last look, or the budget, whichever ends
 * first.
 */
static double seconds_left(const struct fg_progress *progress,
			   const struct fg_runner_progress *runner)
{
	const double pair_s = (double)runner->per_pair_ns / 1e9;
	const unsigned missing =
		runner->wanted > runner->pairs ? runner->wanted - runner->pairs : 0;
	const double by_pairs = pair_s * missing;
	const double by_budget = (double)(progress->budget_ns - runner->spent_ns) / 1e9;

	return progress->budget_ns > 0 && by_budget < by_pairs ? fmax(by_budget, 0.0) : by_pairs;
}

static void describe(const struct fg_progress *progress, const struct fg_runner_progress *runner,
		     const struct fg_gate_progress *gate, struct fg_strbuf *line)
{
	char change[FG_NUMBER_TEXT_SIZE];
	char low[FG_NUMBER_TEXT_SIZE];
	char high[FG_NUMBER_TEXT_SIZE];
	char left[FG_NUMBER_TEXT_SIZE];

	if (progress->total > 1)
		fg_strbuf_printf(line, "[%zu/%zu] ", progress->index, progress->total);
	fg_text_add_clean(line, runner->series->name, strlen(runner->series->name), 60);
	if (phase_words[runner->phase]) {
		fg_strbuf_printf(line, "  %s", phase_words[runner->phase]);
		return;
	}
	fg_strbuf_printf(line, "  pair %u", runner->pairs);
	if (gate && isfinite(gate->ratio) && isfinite(gate->low) && isfinite(gate->high))
		fg_strbuf_printf(line, "  %s [%s, %s]", fg_format_change(gate->ratio - 1.0, change),
				 fg_format_change(gate->low - 1.0, low),
				 fg_format_change(gate->high - 1.0, high));
	if (runner->per_pair_ns > 0 && runner->wanted > runner->pairs)
		fg_strbuf_printf(line, "  next look in %s",
				 fg_format_duration(seconds_left(progress, runner) * 1e9, left));
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
		/* Cutting by bytes never leaves too many columns, and never splits a character. */
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
