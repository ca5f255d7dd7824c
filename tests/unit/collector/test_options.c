// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/collector_env.h"
#include "collector/sampler/state.h"
#include "tests/support/fg_test.h"

#include <string.h>

FG_TEST(absent_settings_mean_the_defaults)
{
	char *const environment[] = {NULL};
	struct fg_options options = {0};

	fg_collector_options_parse(environment, &options);
	assert_int_equal(options.period_ns, 1000000);
	assert_int_equal(options.clock, FG_CLOCK_PERF_USER);
	assert_string_equal(options.output, "");
	assert_null(options.invalid_variable);
}

FG_TEST(valid_settings_are_used)
{
	char output[] = FG_ENV_OUTPUT "=/tmp/traces";
	char period[] = FG_ENV_PERIOD "=4000000";
	char units[] = FG_ENV_UNITS "=5000-15000";
	char only[] = FG_ENV_ONLY "=42";
	char delay[] = FG_ENV_DELAY "=1500";
	char slowdown[] = FG_ENV_SLOWDOWN "=0000050000";
	char *const environment[] = {output, period, units, only, delay, slowdown, NULL};
	struct fg_options options = {0};

	fg_collector_options_parse(environment, &options);
	assert_string_equal(options.output, "/tmp/traces");
	assert_int_equal(options.period_ns, 4000000);
	assert_true(options.has_units);
	assert_int_equal(options.unit_first, 5000);
	assert_int_equal(options.unit_last, 15000);
	assert_int_equal(options.only_parent, 42);
	assert_int_equal(options.slowdown, 50000);
	assert_true(options.delay_ns == UINT64_C(1500000000));
	assert_null(options.invalid_variable);
}

FG_TEST(elapsed_time_is_sampled_less_often)
{
	char clock[] = FG_ENV_CLOCK "=wall";
	char *const environment[] = {clock, NULL};
	struct fg_options options = {0};

	fg_collector_options_parse(environment, &options);
	assert_int_equal(options.clock, FG_CLOCK_WALL);
	assert_int_equal(options.period_ns, 10000000);
}

FG_TEST(invalid_settings_are_ignored_and_named)
{
	static const char *const wrong[] = {
		FG_ENV_PERIOD "=0",          FG_ENV_PERIOD "=abc",
		FG_ENV_PERIOD "=1e3",        FG_ENV_PERIOD "=19999",
		FG_ENV_PERIOD "=1000000001", FG_ENV_PERIOD "=",
		FG_ENV_CLOCK "=quartz",      FG_ENV_UNITS "=9-5",
		FG_ENV_UNITS "=5",           FG_ENV_UNITS "=5:9",
		FG_ENV_UNITS "=5:x",         FG_ENV_OUTPUT "=folder",
		FG_ENV_DELAY "=-1",          FG_ENV_SLOWDOWN "=5 %",
		FG_ENV_PAUSED "=yes",        FG_ENV_ONLY "=0",
		FG_ENV_MAX_BYTES "=5",       FG_ENV_PERIOD "=99999999999999999999999999",
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(wrong); i++) {
		char text[128];
		char *const environment[] = {text, NULL};
		struct fg_options options = {0};

		(void)strncpy(text, wrong[i], sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		fg_collector_options_parse(environment, &options);
		if (!options.invalid_variable || strncmp(options.invalid_variable, wrong[i],
							 strlen(options.invalid_variable)) != 0)
			fail_msg("%s was not named", wrong[i]);
		assert_int_equal(options.period_ns, 1000000);
		assert_false(options.has_units);
		assert_string_equal(options.output, "");
	}
}
