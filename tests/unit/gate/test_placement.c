// SPDX-License-Identifier: Apache-2.0
/* The same code at other addresses is not a regression; any other difference still may be. */
#include "gate/placement.h"
#include "tests/unit/gate/one_run.h"

/* Makes two builds with the same code and inputs; the candidate is slower by `change`. */
static struct fg_series *make_moved_build(double change)
{
	struct fg_series *series;

	(void)fg_made_benchmark(&made, "parse", 80, change, 0.015);
	series = fg_made_series(&made, "parse");
	fg_made_build_fact(series, "build.id", "aa", "bb");
	fg_made_build_fact(series, "build.code", "c0de", "c0de");
	fg_made_build_fact(series, "build.inputs", "da7a", "da7a");
	fg_made_build_fact(series, "build.mapped", "e15e", "e15e");
	fg_made_build_fact(series, "build.library.libc.so.6", "11", "11");
	fg_made_build_fact(series, "build.library.libown.so", "21", "22");
	fg_made_build_fact(series, "build.code.libown.so", "0c0de", "0c0de");
	return series;
}

FG_TEST_IN(the_same_code_elsewhere_that_is_not_slower_is_a_pass, begin, end)
{
	const struct fg_benchmark_verdict *b;

	(void)make_moved_build(0.002);
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_false(fg_made_has_note(&b->notes, "placement"));
}

FG_TEST_IN(the_same_code_elsewhere_is_placement_and_passes, begin, end)
{
	const struct fg_benchmark_verdict *b;

	(void)make_moved_build(0.05);
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_PLACEMENT);
	assert_int_equal(fg_made_metric(b, "cpu_time")->outcome, FG_OUTCOME_PLACEMENT);
	assert_true(fg_made_has_note(&b->notes, "placement: the code is unchanged"));
	assert_int_equal(made.verdict.outcome, FG_OUTCOME_PLACEMENT);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_PASS);
	made.policy.fail_on_placement = true;
	(void)fg_made_decide(&made, "parse");
	assert_int_equal(made.verdict.outcome, FG_OUTCOME_PLACEMENT);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_REGRESSION);
}

/* Each benchmark counts by its own policy, even if a benchmark with a worse outcome passes. */
FG_TEST(the_worst_outcome_that_is_set_to_fail_gives_the_exit_code)
{
	struct fg_benchmark planned = {.name = "moved"};
	const struct fg_plan plan = {.benchmarks = &planned, .benchmark_count = 1};
	struct fg_policy policy = {.fail_on_inconclusive = false};
	const struct fg_gate_input input = {.plan = &plan, .policy = &policy};
	struct fg_benchmark_verdict benchmarks[] = {
		{.name = "moved", .outcome = FG_OUTCOME_PLACEMENT},
		{.name = "noisy", .outcome = FG_OUTCOME_INCONCLUSIVE},
		{.name = "slower and slower", .outcome = FG_OUTCOME_CREEP},
	};
	struct fg_verdict verdict = {.outcome = FG_OUTCOME_CREEP,
				     .benchmarks = benchmarks,
				     .benchmark_count = FG_ARRAY_SIZE(benchmarks)};

	fg_gate_set_exit_codes(&input, &verdict);
	assert_int_equal(verdict.exit_code, FG_EXIT_PASS);
	policy.fail_on_placement = true; /* the benchmark "moved" has its own policy */
	fg_gate_set_exit_codes(&input, &verdict);
	assert_int_equal(verdict.exit_code, FG_EXIT_PASS);
	policy.fail_on_inconclusive = true;
	fg_gate_set_exit_codes(&input, &verdict);
	assert_int_equal(verdict.exit_code, FG_EXIT_INCONCLUSIVE);
	planned.policy.fail_on_placement = true;
	fg_gate_set_exit_codes(&input, &verdict);
	assert_int_equal(verdict.exit_code, FG_EXIT_REGRESSION);
	assert_int_equal(benchmarks[0].exit_code, FG_EXIT_REGRESSION);
	assert_int_equal(benchmarks[1].exit_code, FG_EXIT_INCONCLUSIVE);
	assert_int_equal(benchmarks[2].exit_code, FG_EXIT_PASS);
	benchmarks[1].outcome = FG_OUTCOME_ERROR;
	fg_gate_set_exit_codes(&input, &verdict);
	assert_int_equal(verdict.exit_code, FG_EXIT_NOT_MEASURED);
}

