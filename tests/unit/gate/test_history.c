// SPDX-License-Identifier: Apache-2.0
#include "gate/history.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

#define RUNS 40

static struct fg_run runs[RUNS];
static const struct fg_run *pointers[RUNS];
static struct fg_trend trend;

/* Finds the changes of `count` runs, and drops the previous ones. */
static void find(size_t count)
{
	const struct fg_trend_options options = {
		.benchmark = "parse", .metric = "cpu_time", .seed = 1};

	fg_trend_release(&trend);
	assert_int_equal(fg_trend_build(pointers, count, &options, &trend, NULL), FG_OK);
}

/* Begins run number `at`, without repetitions. */
static struct fg_series *begin_run(size_t at, const char *cpu)
{
	fg_run_release(&runs[at]);
	fg_run_init(&runs[at]);
	pointers[at] = &runs[at];
	fg_environment_set(&runs[at].host, "host.cpu.model", cpu, true);
	return fg_run_add_series(&runs[at], "parse");
}

static void make_run(size_t at, double level, const char *cpu, struct fg_random *random)
{
	struct fg_series *series = begin_run(at, cpu);

	series->state = FG_MEASURED;
	for (uint32_t i = 0; i < 5; i++) {
		struct fg_repetition *r = fg_series_add_repetition(series);

		r->pair = i;
		r->arm = FG_ARM_CANDIDATE;
		r->values[FG_METRIC_CPU_TIME] = level * exp(0.01 * fg_random_normal(random));
	}
}

FG_TEST(a_slowdown_that_lasts_is_a_change_for_the_worse)
{
	struct fg_random random;

	fg_random_seed(&random, 3);
	for (size_t i = 0; i < RUNS; i++)
		make_run(i, i < 25 ? 1e8 : 1.1e8, "one", &random);
	find(RUNS);
	assert_int_equal(trend.point_count, RUNS);
	assert_int_equal(trend.environment_count, 1);
	assert_int_equal(trend.change_count, 1);
	assert_int_equal(trend.changes[0].point, 25);
	assert_true(trend.changes[0].worse);
	assert_true(fabs(trend.changes[0].ratio - 1.1) < 0.01);
	assert_true(trend.points[3].low <= trend.points[3].value);
}

FG_TEST(another_host_is_another_line_not_a_change)
{
	struct fg_random random;

	fg_random_seed(&random, 4);
	for (size_t i = 0; i < RUNS; i++)
		make_run(i, i < 20 ? 1e8 : 2e8, i < 20 ? "one" : "two", &random);
	find(RUNS);
	assert_int_equal(trend.environment_count, 2);
	assert_int_equal(trend.change_count, 0);
}

FG_TEST(an_unknown_metric_is_reported)
{
	struct fg_trend_options options = {.benchmark = "parse", .metric = "cpu_time", .seed = 1};
	struct fg_trend untouched = {.point_count = 77};
	struct fg_error err = {0};
	struct fg_random random;

	fg_random_seed(&random, 5);
	for (size_t i = 0; i < RUNS; i++)
		make_run(i, 1e8, "one", &random);
	options.metric = "speed";
	assert_int_equal(fg_trend_build(pointers, RUNS, &options, &untouched, &err), FG_ENOENT);
	options.metric = "cpu_time";
	options.benchmark = "other";
	assert_int_equal(fg_trend_build(pointers, RUNS, &options, &untouched, &err), FG_ENOENT);
	options.benchmark = "parse";
	assert_int_equal(fg_trend_build(pointers, 0, &options, &untouched, &err), FG_ENOENT);
	assert_int_equal(untouched.point_count, 77);
}

/* Makes a run on `host` with these CPU times, and one more repetition that is set aside. */
static void make_repetitions(size_t at, const char *host, const double *values, size_t count)
{
	struct fg_series *series = begin_run(at, host);

	for (size_t i = 0; i <= count; i++) {
		struct fg_repetition *r = fg_series_add_repetition(series);

		r->pair = (uint32_t)i;
		r->arm = FG_ARM_CANDIDATE;
		r->aside = i == count ? FG_ASIDE_WARMUP : 0;
		r->values[FG_METRIC_CPU_TIME] = i == count ? 1e9 : values[i];
	}
}

FG_TEST(levels_of_zero_have_a_change_but_no_ratio)
{
	for (size_t i = 0; i < RUNS; i++) {
		const double value = i < 20 ? 0.0 : 3.0;

		make_repetitions(i, "one", &value, 1);
	}
	find(RUNS);
	assert_int_equal(trend.change_count, 1);
	assert_int_equal(trend.changes[0].point, 20);
	assert_true(trend.changes[0].worse);
	assert_true(isnan(trend.changes[0].ratio));
}

