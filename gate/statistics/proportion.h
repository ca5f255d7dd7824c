/* SPDX-License-Identifier: Apache-2.0 */
/* Exact confidence interval for a proportion. */
#ifndef FG_STATS_PROPORTION_H
#define FG_STATS_PROPORTION_H

#include <stddef.h>

struct fg_proportion {
	double estimate;
	double low;
	double high;
};

/*
 * Computes the Clopper-Pearson interval of a proportion (Biometrika 26, 1934), exact for any number
 * of trials; [0, 1] without trials.
 */
struct fg_proportion fg_clopper_pearson(size_t successes, size_t trials, double confidence);

#endif
