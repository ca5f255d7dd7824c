// SPDX-License-Identifier: Apache-2.0
#include "gate/statistics/signed_rank.h"

#include "base/base.h"

#include <math.h>

#define EXACT_MAX 200

/* Each rank joins the sum or not, with even chance: the distribution grows rank by rank. */
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
	test = fg_test_exact(probability, size, statistic);
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
	if (ties <= 0.0 && used <= EXACT_MAX)
		test = signed_rank_exact(used, sum);
	else
		test = fg_test_normal(sum, n * (n + 1.0) / 4.0,
				      n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0);
	free(items);
	return test;
}
