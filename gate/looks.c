// SPDX-License-Identifier: Apache-2.0
#include "gate/looks.h"

#include "gate/finding.h"

#include <math.h>

#define GROWTH 1.5

size_t fg_gate_looks(unsigned min_pairs, unsigned max_pairs, size_t looks[FG_GATE_LOOKS_MAX])
{
	size_t last = max_pairs > FG_PAIRS_MIN ? max_pairs : FG_PAIRS_MIN;
	size_t at = min_pairs > FG_PAIRS_MIN ? min_pairs : FG_PAIRS_MIN;
	size_t count = 0;

	while (at < last && count + 1 < FG_GATE_LOOKS_MAX) {
		looks[count++] = at;
		at = (size_t)ceil((double)at * GROWTH);
		/* Even numbers only: a block of two pairs starts once with either arm. */
		at += at % 2;
	}
	/* A last step that gains little replaces the look before it. */
	if (count > 1 && (double)last < 1.15 * (double)looks[count - 1])
		count--;
	looks[count++] = last;
	return count;
}
