// SPDX-License-Identifier: Apache-2.0
/* The same code at other addresses is no regression; any other change still may be. */
#include "gate/placement.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

static struct fg_made made;

static int begin(void **state)
{
	(void)state;
	fg_made_init(&made, 5);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_made_release(&made);
	return 0;
}

static void set_both(struct fg_series *series, const char *key, const char *baseline,
		     const char *candidate)
{
	if (baseline)
		fg_environment_set(&series->build[FG_ARM_BASELINE], key, baseline, false);
	if (candidate)
		fg_environment_set(&series->build[FG_ARM_CANDIDATE], key, candidate, false);
}

/* A slowdown of 5 % between two builds with the same code and inputs. */
static struct fg_series *make_moved_build(void)
{
	struct fg_series *series;

	(void)fg_made_benchmark(&made, "parse", 80, 0.05, 0.015);
	series = fg_made_series(&made, "parse");
	set_both(series, "build.id", "aa", "bb");
	set_both(series, "build.code", "c0de", "c0de");
	set_both(series, "build.inputs", "da7a", "da7a");
	set_both(series, "build.mapped", "e15e", "e15e");
	set_both(series, "build.library.libc.so.6", "11", "11");
	set_both(series, "build.library.libown.so", "21", "22");
	set_both(series, "build.code.libown.so", "0c0de", "0c0de");
	return series;
}

static void the_same_code_elsewhere_is_placement_and_passes(void **state)
{
	const struct fg_benchmark_verdict *b;

	(void)state;
	(void)make_moved_build();
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_PLACEMENT);
	assert_int_equal(fg_made_metric(b, "cpu_time")->outcome, FG_OUTCOME_PLACEMENT);
	assert_true(fg_made_has_note(&b->notes, "placement: code unchanged"));
	assert_int_equal(made.verdict.outcome, FG_OUTCOME_PLACEMENT);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_PASS);
}

static void whoever_ships_this_binary_can_fail_on_placement(void **state)
{
	(void)state;
	(void)make_moved_build();
	made.policy.fail_on_placement = true;
	(void)fg_made_decide(&made, "parse");
	assert_int_equal(made.verdict.outcome, FG_OUTCOME_PLACEMENT);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_REGRESSION);
}

static void a_gated_function_does_not_fail_for_its_place(void **state)
{
	(void)state;
	(void)make_moved_build();
	made.policy.functions = FG_FUNCTIONS_GATE;
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_PLACEMENT);
}

static void anything_that_may_have_changed_keeps_the_regression(void **state)
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

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		fg_made_release(&made);
		fg_made_init(&made, 5);
		set_both(make_moved_build(), rows[i].key, rows[i].baseline, rows[i].candidate);
		if (fg_made_decide(&made, "parse")->outcome != FG_OUTCOME_REGRESSION)
			fail_msg("%s: no regression any more", rows[i].why);
	}
}

/* As with a rebuilt plugin: no known file has moved. */
static void the_same_files_are_not_placed_elsewhere(void **state)
{
	struct fg_series *series = make_moved_build();

	(void)state;
	set_both(series, "build.id", "aa", "aa");
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_PLACEMENT);
	set_both(series, "build.library.libown.so", "21", "21");
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_REGRESSION);
}

static void a_fact_that_nobody_has_proves_nothing(void **state)
{
	struct fg_environment a = {0};
	struct fg_environment b = {0};

	(void)state;
	fg_environment_set(&a, "build.inputs", "1", false);
	fg_environment_set(&b, "build.inputs", "1", false);
	fg_environment_set(&a, "build.mapped", "1", false);
	fg_environment_set(&b, "build.mapped", "1", false);
	assert_false(fg_placement_is_same_code(&a, &b));
	fg_environment_set(&a, "build.code", "1", false);
	assert_false(fg_placement_is_same_code(&a, &b));
	fg_environment_set(&b, "build.code", "1", false);
	assert_true(fg_placement_is_same_code(&a, &b));
	fg_environment_release(&a);
	fg_environment_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_same_code_elsewhere_is_placement_and_passes,
						begin, end),
		cmocka_unit_test_setup_teardown(whoever_ships_this_binary_can_fail_on_placement,
						begin, end),
		cmocka_unit_test_setup_teardown(a_gated_function_does_not_fail_for_its_place, begin,
						end),
		cmocka_unit_test_setup_teardown(the_same_files_are_not_placed_elsewhere, begin,
						end),
		cmocka_unit_test_setup_teardown(anything_that_may_have_changed_keeps_the_regression,
						begin, end),
		cmocka_unit_test(a_fact_that_nobody_has_proves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
