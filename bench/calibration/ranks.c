// SPDX-License-Identifier: Apache-2.0
#include "bench/calibration/ranks.h"

#include "base/base.h"
#include "gate/statistics/distributions.h"

#include <math.h>

static double at_most_one(double p)
{
	return p < 1.0 ? p : 1.0;
}

struct fg_test fg_test_two_sided(struct fg_test test)
{
	test.p_two_sided = at_most_one(2.0 * fmin(test.p_greater, test.p_less));
	return test;
}

static int compare_ranked(const void *left, const void *right)
{
	double a = ((const struct fg_ranked *)left)->value;
	double b = ((const struct fg_ranked *)right)->value;

	return (a > b) - (a < b);
}

double fg_ranks_assign(struct fg_ranked *items, size_t count)
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

double fg_ranks_sum_first(const struct fg_ranked *items, size_t count)
{
	double sum = 0.0;

	for (size_t i = 0; i < count; i++) {
		if (items[i].first)
			sum += items[i].rank;
	}
	return sum;
}

struct fg_test fg_test_normal(double statistic, double mean, double variance)
{
	struct fg_test test = {.statistic = statistic, .p_greater = 1.0, .p_less = 1.0};

	if (variance > 0.0) {
		double sd = sqrt(variance);

		test.p_greater = fg_normal_cdf(-(statistic - mean - 0.5) / sd);
		test.p_less = fg_normal_cdf((statistic - mean + 0.5) / sd);
	}
	return fg_test_two_sided(test);
}

struct fg_test fg_test_exact(const double *probability, size_t size, double statistic)
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
	return fg_test_two_sided(test);
}
