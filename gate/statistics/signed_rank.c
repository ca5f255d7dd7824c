// SPDX-License-Identifier: Apache-2.0
#include "gate/statistics/signed_rank.h"

#include "base/base.h"
#include "gate/statistics/distributions.h"
#include "gate/statistics/sample.h"

#include <math.h>

enum {
	TEST_EXACT_MAX = 200,
	INTERVAL_EXACT_MAX = 40,
};

/*
 * P(sum of ranks = 0, 1, ...), to be freed.  Each rank joins the sum or not, with even chance: the
 * distribution grows rank by rank.
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

static struct fg_test signed_rank_exact(size_t count, double statistic)
{
	double *probability = rank_sum_distribution(count);
	struct fg_test test = fg_test_exact(probability, count * (count + 1) / 2 + 1, statistic);

	free(probability);
	return test;
}

struct fg_test fg_signed_rank_test(const double *values, size_t count, double center)
{
	struct fg_ranked *items = fg_xcalloc(count + 1, sizeof(items[0]));
	struct fg_test test;
	size_t used = 0;
	double n;
	double ties;
	double sum;

	for (size_t i = 0; i < count; i++) {
		double distance = values[i] - center;

		if (fabs(distance) > 0.0)
			items[used++] = (struct fg_ranked){.value = fabs(distance),
							   .first = !signbit(distance)};
	}
	ties = fg_ranks_assign(items, used);
	sum = fg_ranks_sum_first(items, used);
	n = (double)used;
	/* No value at all makes one sum, whose tails are whole. */
	if (ties <= 0.0 && used <= TEST_EXACT_MAX)
		test = signed_rank_exact(used, sum);
	else
		test = fg_test_normal(sum, n * (n + 1.0) / 4.0,
				      n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0);
	free(items);
	return test;
}

/* How many rank sums, from 0 on, have at most this probability together. */
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

/* Rank sums have lighter tails than the normal distribution, so this is on the safe side. */
static size_t count_improbable_normal(size_t count, double share)
{
	const double n = (double)count;
	const double largest =
		n * (n + 1.0) / 4.0 - 0.5 +
		fg_normal_quantile(share) * sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);

	return largest < 0.0 ? 0 : (size_t)largest + 1;
}

/* Means of two sorted values (a value with itself is one) up to `limit`; *highest is the last. */
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

/* Mean number `rank` (from 1) in ascending order, by bisection: there are count^2 / 2 of them. */
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
	sums = count <= INTERVAL_EXACT_MAX ? count_improbable_exact(count, share)
					   : count_improbable_normal(count, share);
	if (sums > 0) {
		found.low = select_mean(sorted, count, sums);
		found.high = select_mean(sorted, count, means + 1 - sums);
	}
	free(sorted);
	return found;
}
