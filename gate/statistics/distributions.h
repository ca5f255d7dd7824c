/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probability distributions: normal, Student's t, and the exact interval of a proportion.
 * Pure functions; an argument outside its range gives NaN, never a crash.
 */
#ifndef FG_STATS_DISTRIBUTIONS_H
#define FG_STATS_DISTRIBUTIONS_H

#include <stddef.h>

double fg_normal_cdf(double x);
/* The x with P(X <= x) = p; p = 0 and 1 give -inf and +inf. */
double fg_normal_quantile(double p);

/* Student's t with df > 0 degrees of freedom (any real number). */
double fg_t_cdf(double t, double df);
double fg_t_quantile(double p, double df);

struct fg_proportion {
	double estimate;
	double low;
	double high;
};

/*
 * Clopper-Pearson interval of a proportion (Biometrika 26, 1934), exact for every n.  n = 0 gives
 * [0, 1].
 */
struct fg_proportion fg_clopper_pearson(size_t successes, size_t trials, double confidence);

#endif
