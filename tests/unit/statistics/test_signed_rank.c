// SPDX-License-Identifier: Apache-2.0
/* Reference values: R 4.2.2 (wilcox.test), and all 2^n sums of ranks counted exactly. */
#include "base/random.h"
#include "gate/statistics/signed_rank.h"
#include "tests/unit/statistics/close.h"
#include "tests/unit/statistics/reference_samples.h"

enum {
	COUNT_MAX = 60
};

/* Makes the ranks 1 to `count`, and every third of them negative. */
static void every_third_below(size_t count, double *values)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (i + 1) % 3 == 0 ? -((double)i + 1) : (double)i + 1;
}

FG_TEST(the_error_is_that_of_the_test)
{
	static const double four[] = {11.0, 8.0, 10.5, 13.0};
	double values[COUNT_MAX];

	assert_close(fg_signed_rank_error(reference_x, REFERENCE_X_COUNT, 0.0),
		     0.0090332031250000035, 1e-12);
	/* The negative value has rank 3, and 5 of 16 sums of ranks are at most that. */
	assert_close(fg_signed_rank_error(four, 4, 10.0), 5.0 / 16, 1e-15);
	assert_close(fg_signed_rank_error(&(double){2.0}, 1, 0.0), 0.5, 1e-15);
	assert_close(fg_signed_rank_error(&(double){2.0}, 1, 3.0), 1, 1e-15);
	assert_close(fg_signed_rank_error(four, 0, 0.0), 1, 1e-15);
	/* Beyond 40 values the normal approximation is used, with a correction of half a step. */
	every_third_below(COUNT_MAX, values);
	assert_close(
		fg_signed_rank_error(values, COUNT_MAX, 0.0),
		0.5 * erfc((915.0 - 630.0 - 0.5) / sqrt(60.0 * 61.0 * 121.0 / 24.0) / sqrt(2.0)),
		1e-9);
}

/*
 * The low end lies above a centre if and only if the error at that centre is small enough, and the
 * high end likewise below it.
 */
FG_TEST(the_interval_is_all_that_the_test_does_not_reject)
{
	static const double shares[] = {0.1, 0.01, 0.00025};
	struct fg_random random;

	fg_random_seed(&random, 1);
	for (int run = 0; run < 600; run++) {
		const size_t count = 1 + fg_random_below(&random, COUNT_MAX);
		const double share = shares[run % 3];
		double values[COUNT_MAX];
		double turned[COUNT_MAX];
		struct fg_rank_interval found;

		for (size_t i = 0; i < count; i++) {
			values[i] = 0.3 + fg_random_normal(&random);
			if (run % 2) /* ties */
				values[i] = round(4 * values[i]) / 4;
			turned[i] = -values[i];
		}
		found = fg_signed_rank_interval(values, count, share);
		assert_int_equal(isnan(found.low), exp2(-(double)count) > share);
		if (isnan(found.low))
			continue;
		assert_true(found.low <= found.estimate && found.estimate <= found.high);
		assert_true(fg_signed_rank_error(values, count, found.low - 1e-9) <= share);
		assert_true(fg_signed_rank_error(values, count, found.low + 1e-9) > share);
		assert_true(fg_signed_rank_error(turned, count, -found.high - 1e-9) <= share);
		assert_true(fg_signed_rank_error(turned, count, -found.high + 1e-9) > share);
	}
}

FG_TEST(twelve_values_reach_from_the_least_to_the_largest)
{
	double values[12];
	struct fg_rank_interval found;

	for (size_t i = 0; i < 12; i++)
		values[i] = (double)(i * i);
	found = fg_signed_rank_interval(values, 12, exp2(-12));
	assert_near(found.low, 0, 0);
	assert_near(found.high, 121, 0);
	found = fg_signed_rank_interval(values, 12, 0.99 * exp2(-12));
	assert_true(isnan(found.low) && isnan(found.high) && isfinite(found.estimate));
	assert_true(isnan(fg_signed_rank_interval(values, 0, 0.5).estimate));
}
