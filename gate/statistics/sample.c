// SPDX-License-Identifier: Apache-2.0
#include "gate/statistics/sample.h"

#include "base/base.h"
#include "base/sort.h"

#include <math.h>

#define ROUNDING 1e-13 /* relative rounding error of a mean */

double *fg_sorted_copy(const double *values, size_t count)
{
	double *copy;

	if (count == 0)
		return NULL;
	copy = fg_xcalloc(count, sizeof(copy[0]));
	memcpy(copy, values, count * sizeof(copy[0]));
	fg_sort(copy, count);
	return copy;
}

bool fg_all_finite(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			return false;
	}
	return true;
}

double fg_mean(const double *values, size_t count)
{
	double sum = 0.0;

	if (count == 0)
		return (double)NAN;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

double fg_variance(const double *values, size_t count)
{
	double mean = fg_mean(values, count);
	double sum = 0.0;

	if (count < 2)
		return (double)NAN;
	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum / ((double)count - 1.0);
}

double fg_sorted_quantile(const double *sorted, size_t count, double p)
{
	double position = p * ((double)count - 1.0);
	size_t below;
	size_t above;

	if (count == 0 || !(p >= 0.0 && p <= 1.0))
		return (double)NAN;
	below = (size_t)floor(position);
	above = fg_min_size(below + 1, count - 1);
	return sorted[below] + (position - (double)below) * (sorted[above] - sorted[below]);
}

double fg_quantile(const double *values, size_t count, double p)
{
	double *sorted = fg_sorted_copy(values, count);
	double result = fg_sorted_quantile(sorted, count, p);

	free(sorted);
	return result;
}

double fg_median(const double *values, size_t count)
{
	return fg_quantile(values, count, 0.5);
}

double fg_mad(const double *values, size_t count)
{
	double median = fg_median(values, count);
	double *distance;
	double result;

	if (count == 0)
		return (double)NAN;
	distance = fg_xcalloc(count, sizeof(distance[0]));
	for (size_t i = 0; i < count; i++)
		distance[i] = fabs(values[i] - median);
	fg_sort(distance, count);
	result = 1.4826 * fg_sorted_quantile(distance, count, 0.5);
	free(distance);
	return result;
}

double fg_autocorrelation(const double *values, size_t count, size_t lag)
{
	double mean = fg_mean(values, count);
	/* Equal values differ from their mean by its rounding error. */
	double least = (double)count * (ROUNDING * mean) * (ROUNDING * mean);
	double own = 0.0;
	double shared = 0.0;

	if (count < 2 || lag >= count)
		return (double)NAN;
	for (size_t i = 0; i < count; i++) {
		own += (values[i] - mean) * (values[i] - mean);
		if (i + lag < count)
			shared += (values[i] - mean) * (values[i + lag] - mean);
	}
	return own > least ? shared / own : (double)NAN;
}
