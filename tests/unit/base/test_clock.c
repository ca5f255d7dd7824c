// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "tests/support/fg_test.h"

#include <time.h>

FG_TEST(times_are_written_and_read_back)
{
	char text[FG_TIME_TEXT_SIZE];
	int64_t ns = 0;

	fg_time_format_utc(INT64_C(1000000000) * FG_NS_PER_S, text);
	assert_string_equal(text, "2001-09-09T01:46:40Z");
	assert_true(fg_time_parse_utc(text, &ns));
	assert_int_equal(ns, INT64_C(1000000000) * FG_NS_PER_S);
	assert_true(fg_time_parse_utc("2027-03-01", &ns));
	fg_time_format_utc(ns, text);
	assert_string_equal(text, "2027-03-01T00:00:00Z");
}

/* The C library's calendar is the reference. */
FG_TEST(every_day_of_four_centuries_has_its_date)
{
	for (int64_t day = -25567; day < 100000; day++) {
		const time_t seconds = (time_t)(day * 86400 + (day % 86400 + 86400) * 7 % 86400);
		char expected[64];
		char text[FG_TIME_TEXT_SIZE];
		struct tm tm = {0};

		(void)gmtime_r(&seconds, &tm);
		(void)strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%SZ", &tm);
		fg_time_format_utc((int64_t)seconds * FG_NS_PER_S, text);
		assert_string_equal(text, expected);
	}
}

FG_TEST(dates_that_do_not_exist_are_refused)
{
	static const char *const bad[] = {
		"",           "2027-02-30",           "2027-13-01",          "2027-3-1",
		"tomorrow",   "2027-03-01T25:00:00Z", "2027-03-01T00:00:00", "2027-03-01Z",
		"2027-03-01 "};
	int64_t ns = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(bad); i++) {
		if (fg_time_parse_utc(bad[i], &ns))
			fail_msg("'%s' was taken for a date", bad[i]);
	}
}
