/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptive statistics of a sample. No function changes its input; functions that need sorted
 * values sort a copy. An empty sample, or one that is too small, gives NaN.
 */
#ifndef FG_STATS_SAMPLE_H
#define FG_STATS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns a sorted copy, which the caller frees; NULL for an empty sample. */
double *fg_sorted_copy(const double *values, size_t count);
bool fg_all_finite(const double *values, size_t count);

double fg_mean(const double *values, size_t count);
/* Divides the sum of squares by count - 1. */
double fg_variance(const double *values, size_t count);
double fg_median(const double *values, size_t count);
/*
 * Interpolates linearly between order statistics: type 7 of Hyndman and Fan, the default of R and
 * NumPy.
 */
double fg_quantile(const double *values, size_t count, double p);
double fg_sorted_quantile(const double *sorted, size_t count, double p);
/*
 * Returns the median absolute deviation times 1.4826: a standard deviation that outliers do not
 * affect.
 */
double fg_mad(const double *values, size_t count);
/*
 * Returns the sample autocorrelation at `lag` (divisor count, as in R's acf()); NaN when all values
 * are equal.
 */
double fg_autocorrelation(const double *values, size_t count, size_t lag);

#endif