FG_TEST_IN(anything_that_may_have_changed_keeps_the_regression, begin, end)
{
	static const struct {
		const char *why;
		const char *key;
		const char *baseline;
		const char *candidate;
	} rows[] = {
		{.why = "the program's code", .key = "build.code", .candidate = "0ther"},
		{.why = "its inputs", .key = "build.inputs", .candidate = "0ther"},
		{.why = "a plugin", .key = "build.mapped", .candidate = "0ther"},
		{.why = "a library's code", .key = "build.code.libown.so", .candidate = "0ther"},
		{.why = "a foreign library", .key = "build.library.libc.so.6", .candidate = "12"},
		{.why = "a library is new", .key = "build.library.libnew.so", .candidate = "1"},
		{.why = "a library is gone", .key = "build.library.libold.so", .baseline = "1"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		fg_made_release(&made);
		fg_made_init(&made, 5);
		fg_made_build_fact(make_moved_build(0.05), rows[i].key, rows[i].baseline,
				   rows[i].candidate);
		if (fg_made_decide(&made, "parse")->outcome != FG_OUTCOME_REGRESSION)
			fail_msg("%s: no regression any more", rows[i].why);
	}
}

/* If no known file differs, the cause may be something else, such as a rebuilt plugin. */
FG_TEST_IN(the_same_files_are_not_placed_elsewhere, begin, end)
{
	struct fg_series *series = make_moved_build(0.05);

	fg_made_build_fact(series, "build.id", "aa", "aa");
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_PLACEMENT);
	fg_made_build_fact(series, "build.library.libown.so", "21", "21");
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_REGRESSION);
}

/* Other inputs, and other files with the same code, are not other code of the project. */
FG_TEST_IN(only_other_code_of_the_project_is_other_code, begin, end)
{
	static const struct {
		const char *what;
		const char *key;
		const char *baseline;
		const char *candidate;
		bool is_other;
	} rows[] = {
		{"nothing", "build.inputs", "1", "1", false},
		{"inputs", "build.inputs", "1", "2", false},
		{"a foreign library", "build.library.libc.so.6", "11", "12", false},
		{"the program", "build.code", "c0de", "0ther", true},
		{"a library", "build.code.libown.so", "0c0de", "0ther", true},
		{"a new library", "build.code.libnew.so", NULL, "1", true},
		{"a library that is gone", "build.code.libold.so", "1", NULL, true},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_series *series = NULL;

		fg_made_release(&made);
		fg_made_init(&made, 5);
		series = make_moved_build(0.05);
		fg_made_build_fact(series, rows[i].key, rows[i].baseline, rows[i].candidate);
		if (fg_placement_is_other_code(&series->build[FG_ARM_BASELINE],
					       &series->build[FG_ARM_CANDIDATE]) !=
		    rows[i].is_other)
			fail_msg("%s", rows[i].what);
	}
}

FG_TEST(a_fact_missing_on_both_sides_proves_nothing)
{
	struct fg_build_facts a = {0};
	struct fg_build_facts b = {0};

	assert_false(fg_placement_is_other_code(&a, &b));
	fg_build_facts_set(&b, "build.code", "1");
	assert_false(fg_placement_is_other_code(&a, &b));
	assert_false(fg_placement_is_other_code(&b, &a));
	fg_build_facts_release(&b);
	b = (struct fg_build_facts){0};
	fg_build_facts_set(&a, "build.inputs", "1");
	fg_build_facts_set(&b, "build.inputs", "1");
	fg_build_facts_set(&a, "build.mapped", "1");
	fg_build_facts_set(&b, "build.mapped", "1");
	assert_false(fg_placement_is_same_code(&a, &b));
	fg_build_facts_set(&a, "build.code", "1");
	assert_false(fg_placement_is_same_code(&a, &b));
	fg_build_facts_set(&b, "build.code", "1");
	assert_true(fg_placement_is_same_code(&a, &b));
	fg_build_facts_release(&a);
	fg_build_facts_release(&b);
}

/* ---- Were all files compared that differ? ---- */

struct builds {
	struct fg_build_facts of[FG_ARM_COUNT];
};

/*
 * A changed program, a changed library of the project, and the C library. The fact named `unknown`,
 * if any, is missing in that arm.
 */
