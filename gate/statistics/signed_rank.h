/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wilcoxon's signed-rank test: the interval of all centres that it does not reject.
 *
 * The test asks how often random signs would make the values as large as they are. If a fair coin
 * gave each value its sign, the answer is exact, however the sizes depend on each other.
 */
#ifndef FG_STATS_SIGNED_RANK_H
#define FG_STATS_SIGNED_RANK_H

#include <stddef.h>

/* `low` and `high` are NaN if there are too few values for the requested error. */
struct fg_rank_interval {
	double low;
	double high;
	double estimate; /* Hodges-Lehmann estimate: the median of the means of any two values */
};

/*
 * Computes the interval of the centres that the test does not reject, each end with an error of at
 * most `share` (Tukey 1949). The interval is exact up to 40 values without ties; beyond that, the
 * normal approximation makes it slightly too wide. Both ends exist if 2^-count <= share.
 */
struct fg_rank_interval fg_signed_rank_interval(const double *values, size_t count, double share);
/*
 * Returns the smallest error at which the interval lies above `center`: the p-value of "not larger
 * than `center`"; 1 without values.
 */
double fg_signed_rank_error(const double *values, size_t count, double center);

#endif
