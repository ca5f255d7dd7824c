// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/observe.h"
#include "tests/support/fg_test.h"

#include <math.h>

static const char stat_text[] = "cpu  100 1 50 800 5 1 2 41 7 0\n"
				"cpu0 50 0 25 400 5 1 1 18 7 0\n"
				"cpu1 50 1 25 400 0 0 1 23 0 0\n"
				"intr 1 2 3\n";

FG_TEST(steal_is_read_for_all_cpus_and_for_one)
{
	uint64_t stolen = 0;
	uint64_t all = 0;

	assert_true(fg_observe_parse_stat(stat_text, -1, &stolen, &all));
	assert_int_equal(stolen, 41);
	assert_int_equal(all, 1000);
	assert_true(fg_observe_parse_stat(stat_text, 1, &stolen, &all));
	assert_int_equal(stolen, 23);
	assert_int_equal(all, 500);
}

FG_TEST(a_cpu_that_is_not_there_or_a_broken_line_is_refused)
{
	uint64_t stolen = 7;
	uint64_t all = 7;

	assert_false(fg_observe_parse_stat(stat_text, 9, &stolen, &all));
	assert_false(fg_observe_parse_stat("cpu  1 2 three\n", -1, &stolen, &all));
	assert_false(fg_observe_parse_stat("", -1, &stolen, &all));
	assert_int_equal(stolen, 7);
}

FG_TEST(shares_are_differences_and_unknown_is_nan)
{
	const struct fg_observation before = {
		.at_ns = 0, .stolen_ticks = 10, .all_ticks = 100, .pressure_us = 1000};
	const struct fg_observation after = {
		.at_ns = 10000000, .stolen_ticks = 15, .all_ticks = 120, .pressure_us = 3500};
	const struct fg_observation blind = {.at_ns = 10000000, .pressure_us = UINT64_MAX};

	assert_true(fabs(fg_observed_steal(&before, &after) - 0.25) < 1e-12);
	assert_true(fabs(fg_observed_pressure(&before, &after) - 0.25) < 1e-12);
	assert_true(fg_observed_steal(&before, &before) == 0);
	assert_true(isnan(fg_observed_steal(&before, &blind)));
	assert_true(isnan(fg_observed_pressure(&before, &blind)));
}

FG_TEST(this_machine_can_be_observed)
{
	struct fg_observer observer;
	struct fg_observation observation;

	fg_observer_init(&observer, "");
	fg_observe(&observer, -1, &observation);
	assert_true(observation.all_ticks > 0);
	assert_true(observation.load >= 0);
	fg_observer_release(&observer);
	fg_observe(&observer, -1, &observation); /* a closed descriptor is like a missing file */
	assert_int_equal(observation.all_ticks, 0);
	assert_true(isnan(observation.load));
}
