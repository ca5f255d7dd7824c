// SPDX-License-Identifier: Apache-2.0
#include "gate/statistics/signed_rank.h"

#include "base/base.h"
#include "gate/statistics/distributions.h"
#include "gate/statistics/sample.h"

#include <math.h>

enum {
	EXACT_MAX = 40
};

/*
 * Computes P(sum of ranks = 0, 1, ...). The caller frees the array. Each rank joins the sum with
 * probability 1/2, so the distribution is built up rank by rank.
 */
static double *rank_sum_distribution(size_t count)
{
	double *probability = fg_xcalloc(count * (count + 1) / 2 + 1, sizeof(probability[0]));
	size_t top = 0;

	probability[0] = 1.0;
	for (size_t rank = 1; rank <= count; rank++) {
		top += rank;
		for (size_t sum = top + 1; sum-- > 0;) {
			double with = sum >= rank ? probability[sum - rank] : 0.0;

			probability[sum] = 0.5 * (probability[sum] + with);
		}
	}
	return probability;
}

/* Returns the number of rank sums, from 0 up, whose joint probability is at most `share`. */
static size_t count_improbable_exact(size_t count, double share)
{
	double *probability = rank_sum_distribution(count);
	double tail = probability[0];
	size_t sums = 0;

	while (tail <= share)
		tail += probability[++sums];
	free(probability);
	return sums;
}

static double deviation_of_sums(double n)
{
	return sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);
}

/*
 * Like count_improbable_exact(), but approximated by the normal distribution. The result is
 * conservative, because rank sums have lighter tails.
 */
static size_t count_improbable_normal(size_t count, double share)
{
	const double n = (double)count;
	const double largest =
		n * (n + 1.0) / 4.0 - 0.5 + fg_normal_quantile(share) * deviation_of_sums(n);

	return largest < 0.0 ? 0 : (size_t)largest + 1;
}

/*
 * Returns the probability of rank sums up to `sum`, exact or approximated, depending on the number
 * of values.
 */
static double improbability(size_t count, size_t sum)
{
	const double n = (double)count;
	double *probability = NULL;
	double tail = 0.0;

	if (count > EXACT_MAX)
		return fg_normal_cdf(((double)sum + 0.5 - n * (n + 1.0) / 4.0) /
				     deviation_of_sums(n));
	probability = rank_sum_distribution(count);
	for (size_t i = 0; i <= sum; i++)
		tail += probability[i];
	free(probability);
	return fmin(tail, 1.0);
}

/*
 * Counts the pairwise means of sorted values that are at most `limit` (a value is also paired with
 * itself); *highest is the largest of these means.
 */
static size_t count_means(const double *sorted, size_t count, double limit, double *highest)
{
	size_t end = count;
	size_t found = 0;

	*highest = sorted[0];
	for (size_t i = 0; i < end; i++) {
		while (end > i && 0.5 * (sorted[i] + sorted[end - 1]) > limit)
			end--;
		if (end <= i)
			break;
		found += end - i;
		*highest = fmax(*highest, 0.5 * (sorted[i] + sorted[end - 1]));
	}
	return found;
}

/*
 * Returns the mean of rank `rank` (from 1) in ascending order, by bisection: there are about
 * count^2 / 2 means.
 */
static double select_mean(const double *sorted, size_t count, size_t rank)
{
	double below = sorted[0];
	double limit = sorted[count - 1];
	const double near = 1e-15 * fmax(fabs(below), fabs(limit));
	double found;

	if (count_means(sorted, count, below, &found) >= rank)
		return below;
	while (limit - below > near) {
		const double middle = below + 0.5 * (limit - below);

		if (!(middle > below && middle < limit))
			break;
		if (count_means(sorted, count, middle, &found) >= rank)
			limit = middle;
		else
			below = middle;
	}
	(void)count_means(sorted, count, limit, &found);
	return found;
}

struct fg_rank_interval fg_signed_rank_interval(const double *values, size_t count, double share)
{
	struct fg_rank_interval found = {
		.low = (double)NAN, .high = (double)NAN, .estimate = (double)NAN};
	const size_t means = count * (count + 1) / 2;
	double *sorted = fg_sorted_copy(values, count);
	size_t sums;

	if (!sorted)
		return found;
	found.estimate = 0.5 * (select_mean(sorted, count, (means + 1) / 2) +
				select_mean(sorted, count, means / 2 + 1));
	sums = count <= EXACT_MAX ? count_improbable_exact(count, share)
				  : count_improbable_normal(count, share);
	if (sums > 0) {
		found.low = select_mean(sorted, count, sums);
		found.high = select_mean(sorted, count, means + 1 - sums);
	}
	free(sorted);
	return found;
}

double fg_signed_rank_error(const double *values, size_t count, double center)
{
	double *sorted = fg_sorted_copy(values, count);
	double ignored;
	double error = 1.0;

	if (sorted)
		error = improbability(count, count_means(sorted, count, center, &ignored));
	free(sorted);
	return error;
}
