// SPDX-License-Identifier: Apache-2.0
/* Reference values: R 4.2.2 (wilcox.test, t.test). */
#include "bench/calibration/two_samples.h"
#include "tests/unit/statistics/close.h"
#include "tests/unit/statistics/reference_samples.h"

FG_TEST(mann_whitney_without_ties_is_exact)
{
	double u[40];
	double v[45];
	struct fg_test t =
		mann_whitney_test(reference_x, REFERENCE_X_COUNT, reference_y, REFERENCE_Y_COUNT);

	assert_true(t.exact);
	assert_near(t.statistic, 131, 0);
	assert_close(t.p_two_sided, 0.046866346139465005, 1e-12);
	assert_close(t.p_greater, 0.023433173069732503, 1e-12);
	for (int i = 0; i < 45; i++) {
		v[i] = i + 1 + 3.5;
		if (i < 40)
			u[i] = i + 1;
	}
	t = mann_whitney_test(u, 40, v, 45);
	assert_near(t.statistic, 666, 0);
	assert_close(t.p_two_sided, 0.039352997900810732, 1e-11);
}

FG_TEST(mann_whitney_with_ties_is_corrected)
{
	static const double a[] = {1, 2, 2, 3, 5, 8};
	static const double b[] = {2, 3, 4, 4, 9, 10, 11};
	struct fg_test t = mann_whitney_test(a, 6, b, 7);

	assert_near(t.statistic, 10.5, 0);
	assert_close(t.p_two_sided, 0.14972798189545125, 1e-12);
	assert_close(t.p_less, 0.074863990947725625, 1e-12);
}

FG_TEST(welch_is_t_test)
{
	struct mean_difference w =
		welch_test(reference_x, REFERENCE_X_COUNT, reference_y, REFERENCE_Y_COUNT);

	assert_close(w.test.statistic, 1.3676175057235143, 1e-12);
	assert_close(w.degrees_of_freedom, 14.595084282965695, 1e-12);
	assert_close(w.test.p_two_sided, 0.19212348321535766, 1e-11);
	assert_close(w.test.p_greater, 0.09606174160767883, 1e-11);
}

FG_TEST(nothing_to_compare_is_not_evidence)
{
	static const double zero[] = {0.0, 0.0, 0.0};

	assert_near(mann_whitney_test(zero, 3, NULL, 0).p_two_sided, 1.0, 0.0);
	assert_near(mann_whitney_test(zero, 3, zero, 3).p_two_sided, 1.0, 0.0);
	assert_true(isnan(welch_test(zero, 3, zero, 1).test.p_greater));
	assert_true(isnan(welch_test(zero, 3, zero, 3).test.p_greater));
}
