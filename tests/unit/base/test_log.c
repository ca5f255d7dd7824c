// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "tests/support/fg_test.h"

static void domains_are_switched_one_by_one(void **state)
{
	(void)state;
	assert_false(fg_log_enabled(FG_LOG_RUNNER, 1));
	assert_null(fg_log_init("runner:2,store"));
	assert_true(fg_log_enabled(FG_LOG_RUNNER, 2));
	assert_false(fg_log_enabled(FG_LOG_RUNNER, 3));
	assert_true(fg_log_enabled(FG_LOG_STORE, 1));
	assert_false(fg_log_enabled(FG_LOG_STORE, 2));
	assert_false(fg_log_enabled(FG_LOG_GATE, 1));
	assert_null(fg_log_init("all:0"));
	assert_false(fg_log_enabled(FG_LOG_STORE, 1));
}

static void unknown_domain_is_named(void **state)
{
	(void)state;
	assert_string_equal(fg_log_init("gate,nonsense:3"), "nonsense:3");
	assert_true(fg_log_enabled(FG_LOG_GATE, 1));
	assert_null(fg_log_init("all:0"));
	assert_null(fg_log_init(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(domains_are_switched_one_by_one),
		cmocka_unit_test(unknown_domain_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
