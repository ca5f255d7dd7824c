/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a sample have one mode or two?  The dip of Hartigan and Hartigan (Annals of Statistics 13,
 * 1985): the largest distance between the sample's distribution function and the nearest unimodal
 * one.  Outliers hardly move it. The p-value comes from seeded samples of the uniform distribution,
 * the hardest unimodal case.
 */
#ifndef FG_STATS_MODALITY_H
#define FG_STATS_MODALITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between 1/(2n) and 1/4; NaN for an empty sample. */
double fg_dip(const double *values, size_t count);

struct fg_modality {
	double dip;
	double p;
	/*
	 * The best cut into two heaps (least squares), whatever p says; meaningful where p is
	 * small.
	 */
	double cut;
	double low_center;
	double high_center;
	double high_share; /* share of values above the cut */
};

/*
 * `simulations` samples of the null; 0: 1000.  At most 1000 values are looked at (evenly spaced
 * order statistics beyond).
 */
struct fg_modality fg_modality_test(const double *values, size_t count, size_t simulations,
				    uint64_t seed);

#endif
