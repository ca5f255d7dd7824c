// SPDX-License-Identifier: Apache-2.0
#include "gate/statistics/location.h"

#include "base/base.h"
#include "gate/statistics/sample.h"

#include <math.h>

/* Returns the number of values to trim at each end. At least one value always remains. */
static size_t cut_of(size_t count, double share)
{
	/* Rounding must not turn 0.2 of 35, which is 7, into 6. */
	size_t cut = (size_t)floor(share * (double)count + 1e-9);

	return 2 * cut >= count ? (count - 1) / 2 : cut;
}

/*
 * Computes the winsorised variance, in which each value beyond a cut counts as the value at the
 * cut.
 */
static double winsorised_variance(const double *sorted, size_t count, size_t cut)
{
	double mean = 0.0;
	double squares = 0.0;

	for (size_t i = 0; i < count; i++) {
		size_t at = i < cut ? cut : fg_min_size(i, count - 1 - cut);

		mean += sorted[at] / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		size_t at = i < cut ? cut : fg_min_size(i, count - 1 - cut);

		squares += (sorted[at] - mean) * (sorted[at] - mean);
	}
	return squares / ((double)count - 1.0);
}

struct fg_trimmed fg_trimmed_mean(const double *values, size_t count, double share)
{
	struct fg_trimmed result = {
		.count = count, .mean = (double)NAN, .standard_error = (double)NAN};
	double n = (double)count;
	double *sorted;
	size_t cut;

	if (count == 0 || !(share >= 0.0 && share < 0.5))
		return result;
	cut = cut_of(count, share);
	sorted = fg_sorted_copy(values, count);
	result.kept = count - 2 * cut;
	result.degrees_of_freedom = (double)result.kept - 1.0;
	result.mean = fg_mean(sorted + cut, result.kept);
	if (result.kept >= 2) {
		double variance = winsorised_variance(sorted, count, cut);

		result.standard_error = sqrt(variance) / ((1.0 - 2.0 * share) * sqrt(n));
	}
	free(sorted);
	return result;
}

void fg_winsorise(const double *values, size_t count, double share, double *out)
{
	double *sorted = fg_sorted_copy(values, count);
	size_t cut = count > 0 ? cut_of(count, share) : 0;

	for (size_t i = 0; i < count; i++)
		out[i] = fmin(fmax(values[i], sorted[cut]), sorted[count - 1 - cut]);
	free(sorted);
}
