// SPDX-License-Identifier: Apache-2.0
/* Converts repetitions into differences of pairs, and counts the excluded ones. */
#include "gate/pairs.h"
#include "model/run.h"
#include "tests/unit/statistics/close.h"

static struct fg_run run;
static struct fg_series *series;
static size_t metric;
static struct fg_pairs pairs;

static void add_metric(const char *unit, enum fg_better better)
{
	const struct fg_metric what = {
		.name = "own", .label = "own", .unit = unit, .better = better};

	metric = fg_series_add_metric(series, &what);
}

static int begin(void **state)
{
	(void)state;
	fg_run_init(&run);
	series = fg_run_add_series(&run, "parse");
	add_metric("1", FG_BETTER_LOWER);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_pairs_release(&pairs);
	fg_run_release(&run);
	return 0;
}

static struct fg_repetition *add(uint32_t pair, uint8_t arm, double value)
{
	struct fg_repetition *r = fg_series_add_repetition(series);

	r->pair = pair;
	r->arm = arm;
	r->values[metric] = value;
	return r;
}

static void add_pair(uint32_t pair, double baseline, double candidate)
{
	(void)add(pair, FG_ARM_BASELINE, baseline);
	(void)add(pair, FG_ARM_CANDIDATE, candidate);
}

FG_TEST_IN(a_difference_is_that_of_the_logarithms, begin, end)
{
	add_pair(3, 100, 200);
	add_pair(1, 100, 50);
	/* A block of four: geometric means of 2 and 8, and of 4 and 16. */
	(void)add(2, FG_ARM_BASELINE, 2);
	(void)add(2, FG_ARM_CANDIDATE, 4);
	(void)add(2, FG_ARM_CANDIDATE, 16);
	(void)add(2, FG_ARM_BASELINE, 8);
	fg_pairs_collect(series, metric, &pairs);
	assert_int_equal(pairs.count, 3);
	assert_near(pairs.difference[0], -log(2), 1e-12);
	assert_near(pairs.difference[1], log(2), 1e-12);
	assert_near(pairs.difference[2], log(2), 1e-12);
	assert_close(pairs.baseline[1], 4, 1e-12);
	assert_close(pairs.candidate[1], 8, 1e-12);
	assert_close(pairs.baseline[2], 100, 1e-12);
	assert_false(pairs.linear);
	assert_null(pairs.layout);
	assert_int_equal(pairs.set_aside + pairs.unpaired + pairs.no_number + pairs.no_ratio, 0);
	fg_pairs_release(&pairs);
	assert_null(pairs.difference);
}

FG_TEST_IN(positive_is_worse_whatever_is_better, begin, end)
{
	add_metric("1/s", FG_BETTER_HIGHER);
	add_pair(0, 100, 200);
	add_pair(1, 100, 50);
	fg_pairs_collect(series, metric, &pairs);
	assert_near(pairs.difference[0], -log(2), 1e-12);
	assert_near(pairs.difference[1], log(2), 1e-12);
}

FG_TEST_IN(a_count_may_be_zero_and_a_time_may_not, begin, end)
{
	static const struct {
		const char *unit;
		bool is_time;
	} rows[] = {{"ns", true}, {"us", true}, {"ms", true},
		    {"s", true},  {"1", false}, {"bytes", false}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		add_metric(rows[i].unit, FG_BETTER_LOWER);
		add_pair(0, 0, 30);
		add_pair(1, 10, 20);
		add_pair(2, 20, -20);
		fg_pairs_collect(series, metric, &pairs);
		assert_int_equal(pairs.no_ratio, 2);
		assert_int_equal(pairs.linear, !rows[i].is_time);
		assert_int_equal(pairs.count, rows[i].is_time ? 1 : 3);
		if (rows[i].is_time) {
			assert_near(pairs.difference[0], log(2), 1e-12);
		} else {
			/* 15, 15 and 20 are the levels of the pairs. */
			assert_near(pairs.difference[0], 30.0 / (50.0 / 3), 1e-12);
			assert_near(pairs.difference[1], 10.0 / (50.0 / 3), 1e-12);
			assert_near(pairs.difference[2], -40.0 / (50.0 / 3), 1e-12);
			assert_near(pairs.baseline[1], 10, 1e-12);
			assert_near(pairs.candidate[2], -20, 1e-12);
		}
		(void)end(state);
		(void)begin(state);
	}
}

FG_TEST_IN(counts_that_are_all_zero_do_not_differ, begin, end)
{
	add_pair(0, 0, 0);
	add_pair(1, 0, 0);
	fg_pairs_collect(series, metric, &pairs);
	assert_int_equal(pairs.count, 2);
	assert_near(pairs.difference[0], 0, 0);
	assert_near(pairs.difference[1], 0, 0);
}

