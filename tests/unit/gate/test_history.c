// SPDX-License-Identifier: Apache-2.0
#include "gate/history.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

#define RUNS 40

static struct fg_run runs[RUNS];
static const struct fg_run *pointers[RUNS];

static void make_run(size_t at, double level, const char *cpu, struct fg_random *random)
{
	struct fg_series *series;

	fg_run_init(&runs[at]);
	pointers[at] = &runs[at];
	fg_environment_set(&runs[at].host, "host.cpu.model", cpu, true);
	series = fg_run_add_series(&runs[at], "parse");
	series->state = FG_MEASURED;
	for (uint32_t i = 0; i < 5; i++) {
		struct fg_repetition *r = fg_series_add_repetition(series);

		r->pair = i;
		r->arm = FG_ARM_CANDIDATE;
		r->values[FG_METRIC_CPU_TIME] = level * exp(0.01 * fg_random_normal(random));
	}
}

static void drop_runs(void)
{
	for (size_t i = 0; i < RUNS; i++)
		fg_run_release(&runs[i]);
}

static void a_slowdown_that_lasts_is_a_change_for_the_worse(void **state)
{
	struct fg_trend_options options = {.benchmark = "parse", .metric = "cpu_time", .seed = 1};
	struct fg_trend trend = {0};
	struct fg_random random;

	(void)state;
	fg_random_seed(&random, 3);
	for (size_t i = 0; i < RUNS; i++)
		make_run(i, i < 25 ? 1e8 : 1.1e8, "one", &random);
	assert_int_equal(fg_trend_build(pointers, RUNS, &options, &trend, NULL), FG_OK);
	assert_int_equal(trend.point_count, RUNS);
	assert_int_equal(trend.environment_count, 1);
	assert_int_equal(trend.change_count, 1);
	assert_int_equal(trend.changes[0].point, 25);
	assert_true(trend.changes[0].worse);
	assert_true(fabs(trend.changes[0].ratio - 1.1) < 0.01);
	assert_true(trend.points[3].low <= trend.points[3].value);
	fg_trend_release(&trend);
	drop_runs();
}

static void another_host_is_another_line_not_a_change(void **state)
{
	struct fg_trend_options options = {.benchmark = "parse", .metric = "cpu_time", .seed = 1};
	struct fg_trend trend = {0};
	struct fg_random random;

	(void)state;
	fg_random_seed(&random, 4);
	for (size_t i = 0; i < RUNS; i++)
		make_run(i, i < 20 ? 1e8 : 2e8, i < 20 ? "one" : "two", &random);
	assert_int_equal(fg_trend_build(pointers, RUNS, &options, &trend, NULL), FG_OK);
	assert_int_equal(trend.environment_count, 2);
	assert_int_equal(trend.change_count, 0);
	fg_trend_release(&trend);
	drop_runs();
}

static void an_unknown_metric_is_said(void **state)
{
	struct fg_trend_options options = {.benchmark = "parse", .metric = "cpu_time", .seed = 1};
	struct fg_trend trend = {.point_count = 77};
	struct fg_error err = {0};
	struct fg_random random;

	(void)state;
	fg_random_seed(&random, 5);
	for (size_t i = 0; i < RUNS; i++)
		make_run(i, 1e8, "one", &random);
	options.metric = "speed";
	options.metric = "speed";
	assert_int_equal(fg_trend_build(pointers, RUNS, &options, &trend, &err), FG_ENOENT);
	options.metric = "cpu_time";
	options.benchmark = "other";
	assert_int_equal(fg_trend_build(pointers, RUNS, &options, &trend, &err), FG_ENOENT);
	options.benchmark = "parse";
	assert_int_equal(fg_trend_build(pointers, 0, &options, &trend, &err), FG_ENOENT);
	assert_int_equal(trend.point_count, 77);
	drop_runs();
}

static void plain_numbers_with_zeros_and_bad_ones_have_an_outcome(void **state)
{
	struct fg_trend_options options = {.benchmark = "parse", .metric = "cpu_time", .seed = 1};
	struct fg_trend_change *changes = NULL;
	size_t environments[RUNS] = {0};
	double values[RUNS];
	struct fg_trend_series series = {.values = values,
					 .environments = environments,
					 .count = RUNS,
					 .better = FG_BETTER_HIGHER};
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < RUNS; i++)
		values[i] = i < 20 ? 0.0 : 3.0;
	assert_int_equal(fg_trend_changes(&series, &options, &changes, &count, NULL), FG_OK);
	assert_int_equal(count, 1);
	assert_int_equal(changes[0].point, 20);
	assert_false(changes[0].worse);
	assert_true(isnan(changes[0].ratio));
	free(changes);
	values[4] = (double)NAN;
	assert_int_equal(fg_trend_changes(&series, &options, &changes, &count, NULL), FG_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slowdown_that_lasts_is_a_change_for_the_worse),
		cmocka_unit_test(another_host_is_another_line_not_a_change),
		cmocka_unit_test(an_unknown_metric_is_said),
		cmocka_unit_test(plain_numbers_with_zeros_and_bad_ones_have_an_outcome),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