FG_TEST(a_point_has_the_quartiles_of_its_repetitions_and_its_hosts_line)
{
	static const double five[] = {50, 10, 40, 20, 30};
	static const double two[] = {6, 2};
	static const struct {
		const char *host;
		const double *values;
		size_t count;
		struct fg_trend_point point;
	} rows[] = {
		{"one", five, 5, {0, 0, 30, 20, 40, 5}},
		{"two", two, 2, {1, 1, 4, 3, 5, 2}},
		{"three", five, 0, {0}}, /* no repetition counts */
		{"three", five, 1, {3, 2, 50, 50, 50, 1}},
		{"two", five, 3, {4, 1, 40, 25, 45, 3}},
		{"one", two, 1, {5, 0, 6, 6, 6, 1}},
	};
	size_t at = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++)
		make_repetitions(i, rows[i].host, rows[i].values, rows[i].count);
	find(FG_ARRAY_SIZE(rows));
	assert_int_equal(trend.point_count, FG_ARRAY_SIZE(rows) - 1);
	assert_int_equal(trend.environment_count, 3);
	assert_int_equal(trend.change_count, 0);
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_trend_point *wanted = &rows[i].point;
		const struct fg_trend_point *point = &trend.points[at];

		if (rows[i].count == 0)
			continue;
		assert_int_equal(point->run, wanted->run);
		assert_int_equal(point->environment, wanted->environment);
		assert_float_equal(point->value, wanted->value, 1e-9);
		assert_float_equal(point->low, wanted->low, 1e-9);
		assert_float_equal(point->high, wanted->high, 1e-9);
		assert_int_equal(point->repetitions, wanted->repetitions);
		at++;
	}
	fg_trend_release(&trend);
	assert_null(trend.points);
}

/* Three hosts in turn, each with one change. */
FG_TEST(changes_of_all_hosts_are_in_the_order_of_the_runs)
{
	static const struct {
		size_t point;
		double before;
		double after;
	} changes[] = {{15, 40, 80}, {20, 300, 150}, {25, 0.1, 0.4}};

	for (size_t i = 0; i < RUNS; i++) {
		static const char *const hosts[] = {"one", "two", "three"};
		static const size_t of_host[] = {0, 2, 1};
		const size_t at = of_host[i % 3];
		const double value = i < changes[at].point ? changes[at].before : changes[at].after;

		make_repetitions(i, hosts[i % 3], &value, 1);
	}
	find(RUNS);
	assert_int_equal(trend.change_count, FG_ARRAY_SIZE(changes));
	for (size_t i = 0; i < trend.change_count; i++) {
		const struct fg_trend_change *change = &trend.changes[i];

		assert_int_equal(change->point, changes[i].point);
		assert_float_equal(change->before, changes[i].before, 1e-9);
		assert_float_equal(change->after, changes[i].after, 1e-9);
		assert_float_equal(change->ratio, changes[i].after / changes[i].before, 1e-12);
		assert_int_equal(change->worse, changes[i].after > changes[i].before);
		assert_float_equal(change->p, 0.001, 1e-15);
	}
}

/* Only a few of the runs have the benchmark: a full series would take seconds. */
FG_TEST(the_longest_history_is_searched_and_no_longer_one)
{
	enum {
		MOST = FG_TREND_POINTS_MAX
	};
	const struct fg_trend_options options = {.benchmark = "parse", .metric = "cpu_time"};
	const struct fg_run **many = fg_xcalloc(MOST + 1, sizeof(many[0]));
	struct fg_trend found = {.point_count = 77};
	const double value = 5;
	struct fg_error err;

	make_repetitions(0, "one", &value, 1);
	fg_run_release(&runs[1]);
	fg_run_init(&runs[1]);
	for (size_t i = 0; i <= MOST; i++)
		many[i] = &runs[i % 1000 != 0];
	assert_int_equal(fg_trend_build(many, MOST + 1, &options, &found, &err), FG_ELIMIT);
	assert_int_equal(found.point_count, 77);
	assert_int_equal(fg_trend_build(many, MOST, &options, &found, NULL), FG_OK);
	assert_int_equal(found.point_count, 5);
	assert_int_equal(found.points[4].run, 4000);
	fg_trend_release(&found);
	free(many);
}