static struct builds make_builds(const char *unknown, size_t unknown_arm)
{
	static const struct {
		const char *key;
		const char *values[FG_ARM_COUNT];
	} facts[] = {
		{"build.id", {"aa", "bb"}},
		{"build.code", {"c0de", "c0fe"}},
		{"build.inputs", {"da7a", "da7a"}},
		{"build.mapped", {"e15e", "e15e"}},
		{"build.library.libc.so.6", {"11", "11"}},
		{"build.library.libown.so", {"21", "22"}},
		{"build.code.libown.so", {"0c0de", "0c0fe"}},
		{"build.place.libown.so", {"0", "0"}},
	};
	struct builds builds = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(facts); i++) {
		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			if (arm != unknown_arm || strcmp(facts[i].key, unknown) != 0)
				fg_build_facts_set(&builds.of[arm], facts[i].key,
						   facts[i].values[arm]);
		}
	}
	return builds;
}

static bool are_comparable(struct builds builds)
{
	const bool are = fg_placement_is_comparable(&builds.of[0], &builds.of[1]);

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_release(&builds.of[arm]);
	return are;
}

FG_TEST(builds_are_comparable_where_all_that_differs_was_compared)
{
	static const struct {
		const char *why;
		const char *key;
		const char *values[FG_ARM_COUNT];
		bool are;
	} rows[] = {
		{"as they are", "build.id", {"aa", "bb"}, true},
		{"other inputs", "build.inputs", {"da7a", "0ther"}, false},
		{"other plugins", "build.mapped", {"e15e", "0ther"}, false},
		{"a foreign library", "build.library.libc.so.6", {"11", "12"}, false},
		{"a new library", "build.library.libnew.so", {NULL, "1"}, false},
		{"a library is gone", "build.library.libold.so", {"1", NULL}, false},
		{"another place", "build.place.libown.so", {"0", "16"}, false},
		{"of the same file", "build.place.libc.so.6", {"0", "16"}, true},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct builds builds = make_builds("", 0);

		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			if (rows[i].values[arm])
				fg_build_facts_set(&builds.of[arm], rows[i].key,
						   rows[i].values[arm]);
		}
		if (are_comparable(builds) != rows[i].are)
			fail_msg("%s", rows[i].why);
	}
}

FG_TEST(builds_of_which_a_fact_is_not_known_are_not_comparable)
{
	static const char *const needed[] = {"build.code", "build.inputs", "build.mapped",
					     "build.code.libown.so", "build.place.libown.so"};

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		for (size_t i = 0; i < FG_ARRAY_SIZE(needed); i++) {
			if (are_comparable(make_builds(needed[i], arm)))
				fail_msg("without %s of side %zu", needed[i], arm);
		}
		assert_true(are_comparable(make_builds("build.id", arm)));
	}
}

/* ---- The resulting verdict ---- */

enum {
	NODES = 3,
	PATHS = 2,
	METRICS = 4,
};

/* In functions, libraries and regions: slower, faster and uncertain entries, each on two paths. */
static struct judged {
	struct fg_arena arena;
	struct fg_node_verdict nodes[3][NODES];
	struct fg_path_verdict paths[NODES][PATHS];
	struct fg_metric_verdict metrics[METRICS];
	struct fg_benchmark_verdict verdict;
} j;

static const struct fg_node_verdict changed[NODES] = {
	{.outcome = FG_OUTCOME_REGRESSION, .standing = FG_STANDING_GUILTY},
	{.outcome = FG_OUTCOME_IMPROVEMENT, .standing = FG_STANDING_FASTER},
	{.outcome = FG_OUTCOME_INCONCLUSIVE, .standing = FG_STANDING_NOT_SURE},
};

static void make_judged(void)
{
	fg_arena_release(&j.arena);
	j = (struct judged){
		.metrics = {{.outcome = FG_OUTCOME_REGRESSION},
			    {.outcome = FG_OUTCOME_IMPROVEMENT},
			    {.outcome = FG_OUTCOME_REGRESSION, .exact = true},
			    {.outcome = FG_OUTCOME_PASS}},
		.verdict = {.metrics = j.metrics,
			    .metric_count = METRICS,
			    .time = {.functions = j.nodes[0],
				     .function_count = NODES,
				     .libraries = j.nodes[1],
				     .library_count = NODES,
				     .regions = j.nodes[2],
				     .region_count = NODES}},
	};
	for (size_t kind = 0; kind < FG_ARRAY_SIZE(j.nodes); kind++)
		memcpy(j.nodes[kind], changed, sizeof(changed));
	for (size_t i = 0; i < NODES; i++) {
		for (size_t k = 0; k < PATHS; k++)
			j.paths[i][k].outcome = changed[i].outcome;
		j.nodes[0][i].paths = j.paths[i];
		j.nodes[0][i].path_count = PATHS;
	}
}

