// SPDX-License-Identifier: Apache-2.0
/*
 * Reference values of the dip: a linear programme per candidate mode, straight from the definition
 * (least distance of a distribution function that is convex before and concave after the mode),
 * solved with SciPy 1.10.1 / HiGHS.
 */
#include "base/base.h"
#include "base/random.h"
#include "stats/modality.h"
#include "tests/unit/stats/close.h"

static void dip_is_the_distance_to_the_nearest_unimodal(void **state)
{
	static const struct {
		const char *why;
		double values[32];
		size_t count;
		double dip;
	} table[] = {
		{"two heaps",
		 {1, 1.1, 1.25, 1.4, 1.45, 5, 5.2, 5.25, 5.4, 5.7, 5.9},
		 11,
		 0.20170454545454503},
		{"even", {1, 2, 3, 4, 5, 6, 7, 8}, 8, 0.0625},
		{"one outlier", {0.1, 0.3, 0.35, 0.4, 0.42, 0.47, 0.5, 0.55, 0.7, 9}, 10, 0.0625},
		{"several heaps",
		 {0.2, 1.1, 1.3, 2.6, 2.7, 2.75, 4.0, 4.05, 4.1, 6.5, 7.7, 7.8, 9.9, 10},
		 14,
		 0.0956632653061224},
		{"three heaps", {1, 1.2, 1.3, 5, 5.1, 5.15, 9, 9.1, 9.4}, 9, 0.1541666666666666},
		{"two values", {1, 2}, 2, 0.25},
		{"normal",
		 {-2.56, -2.02, -1.06, -0.87, -0.67, -0.57, -0.51, -0.45, -0.39,
		  -0.35, -0.28, -0.24, -0.23, -0.22, -0.2,  -0.18, 0.02,  0.23,
		  0.42,  0.48,  0.55,  0.96,  1.55,  2.04,  3.32},
		 25,
		 0.0421917808219176},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const double dip = fg_dip(table[i].values, table[i].count);
		double mirrored[32];

		for (size_t k = 0; k < table[i].count; k++)
			mirrored[k] = -table[i].values[k];
		if (fabs(dip - table[i].dip) > 1e-9)
			fail_msg("%s: dip is %.12f, expected %.12f", table[i].why, dip,
				 table[i].dip);
		if (fabs(fg_dip(mirrored, table[i].count) - dip) > 1e-9)
			fail_msg("%s, mirrored", table[i].why);
	}
	assert_true(isnan(fg_dip(NULL, 0)));
}

/* More than are looked at: a fifth of them lies in the upper heap. */
static void of_many_values_the_shape_stays(void **state)
{
	enum {
		MANY = 2501
	};
	double *values = fg_xcalloc(MANY, sizeof(values[0]));
	struct fg_modality m;
	struct fg_random rng;

	(void)state;
	fg_random_seed(&rng, 5);
	for (size_t i = 0; i < MANY; i++)
		values[i] = (i % 5 == 0 ? 11.0 : 10.0) + 0.1 * fg_random_normal(&rng);
	m = fg_modality_test(values, MANY, 60, 1);
	assert_true(m.p < 0.02);
	assert_near(m.low_center, 10.0, 0.02);
	assert_near(m.high_center, 11.0, 0.02);
	assert_near(m.high_share, 0.2, 0.002);
	free(values);
}

static void two_modes_are_recognised_with_their_places(void **state)
{
	double values[60];
	struct fg_modality m;
	struct fg_random rng;

	(void)state;
	fg_random_seed(&rng, 4);
	for (int i = 0; i < 60; i++)
		values[i] = (i % 3 == 0 ? 11.0 : 10.0) + 0.1 * fg_random_normal(&rng);
	m = fg_modality_test(values, 60, 300, 1);
	assert_true(m.p < 0.01);
	assert_near(m.low_center, 10.0, 0.1);
	assert_near(m.high_center, 11.0, 0.1);
	assert_near(m.high_share, 1.0 / 3.0, 0.01);
	assert_true(m.cut > 10.3 && m.cut < 10.8);
}

static void one_mode_with_outliers_is_left_alone(void **state)
{
	struct fg_random rng;
	int flagged = 0;

	(void)state;
	fg_random_seed(&rng, 8);
	for (int round = 0; round < 100; round++) {
		double values[40];

		for (int i = 0; i < 40; i++)
			values[i] = exp(0.05 * fg_random_normal(&rng)) + (i % 13 == 0 ? 0.5 : 0.0);
		flagged += fg_modality_test(values, 40, 200, (uint64_t)round).p < 0.02;
	}
	assert_in_range(flagged, 0, 3);
}

static void samples_without_spread_have_one_mode(void **state)
{
	static const double equal[] = {5, 5, 5, 5, 5, 5, 5, 5};

	(void)state;
	assert_near(fg_dip(equal, 8), 1.0 / 16, 0.0);
	assert_near(fg_dip(equal, 1), 0.5, 0.0);
	assert_true(fg_modality_test(equal, 8, 200, 1).p > 0.5);
	assert_true(fg_modality_test(equal, 1, 200, 1).p > 0.5);
	assert_near(fg_modality_test(NULL, 0, 200, 1).p, 1.0, 0.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dip_is_the_distance_to_the_nearest_unimodal),
		cmocka_unit_test(of_many_values_the_shape_stays),
		cmocka_unit_test(two_modes_are_recognised_with_their_places),
		cmocka_unit_test(one_mode_with_outliers_is_left_alone),
		cmocka_unit_test(samples_without_spread_have_one_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