/* The level is half a fault, so a difference of one fault is twice the level. */
FG_TEST_IN(a_level_may_be_below_one, begin, end)
{
	add_pair(0, 0, 1);
	add_pair(1, 1, 0);
	fg_pairs_collect(series, metric, &pairs);
	assert_int_equal(pairs.count, 2);
	assert_near(pairs.difference[0], 2, 1e-12);
	assert_near(pairs.difference[1], -2, 1e-12);
}

/* Only the first applicable reason is counted. */
FG_TEST_IN(each_pair_that_is_left_out_is_counted_once, begin, end)
{
	add_metric("ns", FG_BETTER_LOWER);
	add_pair(0, 10, 20);
	add(1, 0, 10)->aside = FG_ASIDE_OVERLAP; /* a pair that was meant to count */
	add(1, 1, 10)->aside = FG_ASIDE_OVERLAP;
	add(2, 0, 10)->aside = FG_ASIDE_GIVEN_UP;
	add(2, 1, 10)->aside = FG_ASIDE_GIVEN_UP;
	add(3, 0, 10)->aside = FG_ASIDE_GIVEN_UP | FG_ASIDE_OVERLAP;
	add(3, 1, 10)->aside = FG_ASIDE_GIVEN_UP | FG_ASIDE_OVERLAP;
	add(4, 0, 10)->aside = FG_ASIDE_WARMUP; /* a pair that was never meant to count */
	add(4, 1, 10)->aside = FG_ASIDE_WARMUP;
	add_pair(5, (double)NAN, 10);
	add_pair(6, 10, (double)INFINITY);
	(void)add(7, 0, 10);
	add_pair(8, 10, 10);
	(void)add(8, 1, 10);
	add_pair(9, 0, 10);
	add(10, 0, 0)->aside = FG_ASIDE_STEAL; /* "set aside" comes before "no ratio" */
	(void)add(10, 1, 10);
	add_pair(11, 10, 10);
	(void)add(11, 2, 900); /* a third arm */
	fg_pairs_collect(series, metric, &pairs);
	assert_int_equal(pairs.count, 2);
	assert_int_equal(pairs.set_aside, 4);
	assert_int_equal(pairs.given_up, 1);
	assert_int_equal(pairs.no_number, 2);
	assert_int_equal(pairs.unpaired, 2);
	assert_int_equal(pairs.no_ratio, 1);
}

FG_TEST_IN(pairs_take_the_layouts_in_turn, begin, end)
{
	static const uint32_t numbers[] = {0, 1, 2, 3, 5, 6};
	static const uint8_t layouts[] = {0, 1, 2, 3, 1, 2};
	series->as_linked_metric = fg_xstrdup("own");
	for (size_t i = 0; i < FG_ARRAY_SIZE(numbers); i++)
		add_pair(numbers[i], 10, 20);
	fg_pairs_collect(series, metric, &pairs);
	assert_memory_equal(pairs.layout, layouts, sizeof(layouts));
}

FG_TEST_IN(pair_numbers_beyond_the_limit_are_ignored, begin, end)
{
	assert_int_equal(fg_pair_end(series), 0);
	add_pair(2, 10, 20);
	assert_int_equal(fg_pair_end(series), 3);
	add_pair(FG_PAIR_NUMBERS_MAX - 1, 10, 20);
	add_pair(FG_PAIR_NUMBERS_MAX, 10, 20);
	assert_int_equal(fg_pair_end(series), FG_PAIR_NUMBERS_MAX);
	fg_pairs_collect(series, metric, &pairs);
	assert_int_equal(pairs.count, 2);
	add(FG_PAIR_NUMBERS_MAX, 0, 10)->aside = FG_ASIDE_STEAL;
	assert_int_equal(fg_count_set_aside(series).all, 0);
}

FG_TEST_IN(excluded_pairs_are_counted_by_reason, begin, end)
{
	struct fg_set_aside found;

	add(1, 0, 10)->aside = FG_ASIDE_OVERLAP;
	add_pair(0, 10, 20);
	(void)add(1, 1, 10);
	add(2, 0, 10)->aside = FG_ASIDE_STEAL;
	add(2, 1, 10)->aside = FG_ASIDE_OVERLAP;
	add(3, 0, 10)->aside = FG_ASIDE_WARMUP;
	add(4, 0, 10)->aside = FG_ASIDE_TRIAL | FG_ASIDE_OVERLAP;
	found = fg_count_set_aside(series);
	assert_int_equal(found.meant, 3);
	assert_int_equal(found.all, 2);
	assert_int_equal(found.apart, 2);
	assert_int_equal(found.stolen, 1);
}
