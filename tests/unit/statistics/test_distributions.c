// SPDX-License-Identifier: Apache-2.0
/* Reference values: R 4.2.2 (qnorm, pnorm, qt, pt, pbinom, qbinom, binom.test), 17 digits. */
#include "gate/statistics/distributions.h"
#include "gate/statistics/proportion.h"
#include "tests/unit/statistics/close.h"

FG_TEST(normal_quantiles_are_those_of_r)
{
	static const double table[][2] = {
		{1e-10, -6.36134090240405570},     {0.001, -3.09023230616781319},
		{0.025, -1.95996398454005383},     {0.3, -0.52440051270804067},
		{0.9, 1.28155156554460081},        {0.995, 2.57582930354889994},
		{1.0 - 1e-6, 4.75342430881708911},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_close(fg_normal_quantile(table[i][0]), table[i][1], 1e-13);
	assert_near(fg_normal_quantile(0.5), 0.0, 1e-15);
}

FG_TEST(normal_cdf_keeps_small_tails)
{
	assert_close(fg_normal_cdf(-10), 7.6198530241605269e-24, 1e-13);
	assert_close(fg_normal_cdf(-3), 1.3498980316300946e-03, 1e-13);
	assert_close(fg_normal_cdf(2), 9.7724986805182079e-01, 1e-13);
	assert_close(fg_normal_cdf(fg_normal_quantile(1e-200)), 1e-200, 1e-9);
}

FG_TEST(t_quantiles_are_those_of_r)
{
	static const double table[][3] = {
		{0.995, 5, 4.032142983555228710},    {0.99, 9, 2.821437925025807480},
		{0.9995, 3.7, 9.474240137124663619}, {0.6, 2, 0.288675134594813143},
		{0.975, 1, 12.706204736174694148},   {1e-5, 47, -4.742164612302024018},
		{0.51, 30, 0.025278783971765903},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_close(fg_t_quantile(table[i][0], table[i][1]), table[i][2], 1e-11);
	assert_near(fg_t_quantile(0.5, 7), 0.0, 1e-15);
}

FG_TEST(t_cdf_is_that_of_r)
{
	assert_close(fg_t_cdf(2.5, 4), 9.6661672759400596e-01, 1e-13);
	assert_close(fg_t_cdf(-1.2, 11.5), 1.2713851311243501e-01, 1e-13);
	assert_close(fg_t_cdf(-8, 47), 1.2736247903292179e-10, 1e-11);
	assert_close(fg_t_cdf(0.1, 1), 5.3172551743055352e-01, 1e-13);
}

FG_TEST(clopper_pearson_is_that_of_binom_test)
{
	struct fg_proportion p = fg_clopper_pearson(0, 300, 0.95);

	assert_near(p.low, 0.0, 0.0);
	assert_close(p.high, 0.012220974694293507, 1e-12);
	p = fg_clopper_pearson(7, 1000, 0.99);
	assert_close(p.estimate, 0.007, 1e-15);
	assert_close(p.low, 0.0020413865714447583, 1e-12);
	assert_close(p.high, 0.0170469318350885413, 1e-12);
	p = fg_clopper_pearson(13, 20, 0.95);
	assert_close(p.low, 0.40781146546717190, 1e-12);
	assert_close(p.high, 0.84609079521545882, 1e-12);
	p = fg_clopper_pearson(5, 5, 0.95);
	assert_close(p.low, 0.47817624989501861, 1e-12);
	assert_near(p.high, 1.0, 0.0);
}

/* Student's t with one degree of freedom is the Cauchy distribution: tan(pi (p - 1/2)). */
FG_TEST(t_quantiles_around_the_median_keep_their_digits)
{
	const double pi = acos(-1.0);
	const double away = ldexp(1.0, -30);

	assert_close(fg_t_quantile(0.5 + away, 1), tan(pi * away), 1e-11);
	assert_close(fg_t_quantile(0.5 - away, 1), -tan(pi * away), 1e-11);
}

/* One trial excludes only one tail of the range. */
FG_TEST(clopper_pearson_of_one_trial_leaves_nearly_the_whole_range)
{
	struct fg_proportion p = fg_clopper_pearson(1, 1, 0.95);

	assert_near(p.estimate, 1.0, 0.0);
	assert_close(p.low, 0.025, 1e-12);
	assert_near(p.high, 1.0, 0.0);
	p = fg_clopper_pearson(0, 1, 0.95);
	assert_near(p.estimate, 0.0, 0.0);
	assert_near(p.low, 0.0, 0.0);
	assert_close(p.high, 0.975, 1e-12);
}

FG_TEST(ends_of_the_range_are_infinite_or_whole)
{
	struct fg_proportion nothing = fg_clopper_pearson(0, 0, 0.95);

	assert_true(isinf(fg_normal_quantile(0.0)) && fg_normal_quantile(0.0) < 0);
	assert_true(isinf(fg_normal_quantile(1.0)) && fg_normal_quantile(1.0) > 0);
	assert_true(isinf(fg_t_quantile(0.0, 3)) && fg_t_quantile(0.0, 3) < 0);
	assert_true(isinf(fg_t_quantile(1.0, 3)) && fg_t_quantile(1.0, 3) > 0);
	assert_near(fg_t_cdf((double)INFINITY, 3), 1.0, 0.0);
	assert_near(fg_t_cdf(-(double)INFINITY, 3), 0.0, 0.0);
	assert_true(isnan(nothing.estimate));
	assert_near(nothing.low, 0.0, 0.0);
	assert_near(nothing.high, 1.0, 0.0);
}

FG_TEST(arguments_without_sense_give_nan)
{
	assert_true(isnan(fg_normal_quantile(-0.1)));
	assert_true(isnan(fg_normal_quantile(1.1)));
	assert_true(isnan(fg_normal_quantile((double)NAN)));
	assert_true(isnan(fg_t_quantile(-0.1, 3)));
	assert_true(isnan(fg_t_quantile(1.1, 3)));
	assert_true(isnan(fg_t_quantile((double)NAN, 3)));
	assert_true(isnan(fg_t_quantile(0.5, 0.0)));
	assert_true(isnan(fg_t_cdf(1.0, -1.0)));
	assert_true(isnan(fg_t_cdf(1.0, 0.0)));
	assert_true(isnan(fg_t_cdf((double)NAN, 3)));
	assert_true(isnan(fg_clopper_pearson(3, 2, 0.95).low));
	for (int i = -1; i < 3; i++) {
		assert_true(isnan(fg_clopper_pearson(1, 2, i).low));
		assert_true(isnan(fg_clopper_pearson(1, 2, i).high));
	}
}
