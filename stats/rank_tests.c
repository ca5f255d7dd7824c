// SPDX-License-Identifier: Apache-2.0
#include "stats/rank_tests.h"

#include "base/base.h"
#include "stats/distributions.h"
#include "stats/sample.h"

#include <math.h>

#define SIGNED_RANK_EXACT_MAX  200
#define MANN_WHITNEY_EXACT_MAX 50

static double at_most_one(double p)
{
	return p < 1.0 ? p : 1.0;
}

static struct fg_test two_sided(struct fg_test test)
{
	test.p_two_sided = at_most_one(2.0 * fmin(test.p_greater, test.p_less));
	return test;
}

struct fg_test fg_sign_test(const double *values, size_t count, double center)
{
	struct fg_test test = {.exact = true};
	size_t above = 0;
	size_t below = 0;

	for (size_t i = 0; i < count; i++) {
		above += values[i] > center;
		below += values[i] < center;
	}
	test.statistic = (double)above;
	test.p_greater = fg_binomial_upper(above, above + below, 0.5);
	test.p_less = fg_binomial_cdf(above, above + below, 0.5);
	return two_sided(test);
}

/* A value on its way to a rank. */
struct ranked {
	double value;
	double rank;
	bool first; /* from the first sample, or above the center */
};

static int compare_ranked(const void *left, const void *right)
{
	double a = ((const struct ranked *)left)->value;
	double b = ((const struct ranked *)right)->value;

	return (a > b) - (a < b);
}

/* Mid-ranks for ties; returns the sum of t^3 - t over the groups of t equal values. */
static double assign_ranks(struct ranked *items, size_t count)
{
	double ties = 0.0;
	size_t end;

	if (count == 0)
		return 0.0;
	qsort(items, count, sizeof(items[0]), compare_ranked);
	for (size_t start = 0; start < count; start = end) {
		double size;

		for (end = start + 1; end < count && items[end].value <= items[start].value; end++)
			;
		size = (double)(end - start);
		for (size_t i = start; i < end; i++)
			items[i].rank = 0.5 * (double)(start + 1 + end);
		ties += size * size * size - size;
	}
	return ties;
}

static double sum_of_first_ranks(const struct ranked *items, size_t count)
{
	double sum = 0.0;

	for (size_t i = 0; i < count; i++) {
		if (items[i].first)
			sum += items[i].rank;
	}
	return sum;
}

static struct fg_test normal_test(double statistic, double mean, double variance)
{
	struct fg_test test = {.statistic = statistic, .p_greater = 1.0, .p_less = 1.0};

	if (variance > 0.0) {
		double sd = sqrt(variance);

		test.p_greater = fg_normal_cdf(-(statistic - mean - 0.5) / sd);
		test.p_less = fg_normal_cdf((statistic - mean + 0.5) / sd);
	}
	return two_sided(test);
}

/* Both tails of a discrete distribution on 0..size-1 that is handed over as probabilities. */
static struct fg_test exact_test(const double *probability, size_t size, double statistic)
{
	struct fg_test test = {.statistic = statistic, .exact = true};
	size_t at = (size_t)(statistic + 0.5);

	for (size_t i = 0; i < size; i++) {
		if (i >= at)
			test.p_greater += probability[i];
		if (i <= at)
			test.p_less += probability[i];
	}
	test.p_greater = at_most_one(test.p_greater);
	test.p_less = at_most_one(test.p_less);
	return two_sided(test);
}

/*
 * How likely each rank sum is: one rank after the other is added or not, each with chance one half.
 */
static struct fg_test signed_rank_exact(size_t count, double statistic)
{
	size_t size = count * (count + 1) / 2 + 1;
	double *probability = fg_xcalloc(size, sizeof(probability[0]));
	size_t top = 0;
	struct fg_test test;

	probability[0] = 1.0;
	for (size_t rank = 1; rank <= count; rank++) {
		top += rank;
		for (size_t sum = top + 1; sum-- > 0;) {
			double with = sum >= rank ? probability[sum - rank] : 0.0;

			probability[sum] = 0.5 * (probability[sum] + with);
		}
	}
	test = exact_test(probability, size, statistic);
	free(probability);
	return test;
}

struct fg_test fg_signed_rank_test(const double *values, size_t count, double center)
{
	struct ranked *items = fg_xcalloc(count + 1, sizeof(items[0]));
	struct fg_test test = {.p_greater = 1.0, .p_less = 1.0, .p_two_sided = 1.0, .exact = true};
	size_t used = 0;
	double n;
	double ties;
	double sum;

