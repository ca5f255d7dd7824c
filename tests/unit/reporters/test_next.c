// SPDX-License-Identifier: Apache-2.0
/* After a regression, every format says the same about what to do. */
#include "reporters/next.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"

static struct fg_advice steps[FG_ADVICE_MAX];
static struct fg_arena arena;

static const char *step(size_t count, const char *label)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(steps[i].label, label) == 0)
			return steps[i].text;
	}
	return NULL;
}

static void a_regression_has_a_change_a_command_and_a_trailer(void **state)
{
	struct fg_fixture fixture;
	struct fg_environment *build = NULL;
	size_t count = 0;

	(void)state;
	fg_fixture_init(&fixture, "regression");
	fixture.run.sides[FG_ARM_CANDIDATE].dirty = false;
	build = &fixture.run.sides[FG_ARM_CANDIDATE].build;
	fg_environment_set(build, "git.subject", "reject \033[31mbad strings", false);
	fg_environment_set(build, "git.author", "A. Author", false);
	count = fg_report_advice(&fixture.report, &arena, steps);
	assert_int_equal(count, FG_ADVICE_MAX);
	assert_non_null(strstr(step(count, "change"), "bad strings\" by A. Author"));
	assert_null(strchr(step(count, "change"), '\033'));
	assert_non_null(strstr(step(count, "again"), "fastgate run reconstruct --against "));
	assert_string_equal(step(count, "accept"), "Fastgate-Accept: reconstruct cpu_time REASON");
	fg_fixture_release(&fixture);
	fg_arena_release(&arena);
}

static void what_is_not_known_is_left_out(void **state)
{
	struct fg_fixture fixture;

	(void)state;
	fg_fixture_init(&fixture, "regression");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		free(fixture.run.sides[arm].commit);
		fixture.run.sides[arm].commit = NULL;
	}
	assert_int_equal(fg_report_advice(&fixture.report, &arena, steps), 0);
	fg_fixture_release(&fixture);
	fg_arena_release(&arena);
}

static void a_pass_needs_nothing(void **state)
{
	struct fg_fixture fixture;

	(void)state;
	fg_fixture_init(&fixture, "pass");
	assert_int_equal(fg_report_advice(&fixture.report, &arena, steps), 0);
	fg_fixture_release(&fixture);
	fg_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_regression_has_a_change_a_command_and_a_trailer),
		cmocka_unit_test(what_is_not_known_is_left_out),
		cmocka_unit_test(a_pass_needs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
