// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"
#include "base/random.h"
#include "tests/support/fg_test.h"

#include <math.h>

FG_TEST(durations_are_read_with_their_units)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{"250ms", 250000000},
		{"1.5s", 1500000000},
		{"5m", 300000000000},
		{"2h", 7200000000000},
		{"3d", 259200000000000},
		{"10us", 10000},
		{"7ns", 7},
		{"60", 60000000000},
		{"0.5 s", 500000000},
	};
	static const char *const bad[] = {"",    "five", "5 minutes", "-1s", "1s2",
					  "inf", "nan",  "0x10",      " 1s", "1e30s"};
	int64_t ns = 0;
	struct fg_error err = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(good); i++) {
		assert_int_equal(fg_parse_duration_ns(good[i].text, &ns, &err), FG_OK);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(bad); i++) {
		if (fg_parse_duration_ns(bad[i], &ns, &err) == FG_OK)
			fail_msg("'%s' was taken for a duration", bad[i]);
	}
	assert_int_equal(fg_parse_duration_ns("5 minutes", &ns, &err), FG_EPARSE);
	assert_string_equal(err.message,
			    "'5 minutes' is not a duration: write 250ms, 1.5s, 5m or 2h");
}

FG_TEST(sizes_and_shares_are_read)
{
	uint64_t bytes = 0;
	double ratio = 0.0;
	struct fg_error err = {0};

	assert_int_equal(fg_parse_size_bytes("64K", &bytes, &err), FG_OK);
	assert_int_equal(bytes, 65536);
	assert_int_equal(fg_parse_size_bytes("10MB", &bytes, &err), FG_OK);
	assert_int_equal(bytes, 10000000);
	assert_int_equal(fg_parse_size_bytes("2 GiB", &bytes, &err), FG_OK);
	assert_int_equal(bytes, UINT64_C(2147483648));
	assert_int_equal(fg_parse_size_bytes("10 parsecs", &bytes, &err), FG_EPARSE);
	assert_int_equal(fg_parse_ratio("2%", &ratio, &err), FG_OK);
	assert_true(fabs(ratio - 0.02) < 1e-15);
	assert_int_equal(fg_parse_ratio("0.005", &ratio, &err), FG_OK);
	assert_true(fabs(ratio - 0.005) < 1e-15);
	assert_int_equal(fg_parse_ratio("2 percent", &ratio, &err), FG_EPARSE);
	assert_int_equal(fg_parse_ratio("1", &ratio, &err), FG_OK);
	assert_int_equal(fg_parse_ratio("500%", &ratio, &err), FG_OK);
	assert_int_equal(fg_parse_ratio("5", &ratio, &err), FG_ELIMIT);
	assert_string_equal(err.message, "5 means 500 %: write 5%");
}

FG_TEST(whole_numbers_and_truths_are_read)
{
	int64_t number = 0;
	uint64_t natural = 0;
	double real = 0.0;
	bool truth = false;
	struct fg_error err = {0};

	assert_int_equal(fg_parse_int64("-12", &number, &err), FG_OK);
	assert_int_equal(number, -12);
	assert_int_equal(fg_parse_int64("12a", &number, &err), FG_EPARSE);
	assert_int_equal(fg_parse_int64("99999999999999999999", &number, &err), FG_EPARSE);
	assert_int_equal(fg_parse_uint64("-1", &natural, &err), FG_EPARSE);
	assert_int_equal(fg_parse_double("1e-3", &real, &err), FG_OK);
	assert_int_equal(fg_parse_double("nan", &real, &err), FG_EPARSE);
	assert_int_equal(fg_parse_bool("yes", &truth, &err), FG_OK);
	assert_true(truth);
	assert_int_equal(fg_parse_bool("perhaps", &truth, &err), FG_EPARSE);
	assert_string_equal(err.message, "'perhaps' is neither true nor false");
}

