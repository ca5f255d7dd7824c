// SPDX-License-Identifier: Apache-2.0
/*
 * Reference values: R 4.2.2: mean(trim =), the winsorised sd by hand, the median of all Walsh
 * averages.
 */
#include "gate/statistics/location.h"
#include "tests/unit/statistics/close.h"
#include "tests/unit/statistics/reference_samples.h"

FG_TEST(trimmed_mean_and_its_error_are_those_of_r)
{
	struct fg_trimmed t = fg_trimmed_mean(reference_x, REFERENCE_X_COUNT, 0.2);

	assert_int_equal(t.kept, 9);
	assert_close(t.mean, 0.011444444444444445, 1e-13);
	assert_close(t.standard_error, 0.00415909364702535, 1e-13);
	assert_near(t.degrees_of_freedom, 8.0, 0.0);
}

FG_TEST(without_trimming_it_is_the_plain_mean)
{
	static const double x[] = {1, 2, 3, 4};
	struct fg_trimmed t = fg_trimmed_mean(x, 4, 0.0);

	assert_close(t.mean, 2.5, 1e-15);
	assert_close(t.standard_error, sqrt(5.0 / 3.0 / 4.0), 1e-13);
}

FG_TEST(one_wild_value_does_not_move_it)
{
	double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	struct fg_trimmed calm = fg_trimmed_mean(x, 10, 0.2);
	struct fg_trimmed wild;

	x[9] = 1e9;
	wild = fg_trimmed_mean(x, 10, 0.2);
	assert_close(wild.mean, calm.mean, 1e-15);
	assert_close(wild.standard_error, calm.standard_error, 1e-15);
}

FG_TEST(the_error_of_large_values_is_that_of_their_differences)
{
	static const double x[] = {1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.7, 1e9 + 1.3};
	double differences[4];

	for (size_t i = 0; i < 4; i++)
		differences[i] = x[i] - 1e9;
	assert_close(fg_trimmed_mean(x, 4, 0.0).standard_error,
		     fg_trimmed_mean(differences, 4, 0.0).standard_error, 1e-9);
}

FG_TEST(at_least_one_value_is_always_kept)
{
	static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	static const struct {
		size_t count;
		double share;
		size_t kept;
	} table[] = {
		{1, 0.4999999999, 1}, {2, 0.4999999999, 2}, {10, 0.4999999999, 2},
		{10, 0.4, 2},         {9, 0.35, 3},         {5, 0.2, 3},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct fg_trimmed t = fg_trimmed_mean(x, table[i].count, table[i].share);

		assert_int_equal(t.kept, table[i].kept);
		assert_close(t.mean, 0.5 * (double)(table[i].count + 1), 1e-15);
	}
}

FG_TEST(too_small_samples_say_so)
{
	static const double x[] = {1, 2};

	assert_close(fg_trimmed_mean(x, 2, 0.0).standard_error, 0.5, 1e-15);
	assert_true(isnan(fg_trimmed_mean(x, 0, 0.2).mean));
	assert_true(isnan(fg_trimmed_mean(x, 1, 0.2).standard_error));
	assert_true(isnan(fg_trimmed_mean(x, 2, 0.5).mean));
	assert_int_equal(fg_trimmed_mean(x, 2, 0.49).kept, 2);
}

FG_TEST(winsorising_keeps_the_order_and_draws_the_ends_in)
{
	double x[] = {900, -100, 3, 5, 7, 4, 6, 2, 8, 1};
	static const double wanted[] = {7, 2, 3, 5, 7, 4, 6, 2, 7, 2};

	fg_winsorise(x, 10, 0.2, x);
	for (size_t i = 0; i < 10; i++)
		assert_near(x[i], wanted[i], 0.0);
	fg_winsorise(x, 1, 0.4, x);
	assert_near(x[0], 7.0, 0.0);
	fg_winsorise(x, 0, 0.2, x);
	assert_near(x[0], 7.0, 0.0);
}
