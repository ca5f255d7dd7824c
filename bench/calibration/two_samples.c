// SPDX-License-Identifier: Apache-2.0
#include "bench/calibration/two_samples.h"

#include "base/base.h"
#include "gate/statistics/distributions.h"
#include "gate/statistics/sample.h"

#include <math.h>

#define EXACT_MAX 50

/*
 * The distribution of U without ties: the coefficients of the Gaussian binomial (n1+n2 over n1),
 * built factor by factor: multiply by 1 - q^(n2+i), divide by 1 - q^i.  Counts stay below 2^97 for
 * 50 per side; doubles keep the relative error of the sums far below what a p-value shows.
 */
static struct fg_test mann_whitney_exact(size_t n1, size_t n2, double statistic)
{
	size_t size = n1 * n2 + 1;
	double *ways = fg_xcalloc(size, sizeof(ways[0]));
	double total = 0.0;
	struct fg_test test;

	/* ways[u]: how many ways to place i items among n2 others give U = u. */
	ways[0] = 1.0;
	for (size_t i = 1; i <= n1; i++) {
		for (size_t u = size; u-- > n2 + i;)
			ways[u] -= ways[u - n2 - i];
		for (size_t u = i; u < size; u++)
			ways[u] += ways[u - i];
	}
	/* Small counts are sums of small numbers and exact; mirror them. */
	for (size_t u = size / 2; u < size; u++)
		ways[u] = ways[size - 1 - u];
	for (size_t u = 0; u < size; u++)
		total += ways[u];
	for (size_t u = 0; u < size; u++)
		ways[u] /= total;
	test = fg_test_exact(ways, size, statistic);
	free(ways);
	return test;
}

struct fg_test mann_whitney_test(const double *first, size_t first_count, const double *second,
				 size_t second_count)
{
	size_t count = first_count + second_count;
	struct fg_ranked *items = fg_xcalloc(count + 1, sizeof(items[0]));
	struct fg_test test = {.p_greater = 1.0, .p_less = 1.0, .p_two_sided = 1.0, .exact = true};
	double n1 = (double)first_count;
	double n2 = (double)second_count;
	double n = n1 + n2;
	double ties;
	double u;

	for (size_t i = 0; i < first_count; i++)
		items[i] = (struct fg_ranked){.value = first[i], .first = true};
	for (size_t i = 0; i < second_count; i++)
		items[first_count + i] = (struct fg_ranked){.value = second[i]};
	ties = fg_ranks_assign(items, count);
	u = fg_ranks_sum_first(items, count) - n1 * (n1 + 1.0) / 2.0;
	if (first_count > 0 && second_count > 0) {
		if (ties <= 0.0 && first_count <= EXACT_MAX && second_count <= EXACT_MAX)
			test = mann_whitney_exact(first_count, second_count, u);
		else
			test = fg_test_normal(u, n1 * n2 / 2.0,
					      n1 * n2 / 12.0 * (n + 1.0 - ties / (n * (n - 1.0))));
	}
	free(items);
	return test;
}

struct mean_difference welch_test(const double *first, size_t first_count, const double *second,
				  size_t second_count)
{
	struct mean_difference result = {
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
	result.test = fg_test_two_sided(result.test);
	return result;
}
