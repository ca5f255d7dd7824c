/* SPDX-License-Identifier: Apache-2.0 */
/* Wilcoxon's signed-rank test: the gate's veto against a mean that a few strange pairs carry. */
#ifndef FG_STATS_SIGNED_RANK_H
#define FG_STATS_SIGNED_RANK_H

#include "gate/statistics/ranks.h"

/*
 * Test of "symmetric around `center`".  Exact without ties and up to 200 values, otherwise normal
 * with continuity and tie correction.  The statistic is the sum of the ranks above.  Values must be
 * finite and stay as they are.
 */
struct fg_test fg_signed_rank_test(const double *values, size_t count, double center);

#endif
