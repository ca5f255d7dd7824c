/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of two independent samples, as used by popular benchmark tools; fastgate itself decides by
 * pairs. Values must be finite; they are not reordered.
 */
#ifndef FG_BENCH_CALIBRATION_TWO_SAMPLES_H
#define FG_BENCH_CALIBRATION_TWO_SAMPLES_H

#include "bench/calibration/ranks.h"

/*
 * Mann-Whitney.  Exact without ties and up to 50 values per side; for other samples, the normal
 * approximation with continuity and tie correction.  The statistic is U of the first sample: the
 * number of pairs of values in which it exceeds the second.
 */
struct fg_test mann_whitney_test(const double *first, size_t first_count, const double *second,
				 size_t second_count);

struct mean_difference {
	double difference; /* mean(first) - mean(second) */
	double standard_error;
	double degrees_of_freedom;
	struct fg_test test;
};

/* Student's test with unequal variances (Welch 1947); NaN below two values per sample. */
struct mean_difference welch_test(const double *first, size_t first_count, const double *second,
				  size_t second_count);

#endif
