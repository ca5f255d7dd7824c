// SPDX-License-Identifier: Apache-2.0
#include "lookup.h"

size_t lookup(const uint32_t *keys, size_t count, uint32_t wanted)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (keys[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && keys[low] == wanted ? low : count;
}
