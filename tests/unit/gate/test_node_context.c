// SPDX-License-Identifier: Apache-2.0
/* Facts about the whole profile, computed before any function is judged. */
#include "gate/node_context.h"
#include "tests/unit/gate/made_run.h"
#include "tests/unit/statistics/close.h"

enum {
	PAIRS_MAX = 3,
};

#define MS 1e6

static struct program {
	struct fg_made made;
	struct fg_profile_set set;
	uint32_t top;
	uint32_t below;
	struct fg_metric_verdict metrics[2];
	struct fg_benchmark_verdict verdict;
	struct fg_arena arena;
	struct fg_node_context c;
} p;

static struct fg_metric_verdict metric_of(const char *name, double low, double high)
{
	return (struct fg_metric_verdict){
		.name = name, .low = low, .high = high, .candidate = (double)NAN};
}

/* Starts with a metric that grew, and one that is not gated. */
static void begin(void)
{
	fg_node_context_release(&p.c);
	fg_arena_release(&p.arena);
	fg_profile_set_release(&p.set);
	fg_made_release(&p.made);
	p = (struct program){.metrics = {{0}}};
	fg_made_init(&p.made, 1);
	p.made.policy.function_floor = 0.01;
	fg_profile_set_init(&p.set, "app");
	p.top = fg_made_call_path(&p.set, 0, "app", "main");
	p.below = fg_made_call_path(&p.set, p.top, "app", "parse");
	fg_run_add_series(&p.made.run, "app")->schedule = FG_SCHEDULE_DUET;
	p.metrics[0] = metric_of("wall_time", 0.5, 0.6);
	p.metrics[1] = metric_of("cpu_time", 1.01, 1.2);
	p.verdict.metrics = p.metrics;
	p.verdict.metric_count = 2;
	p.c = (struct fg_node_context){.set = &p.set, .policy = &p.made.policy, .arena = &p.arena};
}

static struct fg_profile_row *add_row(uint32_t pair, uint8_t arm, double top, double below)
{
	struct fg_profile_row *row = fg_profile_set_add_row(&p.set, 2);

	row->pair = pair;
	row->arm = arm;
	row->nodes[0] = p.top;
	row->nodes[1] = p.below;
	row->values[0] = top;
	row->values[1] = below;
	row->samples[0] = row->samples[1] = 100;
	row->total = top + below;
	return row;
}

static struct fg_repetition *add_repetition(uint32_t pair, uint8_t arm, double cpu_ms)
{
	struct fg_repetition *r = fg_series_add_repetition(fg_made_series(&p.made, "app"));

	r->pair = pair;
	r->arm = arm;
	r->values[FG_METRIC_CPU_TIME] = cpu_ms * MS;
	return r;
}

/*
 * Adds pairs of 100 ms, in which the candidate takes `more_ms` longer; the sampler sees 60 and 40
 * ms on both sides.
 */
static void add_pairs(const double *more_ms, size_t count)
{
	for (uint32_t pair = 0; pair < count; pair++) {
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			(void)add_row(pair, arm, 60 * MS, 40 * MS);
			(void)add_repetition(pair, arm, 100 + (arm ? more_ms[pair] : 0));
		}
	}
}

static const struct fg_node_context *look(void)
{
	fg_node_context_release(&p.c);
	fg_node_context_init(&p.c, fg_made_series(&p.made, "app"), &p.verdict);
	return &p.c;
}

/* tests/unit/gate/test_parts.c tests the rule itself. */
FG_TEST(the_whole_is_that_of_the_metric_of_cpu_time)
{
	begin();
	p.metrics[1].baseline = 100 * MS;
	p.metrics[1].candidate = 103 * MS;
	add_pairs((double[]){2, 5}, 2);
	assert_near(look()->total, 3, 1e-9);
	assert_true(p.c.total_changed);
}

FG_TEST(without_its_metric_or_its_times_the_whole_is_what_was_sampled)
{
	begin();
	p.verdict.metric_count = 1; /* the metrics' array has one more than this */
	/* A second root, next to main. */
	for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		struct fg_profile_row *row = add_row(0, arm, 60 * MS, (arm ? 47 : 40) * MS);

		if (arm)
			row->nodes[0] = fg_made_call_path(&p.set, 0, "app", "start");
	}
	assert_near(look()->total, 7, 1e-9);
	assert_false(p.c.total_changed);
	assert_true(isnan(p.c.coverage[0]) && isnan(p.c.coverage[1]));
}

FG_TEST(levels_are_means_in_milliseconds_and_set_the_floor)
{
	begin();
	add_pairs((double[]){0, 0}, 2);
	(void)look();
	assert_string_equal(p.c.measure, "cpu_time");
	assert_string_equal(p.c.unit, "ms");
	assert_close(p.c.self[1][p.below], 40, 1e-12);
	assert_close(p.c.self[0][p.top], 60, 1e-12);
	assert_close(p.c.inclusive[0][p.top], 100, 1e-12);
	assert_close(p.c.inclusive[1][0], 100, 1e-12);
	assert_close(p.c.floor, 1, 1e-12);  /* 1 % of 100 ms */
	assert_close(p.c.margin, 2, 1e-12); /* 2 %, CPU time's own margin */
	p.made.policy.function_floor = 0.05;
	(void)look();
	assert_close(p.c.floor, 5, 1e-12);
	assert_close(p.c.margin, 5, 1e-12);
}

