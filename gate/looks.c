// SPDX-License-Identifier: Apache-2.0
#include "gate/looks.h"

#include "base/base.h"

#include <math.h>

#define GROWTH 1.5
#define SPENT  0.25 /* share of the remaining alpha that a look spends, except the last look */

double fg_gate_share_left(double alpha, size_t look)
{
	return alpha * pow(1.0 - SPENT, (double)look);
}

double fg_gate_share(double alpha, size_t look)
{
	return SPENT * fg_gate_share_left(alpha, look);
}

size_t fg_gate_min_pairs_first_look(double alpha)
{
	return (size_t)ceil(-log2(fg_gate_share(alpha, 0)));
}

size_t fg_gate_min_pairs_only_look(double alpha)
{
	return (size_t)ceil(-log2(alpha));
}

size_t fg_gate_looks(double alpha, unsigned min_pairs, unsigned max_pairs,
		     size_t looks[FG_GATE_LOOKS_MAX])
{
	size_t at = fg_max_size(min_pairs, fg_gate_min_pairs_first_look(alpha));
	size_t count = 0;

	while (at < max_pairs && count + 1 < FG_GATE_LOOKS_MAX) {
		looks[count++] = at;
		at = (size_t)ceil((double)at * GROWTH);
	}
	looks[count++] = max_pairs;
	return count;
}
