// SPDX-License-Identifier: Apache-2.0
/* Ranges that clients ask for: what is understood, what lies outside, what is passed over. */
#include "perfdb/server/byte_range.h"
#include "tests/support/fg_test.h"

enum {
	SIZE = 1000
};

static void expect(const char *header, enum fg_byte_range_kind kind, uint64_t first,
		   uint64_t length)
{
	struct fg_byte_range range = {0};

	if (fg_byte_range_read(header, SIZE, &range) != kind)
		fail_msg("'%s' is of another kind", header);
	if (range.first != first || range.length != length)
		fail_msg("'%s': %llu bytes from %llu", header, (unsigned long long)range.length,
			 (unsigned long long)range.first);
}

static void test_one_range(void **state)
{
	(void)state;
	expect("bytes=0-0", FG_BYTES_PART, 0, 1);
	expect("bytes=0-499", FG_BYTES_PART, 0, 500);
	expect("Bytes=500-", FG_BYTES_PART, 500, 500);
	expect("bytes=999-", FG_BYTES_PART, 999, 1);
	expect("bytes=-1", FG_BYTES_PART, 999, 1);
	expect("bytes=-1000", FG_BYTES_PART, 0, SIZE);
	expect("bytes=0-", FG_BYTES_PART, 0, SIZE);
}

static void test_more_than_there_is_ends_with_the_content(void **state)
{
	(void)state;
	expect("bytes=990-1000", FG_BYTES_PART, 990, 10);
	expect("bytes=990-99999999999999999999999999", FG_BYTES_PART, 990, 10);
	expect("bytes=-5000", FG_BYTES_PART, 0, SIZE);
	expect("bytes=-18446744073709551616", FG_BYTES_PART, 0, SIZE);
}

static void test_outside(void **state)
{
	struct fg_byte_range range = {0};

	(void)state;
	expect("bytes=1000-", FG_BYTES_NONE, 0, SIZE);
	expect("bytes=1000-2000", FG_BYTES_NONE, 0, SIZE);
	expect("bytes=18446744073709551615-", FG_BYTES_NONE, 0, SIZE);
	expect("bytes=18446744073709551616-", FG_BYTES_NONE, 0, SIZE);
	expect("bytes=99999999999999999999999999-99999999999999999999999999", FG_BYTES_NONE, 0,
	       SIZE);
	expect("bytes=-0", FG_BYTES_NONE, 0, SIZE);
	assert_int_equal(fg_byte_range_read("bytes=0-", 0, &range), FG_BYTES_NONE);
	assert_int_equal(fg_byte_range_read("bytes=-1", 0, &range), FG_BYTES_NONE);
}

static void test_what_is_not_understood_asks_for_all(void **state)
{
	static const char *const headers[] = {
		"",           "bytes",       "bytes=",        "bytes=-",      "bytes=a-",
		"bytes=1",    "bytes=5-4",   "bytes=0-1,5-6", "bytes=0-0,-1", "bytes= 0-1",
		"bytes=0-1 ", "bytes=+0-1",  "bytes=--1",     "bytes=0--1",   "bytes=0-1x",
		"lines=0-1",  "bytes =0-1",  "0-1",           "bytes=0x0-1",  "bytes=,0-1",
		"bytes=-1-",  "bytes=-1,-2",
	};

	(void)state;
	expect(NULL, FG_BYTES_ALL, 0, SIZE);
	for (size_t i = 0; i < FG_ARRAY_SIZE(headers); i++)
		expect(headers[i], FG_BYTES_ALL, 0, SIZE);
}

static void test_condition(void **state)
{
	(void)state;
	assert_true(fg_byte_range_is_meant(NULL, "\"ab\""));
	assert_true(fg_byte_range_is_meant("\"ab\"", "\"ab\""));
	assert_false(fg_byte_range_is_meant("\"ac\"", "\"ab\""));
	assert_false(fg_byte_range_is_meant("ab", "\"ab\""));
	assert_false(fg_byte_range_is_meant("W/\"ab\"", "\"ab\""));
	assert_false(fg_byte_range_is_meant("", "\"ab\""));
	assert_false(fg_byte_range_is_meant("Sat, 29 Oct 1994 19:43:31 GMT", "\"ab\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_range),
		cmocka_unit_test(test_more_than_there_is_ends_with_the_content),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_what_is_not_understood_asks_for_all),
		cmocka_unit_test(test_condition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
