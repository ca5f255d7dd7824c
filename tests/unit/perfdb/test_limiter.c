// SPDX-License-Identifier: Apache-2.0
/* Limiting one caller never limits another. */
#include "base/clock.h"
#include "perfdb/server/limiter.h"
#include "tests/support/fg_test.h"

enum {
	FLOOD = 20000,
	PER_MINUTE = 2
};

FG_TEST(flood_of_callers_limits_nobody_else)
{
	struct fg_limiter *limiter = fg_limiter_new(PER_MINUTE);
	char name[32] = "";

	for (unsigned i = 0; i < FLOOD; i++) {
		(void)snprintf(name, sizeof(name), "caller %u", i);
		for (unsigned request = 0; request < PER_MINUTE; request++)
			assert_int_equal(fg_limiter_count(limiter, name, 0), 0);
		assert_int_equal(fg_limiter_count(limiter, name, 0), 60);
	}
	fg_limiter_free(limiter);
}

FG_TEST(allowance_lasts_until_the_next_minute)
{
	struct fg_limiter *limiter = fg_limiter_new(1);

	assert_int_equal(fg_limiter_count(limiter, "somebody", 0), 0);
	assert_int_equal(fg_limiter_count(limiter, "somebody", 50 * FG_NS_PER_S), 10);
	assert_int_equal(fg_limiter_count(limiter, "else", 50 * FG_NS_PER_S), 0);
	assert_int_equal(fg_limiter_count(limiter, "somebody", 60 * FG_NS_PER_S), 0);
	fg_limiter_free(limiter);
}

/*
 * The clock jumps forwards, back, and far back: no client stays locked out, and each jump gives a
 * client one new minute's quota.
 */
FG_TEST(limit_survives_a_clock_that_jumps)
{
	static const int64_t minutes[] = {1000, 1001, 2, 5000000, 0, 1000};
	struct fg_limiter *limiter = fg_limiter_new(2);

	for (size_t i = 0; i < FG_ARRAY_SIZE(minutes); i++) {
		const int64_t now_ns = minutes[i] * 60 * FG_NS_PER_S;

		assert_int_equal(fg_limiter_count(limiter, "somebody", now_ns), 0);
		assert_int_equal(fg_limiter_count(limiter, "somebody", now_ns), 0);
		assert_in_range(fg_limiter_count(limiter, "somebody", now_ns), 1, 60);
	}
	fg_limiter_free(limiter);
}
