// SPDX-License-Identifier: Apache-2.0
#include "gate/statistics/evidence.h"

#include "base/base.h"

#include <math.h>

enum {
	STAKES = 4
};

/* The share of capital that each bettor stakes; each starts with a quarter of the whole. */
static const double stakes[STAKES] = {0.1, 0.3, 0.6, 0.95};

/*
 * A value of at least half the median size of earlier values has full weight, so this is nearly a
 * sign test, but values near zero count little.
 */
#define FULL_SIZE 0.5

static double mean_capital(const double *logarithms)
{
	double most = logarithms[0];
	double sum = 0.0;

	for (size_t i = 1; i < STAKES; i++)
		most = fmax(most, logarithms[i]);
	for (size_t i = 0; i < STAKES; i++)
		sum += exp(logarithms[i] - most) / STAKES;
	return most + log(sum);
}

double fg_evidence_max(size_t count)
{
	double logarithms[STAKES] = {0};

	for (size_t i = 0; i < STAKES; i++)
		logarithms[i] = (double)count * log1p(stakes[i]);
	return mean_capital(logarithms);
}

static void insert(double *sorted, size_t count, double value)
{
	size_t at = count;

	for (; at > 0 && sorted[at - 1] > value; at--)
		sorted[at] = sorted[at - 1];
	sorted[at] = value;
}

/*
 * The score is from -1 to 1, odd and monotone, so betting on values that are symmetric about a
 * centre of at most zero does not win on average.
 */
static double score(double value, double full)
{
	if (full > 0.0)
		return fmax(-1.0, fmin(1.0, value / full));
	return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0;
}

double fg_evidence(const double *values, size_t count)
{
	double logarithms[STAKES] = {0};
	double *sizes = fg_xcalloc(count + 1, sizeof(sizes[0]));
	double result = 0.0;

	for (size_t i = 0; i < count; i++) {
		const double full = i > 0 ? FULL_SIZE * sizes[(i - 1) / 2] : 0.0;
		const double scored = score(values[i], full);

		for (size_t k = 0; k < STAKES; k++)
			logarithms[k] += log1p(stakes[k] * scored);
		insert(sizes, i, fabs(values[i]));
	}
	result = mean_capital(logarithms);
	free(sizes);
	return result;
}