/* Coverage is computed from repetitions that count, if these take at least 20 ms of CPU time. */
FG_TEST(coverage_is_sampled_time_in_spent_time)
{
	static const struct {
		double spent_ms[2];
		double coverage[2];
	} table[] = {
		{{200, 50}, {0.5, 2}},
		{{20, 19.9}, {5, NAN}},
		{{19.9, 20}, {NAN, 5}},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");

		begin();
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			(void)add_row(0, arm, 60 * MS, 40 * MS);
			(void)add_repetition(0, arm, table[i].spent_ms[arm]);
			(void)add_repetition(0, arm, (double)NAN);
			add_repetition(1, arm, 900)->aside = FG_ASIDE_WARMUP;
			add_row(1, arm, 900 * MS, 0)->aside = FG_ASIDE_WARMUP;
			add_row(0, arm, 900 * MS, 0)->measure =
				fg_profile_set_measure(&p.set, &bytes);
		}
		(void)add_row(0, 2, 900 * MS, 0);
		(void)add_repetition(0, 2, 900);
		(void)look();
		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			if (isnan(table[i].coverage[arm]))
				assert_true(isnan(p.c.coverage[arm]));
			else
				assert_close(p.c.coverage[arm], table[i].coverage[arm], 1e-12);
		}
	}
}

/* In a program that waits, wall-clock samples cover wall time, which may be twice its CPU time. */
FG_TEST(wall_clock_samples_are_parts_of_wall_time_if_that_is_gated)
{
	for (int gated = 0; gated < 2; gated++) {
		begin();
		p.c.id = FG_MEASURE_WALL_TIME;
		p.metrics[0] = metric_of("wall_time", 1.5, 2.5);
		p.metrics[0].gated = gated;
		p.metrics[0].baseline = 100 * MS;
		p.metrics[0].candidate = 200 * MS;
		p.metrics[1] = metric_of("cpu_time", 0.9, 1.1);
		p.metrics[1].baseline = 100 * MS;
		p.metrics[1].candidate = 99 * MS;
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			add_row(0, arm, 60 * MS, (arm ? 140 : 40) * MS)->measure = p.c.id;
			add_repetition(0, arm, 90)->values[FG_METRIC_WALL_TIME] =
				(arm ? 200 : 100) * MS;
		}
		(void)look();
		assert_close(p.c.total, gated ? 100 : -1, 1e-9);
		assert_int_equal(p.c.total_changed, gated);
		assert_close(p.c.coverage[0], 1, 1e-12);
		assert_close(p.c.coverage[1], 1, 1e-12);
		assert_false(p.c.escaped);
	}
}

/* For counts, the total of the profile is used and judged by the metric of the same name. */
FG_TEST(another_measure_is_the_total_of_its_profile)
{
	static const double more[PAIRS_MAX] = {10, 12, 11};
	const struct fg_measure count = fg_measure_describe("heap.allocations", NULL);
	struct fg_metric_policy how = {
		.name = "heap.allocations", .gated = true, .min_effect = 0.01, .margin = 0.05};

	for (int exact = 0; exact < 2; exact++) {
		begin();
		p.metrics[0] = metric_of("heap.allocations", 1.01, 1.2);
		p.metrics[0].baseline = 500;
		p.metrics[0].candidate = 511;
		p.metrics[1] = metric_of("cpu_time", 0.8, 0.9);
		p.made.policy.metrics = &how;
		p.made.policy.metric_count = 1;
		p.c.id = fg_profile_set_measure(&p.set, &count);
		p.c.exact = exact;
		for (uint32_t i = 0; i < PAIRS_MAX; i++) {
			add_row(900, FG_ARM_BASELINE, 300, 200)->measure = p.c.id;
			add_row(900, FG_ARM_CANDIDATE, 300, 200 + more[i])->measure = p.c.id;
		}
		(void)look();
		assert_string_equal(p.c.measure, "heap.allocations");
		assert_string_equal(p.c.unit, "1");
		assert_close(p.c.total, 11, 1e-9);
		assert_true(p.c.total_changed);
		assert_close(p.c.inclusive[0][0], 500, 1e-12);
		assert_close(p.c.floor, exact ? 500e-9 : 5, 1e-12);
		assert_close(p.c.margin, exact ? 500e-9 : 25, 1e-12);
		assert_true(isnan(p.c.coverage[0]) && isnan(p.c.coverage[1]));
		p.metrics[0].low = 0.9;
		assert_false(look()->total_changed);
	}
}

/* For sums below one, the smallest difference is a billionth of one, not of the sum. */
FG_TEST(the_least_difference_of_counts_is_a_billionth_of_one_at_least)
{
	const struct fg_measure count = fg_measure_describe("heap.allocations", NULL);

	begin();
	p.c.id = fg_profile_set_measure(&p.set, &count);
	p.c.exact = true;
	add_row(0, FG_ARM_BASELINE, 0, 0.25)->measure = p.c.id;
	add_row(0, FG_ARM_CANDIDATE, 0, 0.5)->measure = p.c.id;
	(void)look();
	assert_close(p.c.floor, 1e-9, 1e-12);
	assert_close(p.c.margin, 1e-9, 1e-12);
}
