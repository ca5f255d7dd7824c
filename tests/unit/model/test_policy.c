// SPDX-License-Identifier: Apache-2.0
#include "model/plan.h"
#include "model/policy.h"
#include "tests/support/fg_test.h"

FG_TEST(defaults_are_those_of_the_documentation)
{
	struct fg_plan plan;

	fg_plan_init(&plan);
	assert_true(plan.policy.alpha == 0.001);
	assert_int_equal(plan.policy.functions, FG_FUNCTIONS_EXPLAIN);
	assert_true(plan.policy.function_floor == 0.0025);
	assert_false(plan.policy.fail_on_inconclusive);
	assert_int_equal(plan.measure.min_pairs, 10);
	assert_int_equal(plan.measure.max_pairs, 400);
	assert_int_equal(plan.measure.sampler.rate_hz, 0); /* auto */
	assert_true(plan.measure.sampler.budget == 0.03);
	fg_plan_release(&plan);
}

FG_TEST(own_row_precedes_the_built_in_default)
{
	struct fg_metric_policy rows[] = {
		{.name = "cpu_time", .gated = true, .min_effect = 0.005, .margin = 0.01}};
	struct fg_policy policy;

	fg_policy_defaults(&policy);
	assert_true(fg_policy_metric(&policy, "cpu_time").margin == 0.02);
	policy.metrics = rows;
	policy.metric_count = 1;
	assert_true(fg_policy_metric(&policy, "cpu_time").margin == 0.01);
	assert_true(fg_policy_metric(&policy, "wall_time").margin == 0.05);
	assert_false(fg_policy_metric(&policy, "minor_faults").gated);
	assert_true(fg_policy_metric(&policy, "events_per_second").gated);
}

FG_TEST(schedules_have_names)
{
	enum fg_schedule schedule = FG_SCHEDULE_AUTO;

	assert_true(fg_schedule_parse("duet", &schedule));
	assert_int_equal(schedule, FG_SCHEDULE_DUET);
	assert_string_equal(fg_schedule_name(FG_SCHEDULE_STORED), "stored");
	assert_false(fg_schedule_parse("trio", &schedule));
}
