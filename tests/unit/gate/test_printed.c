// SPDX-License-Identifier: Apache-2.0
/*
 * Checks that the printed interval is the one that decides, for each path to a verdict. The data
 * are 5,000 windows of recorded pairs, and windows in which every pair is slower.
 */
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"
#include "tests/unit/gate/recorded_pairs.h"

#include <math.h>

enum {
	REPLAYED = 5000,
	SESSIONS = 9,
	LONGEST = 120,
};

/* The paths to a verdict. */
enum path {
	LOOKS,
	BLOCKS,
	LAYOUTS,
	UNTIL_SURE,
	INTERRUPTED,
	KEPT,
	QUICK,
	COUNTED,
	MERGED,
	STORED,
	PATHS,
};

/* Draws pairs of a recorded program against itself, unchanged or as if one side were slower. */
static size_t draw_window(struct fg_random *random, double change, size_t least, size_t most,
			  double *difference)
{
	const struct recorded *series = NULL;
	size_t count = 0;
	size_t from = 0;

	do {
		series = &recorded[fg_random_below(random, RECORDED_SERIES)];
	} while (series->count < least);
	count = least + fg_random_below(random, fg_min_size(most, series->count) - least + 1);
	from = series->begin + fg_random_below(random, series->count - count + 1);
	for (size_t i = 0; i < count; i++)
		difference[i] = log1p(change) + recorded_pairs[from + i] / 1e4;
	return count;
}

/* Adds a benchmark whose pairs differ by these values in metric number `metric`. */
static struct fg_series *add_series(struct fg_run *run, const char *name, const double *difference,
				    size_t count)
{
	struct fg_series *series = fg_run_add_series(run, name);

	series->schedule = FG_SCHEDULE_DUET;
	series->state = FG_MEASURED;
	for (size_t i = 0; i < 2 * count; i++) {
		struct fg_repetition *r = fg_series_add_repetition(series);

		r->pair = (uint32_t)(i / 2);
		r->arm = i % 2;
		r->values[FG_METRIC_CPU_TIME] = r->arm ? 1e8 * exp(difference[i / 2]) : 1e8;
		r->values[FG_METRIC_WALL_TIME] = 2e8;
		r->values[FG_METRIC_MAX_RSS] = 4194304.0;
	}
	return series;
}

/* Turns pairs into blocks of four executions: each arm twice. */
static void make_blocks(struct fg_series *series)
{
	series->schedule = FG_SCHEDULE_ABBA;
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].pair /= 2;
}

/* Turns the times into a count that may be zero: differences are shares of the count's level. */
static void count_instead(struct fg_series *series)
{
	const struct fg_metric metric = {
		.name = "faults", .label = "faults", .unit = "1", .valid_in_duet = true};
	const size_t at = fg_series_add_metric(series, &metric);

	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *r = &series->repetitions[i];

		r->values[at] = i < 2 ? 0 : round(r->values[FG_METRIC_CPU_TIME] / 1e4);
	}
}

static void measure_as(enum path path, struct fg_made *made, struct fg_series *series)
{
	static const unsigned layouts[] = {4, 8, 16};

	if (path == BLOCKS)
		make_blocks(series);
	if (path == LAYOUTS) {
		series->as_linked_metric = fg_xstrdup("");
		series->layouts = layouts[fg_random_below(&made->random, 3)];
	}
	made->measure.until_sure = path == UNTIL_SURE;
	if (path == INTERRUPTED)
		series->state = FG_INTERRUPTED;
	if (path == KEPT)
		fg_made_build_fact(series, "build.setup", "a server", "a server");
	if (path == QUICK)
		made->measure.max_pairs = 41;
	if (path == COUNTED)
		count_instead(series);
}