/*
 * Checks the functions, libraries, regions and paths: if `placed`, certain changes are placement;
 * else nothing has changed.
 */
static void assert_placed(bool placed)
{
	for (size_t i = 0; i < NODES; i++) {
		const bool moved = placed && i < 2;
		const enum fg_outcome outcome = moved ? FG_OUTCOME_PLACEMENT : changed[i].outcome;

		for (size_t kind = 0; kind < FG_ARRAY_SIZE(j.nodes); kind++) {
			assert_int_equal(j.nodes[kind][i].outcome, outcome);
			assert_int_equal(j.nodes[kind][i].standing,
					 moved ? FG_STANDING_SAME_CODE : changed[i].standing);
		}
		for (size_t k = 0; k < PATHS; k++)
			assert_int_equal(j.paths[i][k].outcome, outcome);
	}
}

FG_TEST(placement_applies_to_times_but_not_to_counts)
{
	make_judged();
	fg_placement_settle(&j.arena, &j.verdict);
	assert_int_equal(j.metrics[0].outcome, FG_OUTCOME_PLACEMENT);
	assert_int_equal(j.metrics[1].outcome, FG_OUTCOME_PLACEMENT);
	assert_int_equal(j.metrics[2].outcome, FG_OUTCOME_REGRESSION);
	assert_int_equal(j.metrics[3].outcome, FG_OUTCOME_PASS);
	assert_placed(true);
	assert_int_equal(j.verdict.notes.count, 1);
	make_judged();
	j.metrics[0].outcome = j.metrics[1].outcome = FG_OUTCOME_INCONCLUSIVE;
	fg_placement_settle(&j.arena, &j.verdict);
	assert_placed(true);
	assert_int_equal(j.verdict.notes.count, 0);
}

/*
 * 2.353 standard errors are the one-sided 95 % limit of Student's t with three degrees of freedom.
 */
FG_TEST(it_is_open_if_a_changed_caller_may_call_that_code_more_often)
{
	make_judged();
	for (size_t m = 0; m < METRICS; m++)
		j.metrics[m] = (struct fg_metric_verdict){
			.outcome = FG_OUTCOME_REGRESSION, .ratio = 1.02, .layout_error = 0.01};
	fg_placement_settle_layouts(&j.arena, true, &j.verdict);
	assert_int_equal(j.metrics[0].outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(j.metrics[0].low < 1 && j.metrics[0].high > 1.02);
	assert_true(fg_made_has_note(&j.verdict.notes, "call it more often"));
}

FG_TEST(a_regression_within_the_spread_of_layouts_is_placement)
{
	static const struct {
		double ratio;
		double error;
		enum fg_outcome before;
		enum fg_outcome after;
	} rows[] = {
		{1.0235, 0.01, FG_OUTCOME_REGRESSION, FG_OUTCOME_PLACEMENT},
		{1.0239, 0.01, FG_OUTCOME_REGRESSION, FG_OUTCOME_REGRESSION},
		{0.9768, 0.01, FG_OUTCOME_REGRESSION, FG_OUTCOME_PLACEMENT}, /* a rate */
		{0.9766, 0.01, FG_OUTCOME_REGRESSION, FG_OUTCOME_REGRESSION},
		{1.0001, 0, FG_OUTCOME_REGRESSION, FG_OUTCOME_REGRESSION}, /* one layout only */
		{0.9999, 0.01, FG_OUTCOME_IMPROVEMENT, FG_OUTCOME_IMPROVEMENT},
		{1.0001, 0.01, FG_OUTCOME_INCONCLUSIVE, FG_OUTCOME_INCONCLUSIVE},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const bool placed = rows[i].after == FG_OUTCOME_PLACEMENT;

		for (size_t at = 0; at < 4; at += 3) {
			make_judged();
			for (size_t m = 0; m < METRICS; m++)
				j.metrics[m] = (struct fg_metric_verdict){
					.outcome = m == at ? rows[i].before : FG_OUTCOME_PASS,
					.ratio = rows[i].ratio,
					.layout_error = rows[i].error};
			fg_placement_settle_layouts(&j.arena, false, &j.verdict);
			for (size_t m = 0; m < METRICS; m++)
				assert_int_equal(j.metrics[m].outcome,
						 m == at ? rows[i].after : FG_OUTCOME_PASS);
			assert_placed(placed);
			assert_int_equal(j.verdict.notes.count, placed);
		}
	}
}
