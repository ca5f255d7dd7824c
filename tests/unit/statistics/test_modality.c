// SPDX-License-Identifier: Apache-2.0
/*
 * Reference values of the dip: a linear programme per candidate mode, straight from the definition
 * (least distance of a distribution function that is convex before and concave after the mode),
 * solved with SciPy 1.10.1 / HiGHS.
 */
#include "base/base.h"
#include "base/random.h"
#include "gate/statistics/modality.h"
#include "tests/unit/statistics/close.h"

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

/* More values than are examined: a fifth of them is in the upper heap. */
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

/*
 * Lines between heaps that mirror each other are parallel.  By the definition each outer heap, a
 * jump where no mode is, costs half of its share.
 */
static void heaps_that_mirror_each_other_are_as_far_from_one_mode_as_others(void **state)
{
	static const double scales[] = {1e-9, 1e-6, 1e-5, 1e-3, 0.01};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(scales); i++) {
		const double e = scales[i];
		const double values[] = {0,     e, 2 * e, 3 * e,     1,
					 1 + e, 2, 2 + e, 2 + 2 * e, 2 + 3 * e};

		assert_near(fg_dip(values, FG_ARRAY_SIZE(values)), 0.2, 0.5 * e);
	}
}

static void evenly_spaced_values_have_the_least_dip_however_they_round(void **state)
{
	struct fg_random rng;

	(void)state;
	fg_random_seed(&rng, 3);
	for (int round = 0; round < 300; round++) {
		const size_t count = 3 + fg_random_below(&rng, 45);
		const double step = fg_random_uniform(&rng);
		const double first = 10 * fg_random_normal(&rng);
		double values[48];

		for (size_t i = 0; i < count; i++)
			values[i] = first + step * (double)i;
		assert_near(fg_dip(values, count), 0.5 / (double)count, 1e-9);
	}
}

/* Values of a clock with coarse ticks; equal ones differ by a billionth. */
static void equal_values_are_as_good_as_nearly_equal_ones(void **state)
{
	struct fg_random rng;

	(void)state;
	fg_random_seed(&rng, 2);
	for (int round = 0; round < 500; round++) {
		const size_t count = 3 + fg_random_below(&rng, 30);
		const uint64_t levels = 2 + fg_random_below(&rng, 8);
		size_t used[10] = {0};
		double equal[33];
		double nearly[33];

		for (size_t i = 0; i < count; i++) {
			const uint64_t level = fg_random_below(&rng, levels);

			equal[i] = (double)level;
			nearly[i] = (double)level + 1e-9 * (double)used[level]++;
		}
		assert_near(fg_dip(equal, count), fg_dip(nearly, count), 1e-6);
	}
}

/* The first and the last are looked at, and others evenly between them. */
static void beyond_a_thousand_values_evenly_spaced_ones_are_looked_at(void **state)
{
	static const size_t counts[] = {999, 1000, 1001, 1500};
	double values[1500];
	double kept[1000];
	struct fg_random rng;

	(void)state;
	fg_random_seed(&rng, 6);
	for (size_t i = 0; i < FG_ARRAY_SIZE(values); i++)
		values[i] = i == 0 ? 0.0 : values[i - 1] + fg_random_uniform(&rng);
	for (size_t row = 0; row < FG_ARRAY_SIZE(counts); row++) {
		const size_t count = counts[row];
		const size_t most = fg_min_size(count, FG_ARRAY_SIZE(kept));

		for (size_t i = 0; i < most; i++)
			kept[i] = values[i * (count - 1) / (most - 1)];
		assert_near(fg_modality_test(values, count, 1, 1).dip, fg_dip(kept, most), 0.0);
	}
}

/* The same samples of the uniform distribution, drawn and counted here. */
static double share_with_as_large_a_dip(const double *values, size_t count, size_t rounds,
					uint64_t seed)
{
	const double dip = fg_dip(values, count);
	double *even = fg_xcalloc(count, sizeof(even[0]));
	struct fg_random rng;
	size_t reached = 0;
	size_t drawn = 0;

	fg_random_seed(&rng, seed);
	while (drawn < rounds && reached < 20) {
		double sum = 0.0;

		for (size_t i = 0; i < count; i++) {
			sum -= log1p(-fg_random_uniform(&rng));
			even[i] = sum;
		}
		reached += fg_dip(even, count) >= dip;
		drawn++;
	}
	free(even);
	return reached == 20 ? 20.0 / (double)drawn
			     : ((double)reached + 1.0) / ((double)rounds + 1.0);
}

