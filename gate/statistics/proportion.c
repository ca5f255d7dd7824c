// SPDX-License-Identifier: Apache-2.0
#include "gate/statistics/proportion.h"

#include "gate/statistics/special.h"

#include <math.h>

struct fg_proportion fg_clopper_pearson(size_t successes, size_t trials, double confidence)
{
	struct fg_proportion result = {.estimate = (double)NAN, .low = 0.0, .high = 1.0};
	double k = (double)successes;
	double rest = (double)trials - k;
	double tail = 0.5 * (1.0 - confidence);

	if (successes > trials || !(confidence > 0.0 && confidence < 1.0)) {
		result.low = result.high = (double)NAN;
		return result;
	}
	if (trials == 0)
		return result;
	result.estimate = k / (double)trials;
	if (successes > 0)
		result.low = fg_incomplete_beta_inverse(k, rest + 1.0, tail);
	if (successes < trials)
		result.high = fg_incomplete_beta_inverse(k + 1.0, rest, 1.0 - tail);
	return result;
}
