/* SPDX-License-Identifier: Apache-2.0 */
/* Many tests at once: adjusted p-values.  `adjusted` may be the same array as `p`. */
#ifndef FG_STATS_MULTIPLE_H
#define FG_STATS_MULTIPLE_H

#include <stddef.h>

/*
 * Benjamini and Hochberg 1995: rejecting adjusted <= q keeps the expected share of false rejections
 * below q.
 */
void fg_benjamini_hochberg(const double *p, size_t count, double *adjusted);
/* Holm 1979: rejecting adjusted <= alpha keeps the chance of any false rejection below alpha. */
void fg_holm(const double *p, size_t count, double *adjusted);

#endif