static void p_is_the_share_of_even_samples_with_as_large_a_dip(void **state)
{
	static const double one[] = {1, 1.1, 1.3, 1.35, 1.4, 1.42, 1.5, 1.7, 2.2, 2.3};
	static const double two[] = {1, 1.1, 1.25, 1.4, 1.45, 3.1, 3.2, 3.25, 3.4, 3.7};
	static const double apart[] = {1, 1.01, 1.02, 1.03, 1.04, 9, 9.01, 9.02, 9.03, 9.04};
	static const struct {
		const double *values;
		size_t simulations;
		uint64_t seed;
	} rows[] = {
		{one, 1, 9}, {apart, 1, 9},  {one, 5, 1},     {one, 5, 2},   {one, 5, 3},
		{one, 5, 4}, {one, 100, 1},  {one, 1000, 2},  {two, 100, 3}, {two, 1000, 4},
		{two, 0, 5}, {apart, 50, 6}, {apart, 200, 7}, {apart, 0, 8},
	};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const size_t rounds = rows[i].simulations ? rows[i].simulations : 1000;

		assert_near(
			fg_modality_test(rows[i].values, 10, rows[i].simulations, rows[i].seed).p,
			share_with_as_large_a_dip(rows[i].values, 10, rounds, rows[i].seed), 1e-15);
	}
	assert_near(fg_modality_test(apart, 10, 0, 9).p, 1.0 / 1001, 1e-15);
}

/* Squares within {1, 2, 3} and {7, 8, 8.5, 9} are the least, and so on. */
static void the_cut_leaves_the_least_squares_on_both_sides(void **state)
{
	static const struct {
		double values[8];
		size_t count;
		double cut;
		double low;
		double high;
		double share;
	} rows[] = {
		{{9, 1, 8, 2, 8.5, 3, 7}, 7, 5, 2, 8.25, 4.0 / 7},
		{{1, 5}, 2, 3, 1, 5, 0.5},
		{{-4, 10, 10.5, 11, 12}, 5, 3, -4, 10.75, 0.8},
		{{-12, -11, -10.5, -10, 4}, 5, -3, -10.75, 4, 0.2},
		{{100, 101, 102, 104, 105, 106, 107}, 7, 103, 101, 105.5, 4.0 / 7},
		{{0.001, 0.002, 0.003, 0.0095, 0.01}, 5, 0.00625, 0.002, 0.00975, 0.4},
		{{3, 3, 3}, 3, 3, 3, 3, 2.0 / 3}, /* the first cut is as good as any */
	};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_modality m = fg_modality_test(rows[i].values, rows[i].count, 1, 1);

		assert_near(m.cut, rows[i].cut, 1e-12);
		assert_near(m.low_center, rows[i].low, 1e-12);
		assert_near(m.high_center, rows[i].high, 1e-12);
		assert_near(m.high_share, rows[i].share, 1e-12);
	}
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
		cmocka_unit_test(heaps_that_mirror_each_other_are_as_far_from_one_mode_as_others),
		cmocka_unit_test(evenly_spaced_values_have_the_least_dip_however_they_round),
		cmocka_unit_test(equal_values_are_as_good_as_nearly_equal_ones),
		cmocka_unit_test(beyond_a_thousand_values_evenly_spaced_ones_are_looked_at),
		cmocka_unit_test(p_is_the_share_of_even_samples_with_as_large_a_dip),
		cmocka_unit_test(the_cut_leaves_the_least_squares_on_both_sides),
		cmocka_unit_test(two_modes_are_recognised_with_their_places),
		cmocka_unit_test(one_mode_with_outliers_is_left_alone),
		cmocka_unit_test(samples_without_spread_have_one_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
