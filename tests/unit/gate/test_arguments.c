// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.h"
#include "tests/support/fg_test.h"

enum {
	BENCHMARKS = 3,
	FUNCTIONS = 70,
	PATHS = 40
};

struct fixture {
	struct fg_run run;
	struct fg_profile_set sets[BENCHMARKS];
	const struct fg_profile_set *profiles[BENCHMARKS];
};

static void add(struct fg_profile_set *set, unsigned side, const char *name, const char *caller,
		double calls)
{
	const struct fg_argument_figures figures = {.values = calls, .sum = calls};
	const char *const frames[] = {"main", caller};
	const struct fg_argument_call call = {.name = name,
					      .side = side,
					      .frames = frames,
					      .frame_count = 2,
					      .figures = &figures};

	fg_argument_sums_add(&set->arguments, &call);
}

static struct fg_verdict verdict;

static void make(struct fixture *fixture, unsigned benchmarks)
{
	*fixture = (struct fixture){0};
	fg_run_init(&fixture->run);
	fixture->run.complete = true;
	for (unsigned b = 0; b < benchmarks; b++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "bench%u", b);
		(void)fg_run_add_series(&fixture->run, name);
		fg_profile_set_init(&fixture->sets[b], name);
		fixture->profiles[b] = &fixture->sets[b];
	}
}

static void release(struct fixture *fixture)
{
	for (size_t b = 0; b < fixture->run.series_count; b++)
		fg_profile_set_release(&fixture->sets[b]);
	fg_run_release(&fixture->run);
}

static void decide(const struct fixture *candidate, const struct fixture *baseline)
{
	struct fg_policy policy;
	struct fg_measuring measure;
	const struct fg_gate_input input = {
		.run = &candidate->run,
		.profiles = candidate->profiles,
		.baseline = baseline ? &baseline->run : NULL,
		.baseline_profiles = baseline ? baseline->profiles : NULL,
		.policy = &policy,
		.measure = &measure,
	};

	fg_policy_defaults(&policy);
	fg_measuring_defaults(&measure);
	fg_verdict_release(&verdict);
	assert_int_equal(fg_gate_decide(&input, &verdict, NULL), FG_OK);
}

/* Adds each of the functions on each of the paths. */
static void add_all(struct fg_profile_set *set)
{
	for (unsigned i = 0; i < FUNCTIONS * PATHS; i++) {
		char name[32];
		char caller[32];

		(void)snprintf(name, sizeof(name), "f%u", i / PATHS);
		(void)snprintf(caller, sizeof(caller), "caller%u", i % PATHS);
		add(set, FG_ARM_CANDIDATE, name, caller, i + 1);
	}
}

FG_TEST(benchmarks_share_the_room_of_the_run)
{
	struct fixture fixture;

	make(&fixture, BENCHMARKS);
	for (unsigned b = 0; b < BENCHMARKS; b++)
		add_all(&fixture.sets[b]);
	decide(&fixture, NULL);
	for (unsigned b = 0; b < BENCHMARKS; b++) {
		const struct fg_argument_table *table = verdict.benchmarks[b].arguments;
		size_t paths = 0;

		assert_int_equal(table->function_count, FG_ARGUMENT_FUNCTIONS_MAX);
		for (size_t i = 0; i < table->function_count; i++)
			paths += table->functions[i].path_count;
		/* 4096 / 3 / 64 */
		assert_int_equal(paths, 21 * FG_ARGUMENT_FUNCTIONS_MAX);
	}
	release(&fixture);
}

FG_TEST(benchmarks_without_arguments_take_no_room)
{
	struct fixture fixture;
	size_t paths = 0;

	make(&fixture, BENCHMARKS);
	add_all(&fixture.sets[1]);
	decide(&fixture, NULL);
	assert_null(verdict.benchmarks[0].arguments);
	assert_null(verdict.benchmarks[2].arguments);
	for (size_t i = 0; i < verdict.benchmarks[1].arguments->function_count; i++)
		paths += verdict.benchmarks[1].arguments->functions[i].path_count;
	assert_int_equal(paths, FG_ARGUMENT_PATHS_MAX * FG_ARGUMENT_FUNCTIONS_MAX);
	release(&fixture);
}

FG_TEST(the_candidates_of_two_runs_are_the_two_sides)
{
	struct fixture before;
	struct fixture after;
	const struct fg_argument_function *function = NULL;

	make(&before, 1);
	make(&after, 2);
	add(&before.sets[0], FG_ARM_BASELINE, "log", "old", 1);
	add(&before.sets[0], FG_ARM_CANDIDATE, "log", "fit", 10);
	add(&after.sets[0], FG_ARM_BASELINE, "log", "fit", 100);
	add(&after.sets[0], FG_ARM_CANDIDATE, "log", "fit", 20);
	decide(&after, &before);
	assert_int_equal(verdict.benchmarks[0].arguments->function_count, 1);
	function = &verdict.benchmarks[0].arguments->functions[0];
	assert_float_equal(function->sides[FG_ARM_BASELINE]->values, 10, 0);
	assert_float_equal(function->sides[FG_ARM_CANDIDATE]->values, 20, 0);
	assert_int_equal(function->path_count, 1);
	assert_null(verdict.benchmarks[1].arguments);
	release(&after);
	release(&before);
}