/* Adds earlier sessions whose levels differ like recorded pairs. */
static void add_history(struct fg_made *made, struct fg_run *runs, const struct fg_run **history)
{
	double level[SESSIONS + 1];

	(void)draw_window(&made->random, 0, SESSIONS, SESSIONS, level);
	for (size_t i = 0; i < SESSIONS; i++) {
		double same[6];

		for (size_t k = 0; k < FG_ARRAY_SIZE(same); k++)
			same[k] = level[i] + 0.001 * (double)k;
		fg_run_init(&runs[i]);
		(void)add_series(&runs[i], "parse", same, FG_ARRAY_SIZE(same));
		history[i] = &runs[i];
	}
	made->input.history = history;
	made->input.history_count = SESSIONS;
	made->input.baseline = &runs[SESSIONS - 1];
}

static void check_printed(const struct fg_policy *policy, const struct fg_metric_verdict *metric,
			  bool linear)
{
	const struct fg_metric_policy how = fg_policy_metric(policy, metric->name);
	const double low = linear ? metric->low - 1 : log(metric->low);
	const double high = linear ? metric->high - 1 : log(metric->high);
	const double estimate = linear ? metric->ratio - 1 : log(metric->ratio);
	const double near = 1e-12;
	const bool is_worse =
		low > log1p(how.tolerated) + near && estimate >= log1p(how.min_effect) - near;
	const bool is_fine = high < log1p(how.margin) - near;

	assert_true(isnan(metric->low) == isnan(metric->high));
	assert_int_equal(metric->outcome == FG_OUTCOME_REGRESSION, is_worse);
	assert_int_equal(metric->outcome == FG_OUTCOME_PASS ||
				 metric->outcome == FG_OUTCOME_IMPROVEMENT,
			 is_fine && !is_worse);
	if (metric->outcome == FG_OUTCOME_INCONCLUSIVE && isfinite(metric->smallest_detectable))
		assert_true(metric->smallest_detectable >= metric->ratio - 1 - 1e-9);
	if (metric->outcome == FG_OUTCOME_REGRESSION)
		assert_true(metric->probability.slower >= 1 - metric->alpha - 1e-9);
}

/* Benchmarks measured by other shards change nothing. */
static void check_merged(struct fg_made *made, const struct fg_metric_verdict *alone)
{
	const double low = alone->low;
	const enum fg_outcome outcome = alone->outcome;
	double other[LONGEST];
	const size_t count = draw_window(&made->random, 0.05, 5, LONGEST, other);
	const struct fg_metric_verdict *merged = NULL;

	(void)add_series(&made->run, "write", other, count);
	merged = fg_made_metric(fg_made_decide(made, "parse"), "cpu_time");
	assert_int_equal(merged->outcome, outcome);
	assert_memory_equal(&merged->low, &low, sizeof(low));
	check_printed(&made->policy, fg_made_metric(fg_made_decide(made, "write"), "cpu_time"),
		      false);
}

static void replay(enum path path, uint64_t seed, size_t outcomes[])
{
	static const double changes[] = {0, 0, 0.02, 0.05, 0.1, -0.05};
	const struct fg_run *history[SESSIONS];
	const struct fg_metric_verdict *metric = NULL;
	struct fg_run runs[SESSIONS];
	struct fg_made made;
	double difference[LONGEST];
	size_t count = 0;

	fg_made_init(&made, seed);
	made.policy.alpha = fg_random_below(&made.random, 2) ? 0.001 : 0.01;
	count = draw_window(&made.random, changes[fg_random_below(&made.random, 6)], 5, LONGEST,
			    difference);
	measure_as(path, &made, add_series(&made.run, "parse", difference, count));
	if (path == STORED)
		add_history(&made, runs, history);
	metric = fg_made_metric(fg_made_decide(&made, "parse"),
				path == COUNTED ? "faults" : "cpu_time");
	check_printed(&made.policy, metric, path == COUNTED);
	outcomes[metric->outcome]++;
	if (path == MERGED)
		check_merged(&made, metric);
	fg_made_release(&made);
	for (size_t i = 0; i < SESSIONS && path == STORED; i++)
		fg_run_release(&runs[i]);
}

