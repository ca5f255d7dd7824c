// SPDX-License-Identifier: Apache-2.0
#include "model/run.h"
#include "model/verdict.h"
#include "tests/support/fg_test.h"

#include <math.h>

FG_TEST(series_begins_with_the_built_in_metrics)
{
	struct fg_series series;

	fg_series_init(&series, "parse");
	assert_int_equal(series.metric_count, FG_METRIC_BUILTIN_COUNT);
	assert_int_equal(fg_series_find_metric(&series, "max_rss"), FG_METRIC_MAX_RSS);
	assert_true(fg_series_find_metric(&series, "nope") == SIZE_MAX);
	fg_series_release(&series);
}

FG_TEST(late_metric_is_unknown_in_earlier_repetitions)
{
	const struct fg_metric mine = {.name = "rate", .unit = "1/s", .better = FG_BETTER_HIGHER};
	struct fg_series series;
	struct fg_repetition *repetition = NULL;
	size_t index = 0;

	fg_series_init(&series, "parse");
	repetition = fg_series_add_repetition(&series);
	repetition->pair = 4;
	repetition->values[FG_METRIC_CPU_TIME] = 1.0;
	index = fg_series_add_metric(&series, &mine);
	assert_true(isnan(series.repetitions[0].values[index]));
	assert_true(series.repetitions[0].values[FG_METRIC_CPU_TIME] == 1.0);
	assert_string_equal(series.metrics[index].label, "rate");
	assert_int_equal(fg_series_pair_end(&series), 5);
	fg_series_release(&series);
}

/* Some values are of the other arm, set aside, or not measured. */
FG_TEST(median_is_of_the_values_that_count)
{
	static const struct {
		enum fg_arm arm;
		uint16_t aside;
		double value;
	} rows[] = {
		{FG_ARM_CANDIDATE, 0, 8.0},
		{FG_ARM_BASELINE, 0, 100.0},
		{FG_ARM_CANDIDATE, FG_ASIDE_WARMUP, 900.0},
		{FG_ARM_CANDIDATE, 0, (double)NAN},
		{FG_ARM_CANDIDATE, 0, (double)INFINITY},
		{FG_ARM_CANDIDATE, 0, 2.0},
		{FG_ARM_BASELINE, FG_ASIDE_UNPAIRED, 1.0},
		{FG_ARM_CANDIDATE, 0, 5.0},
	};
	struct fg_series series;
	double *values = NULL;
	size_t count = 0;

	fg_series_init(&series, "parse");
	assert_true(isnan(fg_series_median(&series, FG_METRIC_CPU_TIME, FG_ARM_CANDIDATE, &count)));
	assert_int_equal(count, 0);
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_repetition *repetition = fg_series_add_repetition(&series);

		repetition->arm = (uint8_t)rows[i].arm;
		repetition->aside = rows[i].aside;
		repetition->values[FG_METRIC_CPU_TIME] = rows[i].value;
	}
	assert_true(fg_series_median(&series, FG_METRIC_CPU_TIME, FG_ARM_CANDIDATE, &count) == 5.0);
	assert_int_equal(count, 3);
	assert_true(fg_series_median(&series, FG_METRIC_CPU_TIME, FG_ARM_BASELINE, NULL) == 100.0);
	values = fg_series_values(&series, FG_METRIC_CPU_TIME, FG_ARM_CANDIDATE, &count);
	assert_int_equal(count, 3);
	assert_true(values[0] == 8.0 && values[1] == 2.0 && values[2] == 5.0);
	free(values);
	fg_series_release(&series);
}

FG_TEST(worst_outcome_decides_the_whole)
{
	enum fg_outcome outcome = FG_OUTCOME_PASS;

	assert_int_equal(fg_outcome_worse(FG_OUTCOME_REGRESSION, FG_OUTCOME_INCONCLUSIVE),
			 FG_OUTCOME_REGRESSION);
	assert_int_equal(fg_outcome_worse(FG_OUTCOME_REGRESSION, FG_OUTCOME_ERROR),
			 FG_OUTCOME_ERROR);
	assert_int_equal(fg_outcome_worse(FG_OUTCOME_PASS, FG_OUTCOME_IMPROVEMENT),
			 FG_OUTCOME_IMPROVEMENT);
	assert_int_equal(fg_outcome_worse(FG_OUTCOME_IMPROVEMENT, FG_OUTCOME_INCONCLUSIVE),
			 FG_OUTCOME_INCONCLUSIVE);
	for (int i = FG_OUTCOME_PASS; i <= FG_OUTCOME_ERROR; i++) {
		assert_true(fg_outcome_parse(fg_outcome_name((enum fg_outcome)i), &outcome));
		assert_int_equal(outcome, i);
	}
	assert_false(fg_outcome_parse("splendid", &outcome));
}

FG_TEST(an_imported_profile_has_no_metrics)
{
	struct fg_run run;

	fg_run_init(&run);
	assert_true(fg_series_is_profile(fg_run_add_profile(&run, "recorded")));
	assert_false(fg_series_is_profile(fg_run_add_series(&run, "measured")));
	assert_int_equal(fg_run_find(&run, "recorded")->state, FG_MEASURED);
	(void)fg_series_add_repetition(fg_run_find(&run, "recorded"));
	fg_run_release(&run);
}
