// SPDX-License-Identifier: Apache-2.0
/* Gating one measure by call path: other measures explain, and never fail the run. */
#include "gate/gate.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

FG_TEST(the_measure_alone_is_gated)
{
	struct fg_made made;
	struct fg_arena arena = {0};
	size_t at = 1;

	fg_made_init(&made, 5);
	(void)fg_made_benchmark(&made, "parse", 6, 0, 0.01);
	(void)fg_made_benchmark(&made, "lookup", 6, 0, 0.01);
	assert_int_equal(
		fg_policy_only_measure(&made.policy, "heap.allocations", &made.run, &arena, NULL),
		FG_OK);
	assert_string_equal(made.policy.metrics[0].name, "heap.allocations");
	assert_true(made.policy.metrics[0].gated);
	for (size_t i = 0; i < made.run.series_count; i++) {
		const struct fg_series *series = &made.run.series[i];

		assert_true(series->metric_count > 1);
		for (size_t m = 0; m < series->metric_count; m++, at++) {
			assert_string_equal(made.policy.metrics[at].name, series->metrics[m].name);
			assert_false(made.policy.metrics[at].gated);
		}
	}
	assert_int_equal(made.policy.metric_count, at);
	made.policy.metrics = NULL;
	made.policy.metric_count = 0;
	fg_arena_release(&arena);
	fg_made_release(&made);
}

FG_TEST(metrics_without_call_paths_are_refused)
{
	static const char *const wrong[] = {"cpu_time", "no.such.measure"};

	for (size_t i = 0; i < 2; i++) {
		struct fg_policy policy = {0};
		struct fg_arena arena = {0};
		struct fg_error err = {0};
		const struct fg_run run = {0};

		assert_int_equal(fg_policy_only_measure(&policy, wrong[i], &run, &arena, &err),
				 FG_EINVAL);
		assert_non_null(strstr(err.message, wrong[i]));
		assert_int_equal(policy.metric_count, 0);
		fg_arena_release(&arena);
	}
}