FG_TEST(values_are_written_for_people)
{
	static const struct {
		double value;
		const char *unit;
		const char *text;
	} cases[] = {
		{210.4e6, "ns", "210 ms"},
		{1.523e9, "ns", "1.52 s"},
		{34100.0, "ns", "34.1 µs"},
		{125e9, "ns", "2 min 5 s"},
		{3599.4e9, "ns", "59 min 59 s"},
		{3599.6e9, "ns", "1 h"},
		{-1e14, "ns", "−27 h 47 min"},
		{12.0, "ns", "12 ns"},
		{61.24, "ns", "61.2 ns"},
		{6.587, "ns", "6.59 ns"},
		{267.3, "ns", "267 ns"},
		{0.0, "ns", "0 ns"},
		{999.6e6, "ns", "1.00 s"},
		{13002342.4, "bytes", "12.4 MiB"},
		{100.0, "bytes", "100 B"},
		{12345.0, "1", "12 345"},
		{7.0, "1", "7"},
		{1234567.0, "1", "1.23 M"},
		{41.5, "1/s", "41.5 1/s"},
		{(double)NAN, "ns", "?"},
	};
	char text[FG_NUMBER_TEXT_SIZE];

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++)
		assert_string_equal(fg_format_value(cases[i].value, cases[i].unit, text),
				    cases[i].text);
	assert_string_equal(fg_format_change(0.048, text), "+4.8 %");
	assert_string_equal(fg_format_change(-0.25, text), "−25.0 %");
	assert_string_equal(fg_format_without_sign(text), "25.0 %");
	assert_string_equal(fg_format_without_sign("+25.0 %"), "25.0 %");
	assert_string_equal(fg_format_signed(-0.00123, 2, text), "−0.0012");
	assert_string_equal(fg_format_signed(150, 2, text), "+150");
	assert_string_equal(fg_format_signed(99.7, 2, text), "+100");
	assert_string_equal(fg_format_signed(99.4, 2, text), "+99");
	assert_string_equal(fg_format_signed(-1234.5, 3, text), "−1234");
	assert_string_equal(fg_format_sign(0), "+");
	assert_string_equal(fg_format_change(0.0004, text), "+0.04 %");
	assert_string_equal(fg_format_change(0.0, text), "+0.0 %");
	assert_string_equal(fg_format_change(-0.00001, text), "+0.0 %");
	assert_string_equal(fg_format_change(-0.00006, text), "−0.01 %");
	assert_string_equal(fg_format_change((double)NAN, text), "?");
}

FG_TEST(changes_beyond_ten_times_are_factors)
{
	char text[FG_NUMBER_TEXT_SIZE];

	assert_string_equal(fg_format_change(1.1, text), "+110.0 %");
	assert_string_equal(fg_format_change(9.99, text), "+999.0 %");
	assert_string_equal(fg_format_change(10, text), "×11");
	assert_string_equal(fg_format_change(431.39, text), "×432");
	assert_string_equal(fg_format_change(2e6, text), "×2.00 M");
}

FG_TEST(written_doubles_read_back_the_same)
{
	static const double values[] = {0.1, 1.0 / 3.0, 1e300, -2.5e-308, 123456789.125, 0.0};
	char text[FG_NUMBER_TEXT_SIZE];

	for (size_t i = 0; i < FG_ARRAY_SIZE(values); i++) {
		double back = 1.0;

		assert_int_equal(fg_parse_double(fg_format_double(values[i], text), &back, NULL),
				 FG_OK);
		assert_memory_equal(&back, &values[i], sizeof(back));
	}
	assert_string_equal(fg_format_double(0.1, text), "0.1");
}

/* The fast path for few decimals agrees with printf(). */
FG_TEST(doubles_are_written_as_printf_writes_them)
{
	struct fg_random random;
	char text[FG_NUMBER_TEXT_SIZE];

	fg_random_seed(&random, 5);
	for (unsigned i = 0; i < 20000; i++) {
		const double scale = pow(10, (double)fg_random_below(&random, 22) - 8);
		const double decimals = pow(10, (double)fg_random_below(&random, 9));
		const double value = (fg_random_below(&random, 2) ? -1 : 1) *
				     round(fg_random_uniform(&random) * scale * decimals) /
				     decimals;
		char expected[64];

		(void)snprintf(expected, sizeof(expected), "%.15g", value);
		if (strtod(expected, NULL) < value || strtod(expected, NULL) > value)
			continue; /* needs more digits, which another test covers */
		assert_string_equal(fg_format_double(value, text), expected);
	}
	assert_string_equal(fg_format_double(123456789012345.0, text), "123456789012345");
	assert_string_equal(fg_format_double(1e15, text), "1e+15");
	assert_string_equal(fg_format_double(0.0001, text), "0.0001");
	assert_string_equal(fg_format_double(-0.00001, text), "-1e-05");
	assert_string_equal(fg_format_double(-2.5, text), "-2.5");
	assert_string_equal(fg_format_double(0, text), "0");
}