	for (size_t i = 0; i < count; i++) {
		double distance = values[i] - center;

		if (fabs(distance) > 0.0)
			items[used++] =
				(struct ranked){.value = fabs(distance), .first = distance > 0.0};
	}
	ties = assign_ranks(items, used);
	sum = sum_of_first_ranks(items, used);
	n = (double)used;
	if (used > 0 && ties <= 0.0 && used <= SIGNED_RANK_EXACT_MAX)
		test = signed_rank_exact(used, sum);
	else if (used > 0)
		test = normal_test(sum, n * (n + 1.0) / 4.0,
				   n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0);
	free(items);
	return test;
}

/*
 * The distribution of U without ties: the coefficients of the Gaussian binomial (n1+n2 over n1),
 * built factor by factor: multiply by 1 - q^(n2+i), divide by 1 - q^i.  Counts stay below 2^97 for
 * 50 a side; doubles keep the relative error of the sums far below what a p-value shows.
 */
static struct fg_test mann_whitney_exact(size_t n1, size_t n2, double statistic)
{
	size_t size = n1 * n2 + 1;
	double *ways = fg_xcalloc(size, sizeof(ways[0]));
	double total = 0.0;
	struct fg_test test;

	/*
	 * ways[u] = number of ways to place i items with n2 others so that U = u; one item more a
	 * round.
	 */
	ways[0] = 1.0;
	for (size_t i = 1; i <= n1; i++) {
		for (size_t u = size; u-- > n2 + i;)
			ways[u] -= ways[u - n2 - i];
		for (size_t u = i; u < size; u++)
			ways[u] += ways[u - i];
	}
	/*
	 * Small counts came from small numbers alone and are right to the last digit; mirror them.
	 */
	for (size_t u = size / 2; u < size; u++)
		ways[u] = ways[size - 1 - u];
	for (size_t u = 0; u < size; u++)
		total += ways[u];
	for (size_t u = 0; u < size; u++)
		ways[u] /= total;
	test = exact_test(ways, size, statistic);
	free(ways);
	return test;
}

struct fg_test fg_mann_whitney_test(const double *first, size_t first_count, const double *second,
				    size_t second_count)
{
	size_t count = first_count + second_count;
	struct ranked *items = fg_xcalloc(count + 1, sizeof(items[0]));
	struct fg_test test = {.p_greater = 1.0, .p_less = 1.0, .p_two_sided = 1.0, .exact = true};
	double n1 = (double)first_count;
	double n2 = (double)second_count;
	double n = n1 + n2;
	double ties;
	double u;

	for (size_t i = 0; i < first_count; i++)
		items[i] = (struct ranked){.value = first[i], .first = true};
	for (size_t i = 0; i < second_count; i++)
		items[first_count + i] = (struct ranked){.value = second[i]};
	ties = assign_ranks(items, count);
	u = sum_of_first_ranks(items, count) - n1 * (n1 + 1.0) / 2.0;
	if (first_count > 0 && second_count > 0) {
		if (ties <= 0.0 && first_count <= MANN_WHITNEY_EXACT_MAX &&
		    second_count <= MANN_WHITNEY_EXACT_MAX)
			test = mann_whitney_exact(first_count, second_count, u);
		else
			test = normal_test(u, n1 * n2 / 2.0,
					   n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0))));
	}
	free(items);
	return test;
}

struct fg_mean_difference fg_welch_test(const double *first, size_t first_count,
					const double *second, size_t second_count)
{
	struct fg_mean_difference result = {
		.difference = fg_mean(first, first_count) - fg_mean(second, second_count),
		.standard_error = (double)NAN,
		.degrees_of_freedom = (double)NAN,
		.test = {.statistic = (double)NAN,
			 .p_greater = (double)NAN,
			 .p_less = (double)NAN,
			 .p_two_sided = (double)NAN},
	};
	double a;
	double b;
	double t;

	if (first_count < 2 || second_count < 2)
		return result;
	a = fg_variance(first, first_count) / (double)first_count;
	b = fg_variance(second, second_count) / (double)second_count;
	result.standard_error = sqrt(a + b);
	if (!(a + b > 0.0))
		return result;
	result.degrees_of_freedom =
		(a + b) * (a + b) /
		(a * a / ((double)first_count - 1.0) + b * b / ((double)second_count - 1.0));
	t = result.difference / result.standard_error;
	result.test.statistic = t;
	result.test.p_greater = fg_t_cdf(-t, result.degrees_of_freedom);
	result.test.p_less = fg_t_cdf(t, result.degrees_of_freedom);
	result.test = two_sided(result.test);
	return result;
}

size_t fg_median_interval_rank(size_t count, double confidence)
{
	size_t rank = 0;

	/* Both ends miss with probability 2 P(X <= rank - 1) = 2 P(X < rank). */
	while (rank + 1 <= (count + 1) / 2 &&
	       2.0 * fg_binomial_cdf(rank, count, 0.5) <= 1.0 - confidence)
		rank++;
	return rank;
}
