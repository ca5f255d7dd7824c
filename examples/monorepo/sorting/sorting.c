// SPDX-License-Identifier: Apache-2.0
#include "sorting.h"

static void sift(uint32_t *heap, size_t root, size_t count)
{
	const uint32_t value = heap[root];

	for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
		if (child + 1 < count && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= value)
			break;
		heap[root] = heap[child];
		root = child;
	}
	heap[root] = value;
}

void sort(uint32_t *values, size_t count)
{
	for (size_t i = count / 2; i > 0; i--)
		sift(values, i - 1, count);
	for (size_t left = count; left > 1; left--) {
		const uint32_t largest = values[0];

		values[0] = values[left - 1];
		values[left - 1] = largest;
		sift(values, 0, left - 1);
	}
}
