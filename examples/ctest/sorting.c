// SPDX-License-Identifier: Apache-2.0
/* sorting check|random|nearly COUNT: merge sort of COUNT numbers; exits with 1 if it fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void merge(unsigned *items, unsigned *spare, size_t middle, size_t count)
{
	size_t left = 0;
	size_t right = middle;

	for (size_t i = 0; i < count; i++) {
		if (right == count || (left < middle && items[left] <= items[right]))
			spare[i] = items[left++];
		else
			spare[i] = items[right++];
	}
	memcpy(items, spare, count * sizeof(items[0]));
}

static void sort(unsigned *items, unsigned *spare, size_t count)
{
	const size_t middle = count / 2;

	if (count < 2)
		return;
	sort(items, spare, middle);
	sort(items + middle, spare, count - middle);
	if (items[middle - 1] > items[middle])
		merge(items, spare, middle, count);
}

static void fill(unsigned *items, size_t count, int is_nearly_sorted)
{
	unsigned state = 1;

	for (size_t i = 0; i < count; i++) {
		state = state * 1664525u + 1013904223u;
		items[i] = is_nearly_sorted ? (unsigned)i + (state >> 24) : state >> 8;
	}
}

int main(int argc, char **argv)
{
	const size_t count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned *items = count ? malloc(count * sizeof(items[0])) : NULL;
	unsigned *spare = count ? malloc(count * sizeof(spare[0])) : NULL;
	int is_sorted = 1;

	if (!items || !spare) {
		fprintf(stderr, "usage: sorting check|random|nearly COUNT\n");
		return 2;
	}
	fill(items, count, strcmp(argv[1], "nearly") == 0);
	sort(items, spare, count);
	for (size_t i = 1; i < count; i++)
		is_sorted = is_sorted && items[i - 1] <= items[i];
	free(items);
	free(spare);
	return is_sorted ? 0 : 1;
}