FG_TEST(every_path_decides_by_the_interval_that_it_prints)
{
	size_t outcomes[FG_OUTCOME_ERROR + 1] = {0};

	for (uint64_t i = 0; i < REPLAYED; i++)
		replay((enum path)(i % PATHS), i, outcomes);
	/* The windows are varied enough. */
	assert_true(outcomes[FG_OUTCOME_REGRESSION] > REPLAYED / 20);
	assert_true(outcomes[FG_OUTCOME_PASS] > REPLAYED / 20);
	assert_true(outcomes[FG_OUTCOME_INCONCLUSIVE] > REPLAYED / 20);
}

static bool are_all_slower(const double *difference, size_t count)
{
	bool all = true;

	for (size_t i = 0; i < count; i++)
		all = all && difference[i] > 0;
	return all;
}

/*
 * Finds the first window of `count` consecutive pairs that are all slower, with one side slower by
 * `change`.
 */
static bool find_slower(struct fg_random *random, double change, size_t count, double *difference)
{
	for (int i = 0; i < 2000; i++) {
		if (draw_window(random, change, count, count, difference) == count &&
		    are_all_slower(difference, count))
			return true;
	}
	return false;
}

/*
 * All pairs within the budget are slower. From ten pairs on, the run fails: coins do that in less
 * than 0.1 % of all cases. Fewer pairs are "probably slower".
 */
FG_TEST(pairs_that_are_all_slower_fail)
{
	static const struct {
		size_t pairs;
		unsigned layouts;
		enum fg_outcome outcome;
	} rows[] = {
		{24, 0, FG_OUTCOME_REGRESSION},  {10, 0, FG_OUTCOME_REGRESSION},
		{13, 0, FG_OUTCOME_REGRESSION},  {9, 0, FG_OUTCOME_INCONCLUSIVE},
		{16, 0, FG_OUTCOME_REGRESSION},  {21, 4, FG_OUTCOME_REGRESSION},
		{41, 16, FG_OUTCOME_REGRESSION},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		for (uint64_t seed = 0; seed < 40; seed++) {
			const struct fg_metric_verdict *metric = NULL;
			struct fg_series *series = NULL;
			struct fg_made made;
			double difference[LONGEST];

			fg_made_init(&made, seed);
			made.policy.alpha = 0.001;
			made.measure.max_pairs = 41;
			assert_true(find_slower(&made.random, rows[i].layouts ? 0.3 : 0.1,
						rows[i].pairs, difference));
			series = add_series(&made.run, "parse", difference, rows[i].pairs);
			if (rows[i].layouts) {
				series->as_linked_metric = fg_xstrdup("");
				series->layouts = rows[i].layouts;
			}
			metric = fg_made_metric(fg_made_decide(&made, "parse"), "cpu_time");
			if (metric->outcome != rows[i].outcome)
				fail_msg("%zu of %zu, %u layouts, seed %d: [%g, %g]", rows[i].pairs,
					 rows[i].pairs, rows[i].layouts, (int)seed, metric->low,
					 metric->high);
			assert_true(metric->probability.slower >= 0.998);
			fg_made_release(&made);
		}
	}
}

/* Recorded without a shift: a program that does 5 % more, on a host with a load of 11 to 25. */
FG_TEST(recorded_programs_that_do_more_fail_and_never_pass)
{
	size_t failed = 0;
	size_t passed = 0;
	size_t count = 0;

	for (size_t i = 0; i < RECORDED_SLOWER; i++) {
		const struct recorded *series = &recorded_slower[i];
		double difference[LONGEST];
		struct fg_made made;
		enum fg_outcome outcome = FG_OUTCOME_PASS;

		for (size_t k = 0; k < series->count; k++)
			difference[k] = recorded_pairs[series->begin + k] / 1e4;
		fg_made_init(&made, i);
		made.policy.alpha = 0.001;
		(void)add_series(&made.run, "parse", difference, series->count);
		outcome = fg_made_metric(fg_made_decide(&made, "parse"), "cpu_time")->outcome;
		failed += outcome == FG_OUTCOME_REGRESSION;
		passed += outcome == FG_OUTCOME_PASS;
		count++;
		fg_made_release(&made);
	}
	assert_int_equal(passed, 0);
	assert_true(2 * failed > count);
}
