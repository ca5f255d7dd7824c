/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probability distributions: normal and Student's t.
 * Pure functions; an argument outside its range gives NaN, never a crash.
 */
#ifndef FG_STATS_DISTRIBUTIONS_H
#define FG_STATS_DISTRIBUTIONS_H

double fg_normal_cdf(double x);
/* Returns the x with P(X <= x) = p: -inf for p = 0, +inf for p = 1. */
double fg_normal_quantile(double p);

/* The next two functions are for Student's t with df > 0 degrees of freedom (any real number). */
double fg_t_cdf(double t, double df);
double fg_t_quantile(double p, double df);

#endif
