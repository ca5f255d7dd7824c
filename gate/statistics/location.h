/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The middle of a sample with outliers, and its error. The trimmed mean cuts the same share off
 * both ends; its standard error comes from the winsorised sample (Tukey and McLaughlin 1963, Yuen
 * 1974), with h - 1 degrees of freedom for h values kept. Too small a sample gives NaN; nothing
 * here fails.
 */
#ifndef FG_STATS_LOCATION_H
#define FG_STATS_LOCATION_H

#include <stddef.h>

struct fg_trimmed {
	size_t count; /* values in the sample */
	size_t kept;  /* values in the mean */
	double mean;
	double standard_error; /* NaN if fewer than two values are kept */
	double degrees_of_freedom;
};

/* Trims `share` off each end: 0 <= share < 0.5. */
struct fg_trimmed fg_trimmed_mean(const double *values, size_t count, double share);

/*
 * Copies the values in their order, replacing values beyond the cuts of a trimmed mean by the
 * values at the cuts; `out` may be `values`.
 */
void fg_winsorise(const double *values, size_t count, double share, double *out);

#endif
