// SPDX-License-Identifier: Apache-2.0
#include "gate/next_step.h"
#include "tests/support/fg_test.h"

#include <math.h>

enum {
	PAIRS = 10,
	MANY = 1000,
};

static struct fg_profile_set set;
static struct fg_run run;

/*
 * Ten pairs of 80 samples. One function has `largest` of the samples, half of which are in the
 * library that it calls; another function has all other samples.
 */
static void make(unsigned largest)
{
	const struct fg_profile_function functions[] = {
		{.name = "large", .library = "program"},
		{.name = "small", .library = "program"},
		{.name = "memcmp", .library = "libc.so.6"},
	};
	const unsigned samples[] = {largest / 2, 80 - largest, largest - largest / 2};
	uint32_t nodes[FG_ARRAY_SIZE(functions)];

	fg_profile_set_release(&set);
	fg_profile_set_init(&set, "program");
	for (size_t i = 0; i < FG_ARRAY_SIZE(functions); i++)
		nodes[i] = fg_profile_set_node(&set, i == 2 ? nodes[0] : 0,
					       fg_profile_set_function(&set, &functions[i]));
	for (unsigned pair = 0; pair < PAIRS; pair++) {
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			struct fg_profile_row *row =
				fg_profile_set_add_row(&set, FG_ARRAY_SIZE(functions));

			row->arm = arm;
			row->pair = pair;
			for (size_t i = 0; i < FG_ARRAY_SIZE(functions); i++) {
				row->nodes[i] = nodes[i];
				row->samples[i] = samples[i];
			}
		}
	}
}

/* Returns the pairs needed for a change to `ratio`, in this profile. */
static unsigned pairs_of(double ratio, unsigned most)
{
	struct fg_series *series;

	fg_run_release(&run);
	fg_run_init(&run);
	series = fg_run_add_series(&run, "program");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_set(&series->build[arm], "build.library.libc.so.6", "abcd");
	return fg_naming_pairs(&set, series, ratio, PAIRS, most);
}

static unsigned pairs_for(unsigned largest, double ratio, unsigned most)
{
	make(largest);
	return pairs_of(ratio, most);
}

FG_TEST(a_small_change_takes_more_pairs_the_larger_the_function_is)
{
	/* sqrt(2 * 0.5 * 80 * 20) = 40 samples; a tenth of 80 * 20 is 160, four times as many. */
	assert_int_equal(pairs_for(40, 1.1, MANY), 20);
	assert_int_equal(pairs_for(60, 1.1, MANY), 30);
	assert_int_equal(pairs_for(40, 1.08, MANY), 32);
}

FG_TEST(enough_is_enough)
{
	assert_int_equal(pairs_for(40, 1.2, MANY), 0);
	assert_int_equal(pairs_for(40, 0.9, MANY), 0);
	assert_int_equal(pairs_for(40, 1, MANY), 0);
	assert_int_equal(pairs_for(40, NAN, MANY), 0);
}

/* 40 samples of the largest function, and a test needs 50 and two standard deviations: 64. */
FG_TEST(a_large_change_takes_the_samples_that_a_test_needs)
{
	make(2);
	for (size_t i = 0; i < set.row_count; i++)
		set.rows[i].samples[1] = 1;
	assert_int_equal(pairs_of(2, MANY), 17);
}

FG_TEST(it_never_takes_much_longer_than_the_verdict_did)
{
	assert_int_equal(pairs_for(40, 1.01, MANY), 4 * PAIRS);
	assert_int_equal(pairs_for(40, 1.01, 25), 25);
	assert_int_equal(pairs_for(40, 1.01, PAIRS), 0);
}

FG_TEST(only_samples_of_time_in_executions_that_count_are_counted)
{
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");

	for (int how = 0; how < 2; how++) {
		struct fg_profile_row *row;

		make(40);
		row = fg_profile_set_add_row(&set, 1);
		row->nodes[0] = 1;
		row->samples[0] = 100000;
		if (how == 0)
			row->aside = FG_ASIDE_WARMUP;
		else
			row->measure = fg_profile_set_measure(&set, &bytes);
		assert_int_equal(pairs_of(1.1, MANY), 20);
	}
}

/* 32 * 0.5 * 20 / (0.01 * 19 * 80) */
FG_TEST(an_execution_without_samples_is_one)
{
	make(40);
	set.rows[0].count = 0;
	set.rows[0].samples[0] = 100000; /* does not count */
	assert_int_equal(pairs_of(1.1, MANY), 22);
	make(40);
	set.rows[2 * PAIRS - 1].count = 0;
	assert_int_equal(pairs_of(1.1, MANY), 22);
}

FG_TEST(one_sample_is_enough_to_ask_for_more)
{
	make(40);
	for (size_t i = 0; i < set.row_count; i++)
		set.rows[i].count = 0;
	set.rows[3].count = 1;
	set.rows[3].samples[0] = 1;
	assert_int_equal(pairs_of(1.1, MANY), 4 * PAIRS);
}

FG_TEST(samples_without_a_stack_may_be_most)
{
	make(20);
	for (size_t i = 0; i < set.row_count; i++)
		set.rows[i].nodes[1] = 0;
	assert_int_equal(pairs_of(1.1, MANY), 30);
}

FG_TEST(without_samples_nothing_is_to_be_named)
{
	fg_profile_set_release(&set);
	fg_profile_set_init(&set, "program");
	assert_int_equal(pairs_of(1.1, MANY), 0);
}
