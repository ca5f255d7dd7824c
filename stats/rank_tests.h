/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that look at signs and ranks only, and Welch's test beside them: what the gate uses as a
 * veto, and what popular benchmark tools decide with.  No test changes its input; values must be
 * finite.
 */
#ifndef FG_STATS_RANK_TESTS_H
#define FG_STATS_RANK_TESTS_H

#include <stdbool.h>
#include <stddef.h>

struct fg_test {
	double statistic;
	double p_greater; /* against "no larger than zero", or "first not above second" */
	double p_less;
	double p_two_sided;
	bool exact; /* no approximation was needed */
};

/*
 * Sign test of "the median is `center`"; values equal to it are left out.  Exact.  The statistic is
 * the number of values above.  With no value off the center all p are 1.
 */
struct fg_test fg_sign_test(const double *values, size_t count, double center);

/*
 * Wilcoxon's signed-rank test of "symmetric around `center`".  Exact without ties and up to 200
 * values, otherwise normal with continuity and tie correction.  The statistic is the sum of the
 * ranks above.
 */
struct fg_test fg_signed_rank_test(const double *values, size_t count, double center);

/*
 * Mann-Whitney test of two independent samples.  Exact without ties and up to 50 values a side,
 * otherwise normal with continuity and tie correction.  The statistic is U of the first: how often
 * it exceeds the second.
 */
struct fg_test fg_mann_whitney_test(const double *first, size_t first_count, const double *second,
				    size_t second_count);

struct fg_mean_difference {
	double difference; /* mean(first) - mean(second) */
	double standard_error;
	double degrees_of_freedom;
	struct fg_test test;
};

/*
 * Student's test with unequal variances (Welch 1947).  NaN where a sample has fewer than two
 * values.
 */
struct fg_mean_difference fg_welch_test(const double *first, size_t first_count,
					const double *second, size_t second_count);

/*
 * Interval of the median from order statistics (1-based positions returned): the widest pair (k, n
 * + 1 - k) whose coverage is at least `confidence`.  0 when n is too small for it.
 */
size_t fg_median_interval_rank(size_t count, double confidence);

#endif
