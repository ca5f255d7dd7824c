// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "tests/support/fg_test.h"

FG_TEST(domains_are_switched_one_by_one)
{
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

FG_TEST(unknown_domain_is_named)
{
	assert_string_equal(fg_log_init("gate,nonsense:3"), "nonsense:3");
	assert_true(fg_log_enabled(FG_LOG_GATE, 1));
	assert_null(fg_log_init("all:0"));
	assert_null(fg_log_init(NULL));
}
