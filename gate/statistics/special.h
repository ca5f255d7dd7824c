/* SPDX-License-Identifier: Apache-2.0 */
/* Special functions that the distributions need. Private to gate/statistics/. */
#ifndef FG_STATS_SPECIAL_H
#define FG_STATS_SPECIAL_H

/* Computes the regularised incomplete beta function I_x(a, b), a, b > 0, 0 <= x <= 1. */
double fg_incomplete_beta(double a, double b, double x);
/* Returns the x with I_x(a, b) = p. */
double fg_incomplete_beta_inverse(double a, double b, double p);

#endif
