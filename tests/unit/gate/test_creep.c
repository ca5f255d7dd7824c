// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "gate/creep.h"
#include "gate/creep_functions.h"
#include "tests/support/fg_test.h"

#include <math.h>

enum {
	STEPS = 40,
	NAME = 16,
	FUNCTIONS = 20
};

static char names[STEPS + 1][NAME];
static struct fg_chain_edge edges[STEPS + 1];
static struct fg_chain chain;
static struct fg_arena arena;
static struct fg_policy policy;

static int begin(void **state)
{
	(void)state;
	fg_policy_defaults(&policy);
	for (size_t i = 0; i <= STEPS; i++)
		(void)snprintf(names[i], NAME, "commit%zu", i);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_chain_release(&chain);
	fg_arena_release(&arena);
	return 0;
}

/* Makes steps of this size; `error` is their standard error and their scatter. */
static void make_steps(double change, double error, uint64_t seed)
{
	struct fg_random random;

	fg_random_seed(&random, seed);
	for (size_t i = 0; i < STEPS; i++)
		edges[i] =
			(struct fg_chain_edge){.run = "r",
					       .from = names[i],
					       .to = names[i + 1],
					       .pairs = 12,
					       .change = change + error * fg_random_normal(&random),
					       .error = error};
}

static struct fg_creep_verdict *judge(size_t count, enum fg_better better)
{
	fg_chain_release(&chain);
	fg_chain_build(edges, count, names[STEPS], &chain);
	return fg_creep_judge(&chain, &policy, better, &arena);
}

FG_TEST_IN(many_small_steps_are_creep, begin, end)
{
	const struct fg_creep_verdict *creep = NULL;

	make_steps(0.001, 0.001, 3);
	creep = judge(STEPS, FG_BETTER_LOWER);
	assert_true(creep->is_creep);
	assert_int_equal(creep->commits, STEPS);
	assert_true(creep->low < 0.04 && creep->high > 0.04);
	assert_true(creep->by_count > 0 && creep->by[0].probability > 0.9);
	assert_string_equal(creep->since, "commit0");
}

FG_TEST_IN(a_rate_that_falls_creeps_too, begin, end)
{
	make_steps(-0.001, 0.0001, 3);
	assert_true(judge(STEPS, FG_BETTER_HIGHER)->is_creep);
	assert_false(judge(STEPS, FG_BETTER_LOWER)->is_creep);
}

FG_TEST_IN(less_than_is_tolerated_is_not_creep, begin, end)
{
	make_steps(0.0004, 0.00001, 3);
	assert_false(judge(STEPS, FG_BETTER_LOWER)->is_creep);
	policy.creep_tolerated = 0.01;
	assert_true(judge(STEPS, FG_BETTER_LOWER)->is_creep);
}

FG_TEST_IN(a_change_not_surely_above_zero_is_not_creep, begin, end)
{
	make_steps(0.001, 0.0001, 3);
	for (size_t i = 0; i < STEPS; i++)
		edges[i].error = 0.003;
	assert_false(judge(STEPS, FG_BETTER_LOWER)->is_creep);
	assert_true(fg_creep_needs_anchor(judge(STEPS, FG_BETTER_LOWER), &policy));
	/* An additional run against the first commit makes creep certain. */
	edges[STEPS] = (struct fg_chain_edge){.run = "anchor",
					      .from = names[0],
					      .to = names[STEPS],
					      .pairs = 41,
					      .change = 0.04,
					      .error = 0.003};
	assert_true(judge(STEPS + 1, FG_BETTER_LOWER)->is_creep);
	assert_false(fg_creep_needs_anchor(judge(STEPS + 1, FG_BETTER_LOWER), &policy));
}

FG_TEST_IN(a_change_that_failed_by_itself_is_not_creep, begin, end)
{
	make_steps(0, 0.0001, 3);
	edges[20].change = 0.1;
	edges[20].is_known = true;
	assert_false(judge(STEPS, FG_BETTER_LOWER)->is_creep);
	/* A known improvement does not hide creep either. */
	make_steps(0.001, 0.0001, 3);
	edges[20].change = -0.1;
	edges[20].is_known = true;
	assert_true(judge(STEPS, FG_BETTER_LOWER)->is_creep);
}

FG_TEST_IN(the_window_forgets, begin, end)
{
	make_steps(0, 0.0001, 3);
	for (size_t i = 0; i < STEPS / 2; i++)
		edges[i].change += 0.002;
	assert_true(judge(STEPS, FG_BETTER_LOWER)->is_creep);
	policy.creep_window = STEPS / 2;
	assert_false(judge(STEPS, FG_BETTER_LOWER)->is_creep);
	policy.creep_window = 0;
	assert_null(judge(STEPS, FG_BETTER_LOWER));
}

FG_TEST_IN(a_few_steps_are_not_judged, begin, end)
{
	make_steps(0.01, 0.0001, 3);
	for (size_t i = FG_CREEP_STEPS_MIN - 1; i < STEPS; i++)
		edges[i].change = edges[i].error = 0;
	assert_null(judge(STEPS, FG_BETTER_LOWER));
}

