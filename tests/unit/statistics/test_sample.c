// SPDX-License-Identifier: Apache-2.0
/* Reference values: R 4.2.2 (quantile, mad, var, acf). */
#include "gate/statistics/sample.h"
#include "tests/unit/statistics/close.h"
#include "tests/unit/statistics/reference_samples.h"

#include <string.h>

FG_TEST(figures_are_those_of_r)
{
	assert_close(fg_quantile(reference_x, REFERENCE_X_COUNT, 0.1), -0.0081999999999999972,
		     1e-12);
	assert_close(fg_quantile(reference_x, REFERENCE_X_COUNT, 0.9), 0.0293999999999999956,
		     1e-12);
	assert_close(fg_median(reference_x, REFERENCE_X_COUNT), 0.012, 1e-12);
	assert_close(fg_mad(reference_x, REFERENCE_X_COUNT), 0.014826, 1e-12);
	assert_close(fg_variance(reference_x, REFERENCE_X_COUNT), 0.0079239238095238085, 1e-12);
	assert_close(fg_autocorrelation(reference_x, REFERENCE_X_COUNT, 1), -0.106014136014063912,
		     1e-12);
}

FG_TEST(figures_of_few_values_agree_with_those_by_hand)
{
	static const double two[] = {1, 4};
	static const double three[] = {100, 1, 2};

	assert_near(fg_variance(two, 2), 4.5, 1e-15);
	assert_near(fg_autocorrelation(two, 2, 1), -0.5, 1e-15);
	assert_near(fg_mad(two, 1), 0.0, 0.0);
	assert_near(fg_mad(three, 3), 1.4826, 1e-15);
}

/* Far from zero, only differences count; equal values stay equal. */
FG_TEST(large_values_have_the_figures_of_their_differences)
{
	static const double large[] = {1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.7, 1e9 + 1.3};
	double differences[4];
	double equal[7];

	for (size_t i = 0; i < 4; i++)
		differences[i] = large[i] - 1e9;
	assert_close(fg_variance(large, 4), fg_variance(differences, 4), 1e-9);
	for (int scale = -9; scale < 10; scale++) {
		for (size_t i = 0; i < 7; i++)
			equal[i] = pow(10, scale) / 3;
		assert_true(isnan(fg_autocorrelation(equal, 7, 1)));
	}
}

FG_TEST(the_input_is_left_as_it_was)
{
	double copy[REFERENCE_X_COUNT];

	memcpy(copy, reference_x, sizeof(copy));
	(void)fg_median(copy, REFERENCE_X_COUNT);
	(void)fg_mad(copy, REFERENCE_X_COUNT);
	assert_memory_equal(copy, reference_x, sizeof(copy));
}

FG_TEST(too_small_samples_give_nan)
{
	static const double one[] = {3.0};
	static const double ends[] = {5.0, 9.0, 1.0};
	static const double equal[] = {2.0, 2.0, 2.0};
	static const double tenths[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};

	assert_true(isnan(fg_mean(NULL, 0)));
	assert_true(isnan(fg_median(NULL, 0)));
	assert_true(isnan(fg_mad(NULL, 0)));
	assert_true(isnan(fg_variance(one, 1)));
	assert_true(isnan(fg_autocorrelation(equal, 3, 1)));
	/* Ten times a tenth is not one: the mean is not quite 0.1. */
	assert_true(isnan(fg_autocorrelation(tenths, 10, 1)));
	assert_true(isnan(fg_autocorrelation(reference_x, 1, 1)));
	assert_true(isnan(fg_autocorrelation(reference_x, REFERENCE_X_COUNT, REFERENCE_X_COUNT)));
	assert_true(isnan(fg_quantile(one, 1, 1.5)));
	assert_true(isnan(fg_quantile(one, 1, -0.1)));
	assert_true(isnan(fg_quantile(one, 1, (double)NAN)));
	assert_near(fg_quantile(ends, 3, 0), 1.0, 0.0);
	assert_near(fg_quantile(ends, 3, 1), 9.0, 0.0);
	assert_near(fg_median(one, 1), 3.0, 0.0);
}

FG_TEST(a_value_that_is_not_a_number_is_found)
{
	const double bad[] = {1.0, (double)NAN};
	const double infinite[] = {(double)INFINITY};

	assert_false(fg_all_finite(bad, 2));
	assert_false(fg_all_finite(infinite, 1));
	assert_true(fg_all_finite(bad, 1));
	assert_true(fg_all_finite(NULL, 0));
}
