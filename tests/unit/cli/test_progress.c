// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "cli/session/session.h"
#include "tests/support/fg_test.h"

#include <math.h>
#include <unistd.h>

enum {
	SHOWN_SIZE = 1000
};

static const struct fg_cli terminal = {.err_is_terminal = true, .columns = 200};
static const struct fg_cli quiet = {.err_is_terminal = true, .columns = 200, .quiet = true};
static const struct fg_cli piped = {.columns = 80};
static const struct fg_series parse = {.name = (char *)"parse"};
static const struct fg_measuring measure = {
	.min_pairs = 10, .max_pairs = 40, .budget_ns = 300 * FG_NS_PER_S};
static const struct fg_gate_progress slower = {.ratio = 1.048, .low = 1.031, .high = 1.066};

/* Captures standard error. */
static const char *shown_by(struct fg_progress *progress, const struct fg_runner_progress *runner,
			    const struct fg_gate_progress *gate)
{
	static char text[SHOWN_SIZE];
	FILE *file = tmpfile();
	const int saved = dup(STDERR_FILENO);
	size_t size = 0;

	assert_non_null(file);
	(void)fflush(stderr);
	assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	fg_progress_show(progress, runner, gate);
	(void)fflush(stderr);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	(void)close(saved);
	rewind(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	(void)fclose(file);
	return text;
}

static struct fg_progress progress_of(const struct fg_cli *cli)
{
	return (struct fg_progress){
		.cli = cli, .index = 2, .total = 3, .measure = &measure, .is_paired = true};
}

FG_TEST(a_line_has_the_name_pairs_estimate_and_time_left)
{
	struct fg_progress progress = progress_of(&terminal);
	const struct fg_runner_progress runner = {.series = &parse,
						  .phase = FG_RUNNER_MEASURE,
						  .pairs = 7,
						  .per_pair_ns = FG_NS_PER_S,
						  .spent_ns = 7 * FG_NS_PER_S};

	assert_string_equal(shown_by(&progress, &runner, &slower),
			    "\r\033[K[2/3] parse  pair 7 of at most 40  +4.8 % [+3.1 %, +6.6 %]  "
			    "at most 33.0 s left");
}

FG_TEST(unknown_progress_is_left_out)
{
	struct fg_progress progress = progress_of(&terminal);
	struct fg_progress before = progress_of(&terminal);
	const struct fg_gate_progress early = {
		.ratio = (double)NAN, .low = (double)NAN, .high = (double)NAN};
	struct fg_runner_progress runner = {.series = &parse, .phase = FG_RUNNER_MEASURE};

	assert_string_equal(shown_by(&progress, &runner, &early),
			    "\r\033[K[2/3] parse  pair 0 of at most 40");
	runner.phase = FG_RUNNER_WARMUP;
	assert_string_equal(shown_by(&before, &runner, &early), "\r\033[K[2/3] parse  warm-up");
}

FG_TEST(a_pipe_gets_progress_now_and_then_and_nothing_with_quiet)
{
	struct fg_progress now = progress_of(&piped);
	struct fg_progress later = progress_of(&piped);
	struct fg_progress silent = progress_of(&quiet);
	const struct fg_runner_progress runner = {
		.series = &parse, .phase = FG_RUNNER_MEASURE, .pairs = 7};

	now.drawn_ns = fg_clock_monotonic_ns();
	assert_string_equal(shown_by(&now, &runner, &slower), "");
	later.drawn_ns = fg_clock_monotonic_ns() - 60 * FG_NS_PER_S;
	assert_non_null(strstr(shown_by(&later, &runner, &slower), "pair 7 of at most 40"));
	assert_null(strstr(shown_by(&later, &runner, &slower), "\033"));
	assert_string_equal(shown_by(&silent, &runner, &slower), "");
}
