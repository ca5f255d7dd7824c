// SPDX-License-Identifier: Apache-2.0
#include "model/coverage.h"

#include <math.h>

static const double share_min = 0.5; /* relative to the other arm's covered share */
static const double unseen_max = 2;  /* relative to the other arm's unseen time */

double fg_coverage_share(const struct fg_coverage *arm, double min_ns)
{
	return arm->spent_ns > 0 && arm->spent_ns >= min_ns ? arm->sampled_ns / arm->spent_ns
							    : (double)NAN;
}

/* Returns the time without samples, per repetition. */
static double unseen_ns(const struct fg_coverage *arm)
{
	return fmax(0, arm->spent_ns - arm->sampled_ns) / fmax(1, (double)arm->repetitions);
}

bool fg_coverage_is_one_sided(const struct fg_coverage arms[2], double min_ns)
{
	const double share[2] = {fg_coverage_share(&arms[0], min_ns),
				 fg_coverage_share(&arms[1], min_ns)};
	const int low = share[1] < share[0];

	if (isnan(share[0]) || isnan(share[1]))
		return false;
	return share[low] < share_min * share[!low] &&
	       unseen_ns(&arms[low]) > unseen_max * unseen_ns(&arms[!low]);
}