FG_TEST_IN(words_name_the_sum_the_commits_and_the_functions, begin, end)
{
	struct fg_creep_function function = {.name = "parse_header", .change = 0.019};
	struct fg_creep_verdict *creep = NULL;
	const char *words = NULL;

	make_steps(0.001, 1e-9, 3);
	edges[7].change = 0.006;
	edges[0].tag = "v1.2";
	policy.creep_window = STEPS - 1;
	creep = judge(STEPS, FG_BETTER_LOWER);
	creep->label = "cpu time";
	creep->functions = &function;
	creep->function_count = 1;
	words = fg_creep_words(creep, &arena);
	assert_non_null(strstr(words, "cpu time +4.5 % [+4.5, +4.5] over 39 commits since v1.2"));
	assert_non_null(strstr(words, "no step above 0.6 %"));
	assert_non_null(strstr(words, "mostly parse_header (+1.9 %)"));
	assert_non_null(strstr(words, "largest steps: commit8 +0.6 % (100 %)"));
}

/* ---- functions ---- */

static double sampling[FUNCTIONS];

/* Tests functions of which number 7 gains `gain` per step and all others only scatter. */
static void make_gains(double gain, uint64_t seed, struct fg_creep_rise *rises)
{
	static double steps[FUNCTIONS * (STEPS + 1)];
	struct fg_random random;

	fg_random_seed(&random, seed);
	for (size_t i = 0; i < STEPS; i++)
		edges[i].error = 1 / sqrt(12);
	(void)judge(STEPS, FG_BETTER_LOWER);
	for (size_t f = 0; f < FUNCTIONS; f++) {
		for (size_t i = 1; i <= STEPS; i++)
			steps[f * (STEPS + 1) + i] =
				(f == 7 ? gain : 0) + 0.002 * fg_random_normal(&random);
	}
	assert_true(fg_creep_test(&chain, policy.creep_window,
				  &(struct fg_creep_gains){FUNCTIONS, steps, NULL, sampling},
				  rises));
}

static size_t risen_of(double gain, uint64_t seed, struct fg_creep_rise *rises)
{
	make_gains(gain, seed, rises);
	return fg_creep_risen(rises, FUNCTIONS, policy.function_floor);
}

FG_TEST_IN(a_function_that_rises_is_named_though_the_sum_is_flat, begin, end)
{
	struct fg_creep_rise rises[FUNCTIONS];

	make_steps(0, 0.001, 3);
	assert_int_equal(risen_of(0.002, 5, rises), 1);
	assert_int_equal(rises[0].function, 7);
	/* With few samples, this much scatter is expected. */
	sampling[7] = 1;
	assert_int_equal(risen_of(0.002, 5, rises), 0);
	sampling[7] = 0;
}

FG_TEST_IN(functions_that_only_scatter_are_hardly_ever_named, begin, end)
{
	struct fg_creep_rise rises[FUNCTIONS];
	unsigned wrong = 0;

	make_steps(0, 0.001, 3);
	for (uint64_t seed = 0; seed < 200; seed++)
		wrong += risen_of(0, seed, rises) > 0;
	assert_in_range(wrong, 0, 20); /* 5 % of 200, plus some chance */
}

/*
 * Makes runs with functions of equal size that scatter; function 7 gains this share of the time in
 * each run.
 */
static void make_runs(double gain, uint64_t seed, struct fg_creep_runs *runs)
{
	struct fg_random random;

	fg_random_seed(&random, seed);
	fg_creep_runs_pick(&chain, edges, STEPS, policy.creep_window, runs);
	for (size_t i = 0; i < runs->count; i++) {
		struct fg_totals *totals = &runs->totals[i];

		*totals = (struct fg_totals){.items = fg_xcalloc(FUNCTIONS, sizeof(*totals->items)),
					     .count = FUNCTIONS,
					     .repetitions = {12, 12},
					     .unit = 1e-9};
		for (size_t f = 0; f < FUNCTIONS; f++) {
			const double noise = 0.002 * FUNCTIONS * fg_random_normal(&random);

			totals->items[f] = (struct fg_function_total){
				.id = f + 100,
				.self = {1, 1 + noise + (f == 7 ? gain * FUNCTIONS : 0)}};
		}
	}
}

/*
 * Returns in how many of 50 trials function 7 is named when it gains `gain` per step in each of the
 * benchmarks.  Adds the wrongly named functions to `wrong`.
 */
static unsigned pooled(double gain, size_t benchmarks, unsigned *wrong)
{
	unsigned named = 0;

	for (uint64_t seed = 0; seed < 50; seed++) {
		struct fg_creep_pool pool = {0};
		size_t risen = 0;

		for (size_t b = 0; b < benchmarks; b++) {
			struct fg_creep_runs runs = {0};

			make_runs(gain, 100 * seed + b, &runs);
			fg_creep_pool_add_runs(&pool, &chain, &runs, policy.creep_window);
			fg_creep_runs_release(&runs);
		}
		risen = fg_creep_pool_risen(&pool, benchmarks, policy.function_floor);
		for (size_t i = 0; i < risen; i++) {
			named += pool.rises[i].function == 107;
			*wrong += pool.rises[i].function != 107;
			assert_int_equal(pool.rises[i].benchmarks, benchmarks);
		}
		fg_creep_pool_release(&pool);
	}
	return named;
}

FG_TEST_IN(a_function_is_judged_over_all_benchmarks_that_call_it, begin, end)
{
	unsigned wrong = 0;

	make_steps(0, 0.001, 3);
	for (size_t i = 0; i < STEPS; i++)
		edges[i].series = (int64_t)i + 1;
	(void)judge(STEPS, FG_BETTER_LOWER);
	assert_in_range(pooled(0.0008, 1, &wrong), 0, 30);
	assert_in_range(pooled(0.0008, 8, &wrong), 49, 50);
	/* about 5 % of the named functions are expected to be false */
	assert_in_range(wrong, 0, 20);
}
