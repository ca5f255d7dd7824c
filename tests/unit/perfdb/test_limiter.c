// SPDX-License-Identifier: Apache-2.0
/* Limiting one caller never limits another. */
#include "base/clock.h"
#include "perfdb/server/limiter.h"
#include "tests/support/fg_test.h"

enum {
	FLOOD = 20000,
	PER_MINUTE = 2
};

static void flood_of_callers_limits_nobody_else(void **state)
{
	struct fg_limiter *limiter = fg_limiter_new(PER_MINUTE);
	char name[32] = "";

	(void)state;
	for (unsigned i = 0; i < FLOOD; i++) {
		(void)snprintf(name, sizeof(name), "caller %u", i);
		for (unsigned request = 0; request < PER_MINUTE; request++)
			assert_int_equal(fg_limiter_count(limiter, name, 0), 0);
		assert_int_equal(fg_limiter_count(limiter, name, 0), 60);
	}
	fg_limiter_free(limiter);
}

static void allowance_lasts_until_the_next_minute(void **state)
{
	struct fg_limiter *limiter = fg_limiter_new(1);

	(void)state;
	assert_int_equal(fg_limiter_count(limiter, "somebody", 0), 0);
	assert_int_equal(fg_limiter_count(limiter, "somebody", 50 * FG_NS_PER_S), 10);
	assert_int_equal(fg_limiter_count(limiter, "else", 50 * FG_NS_PER_S), 0);
	assert_int_equal(fg_limiter_count(limiter, "somebody", 60 * FG_NS_PER_S), 0);
	fg_limiter_free(limiter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flood_of_callers_limits_nobody_else),
		cmocka_unit_test(allowance_lasts_until_the_next_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
