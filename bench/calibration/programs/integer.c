// SPDX-License-Identifier: Apache-2.0
/*
 * Integer work in registers: generates random numbers and sorts them. SLOWER_PERMILLE is the number
 * of additional rounds per thousand.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SLOWER_PERMILLE
# define SLOWER_PERMILLE 0
#endif

enum {
	COUNT = 750,
	ROUNDS = 1000,
};

static uint64_t state = 88172645463325252U;

__attribute__((noinline)) static void fill(uint32_t *values)
{
	for (int i = 0; i < COUNT; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		values[i] = (uint32_t)state;
	}
}

/* Shell sort: no library, no memory beyond the cache. */
__attribute__((noinline)) static void sort(uint32_t *values)
{
	for (int gap = COUNT / 2; gap > 0; gap /= 2) {
		for (int i = gap; i < COUNT; i++) {
			uint32_t value = values[i];
			int at = i;

			for (; at >= gap && values[at - gap] > value; at -= gap)
				values[at] = values[at - gap];
			values[at] = value;
		}
	}
}

int main(void)
{
	static uint32_t values[COUNT];
	const int rounds = ROUNDS * (1000 + SLOWER_PERMILLE) / 1000;
	uint64_t sum = 0;

	for (int i = 0; i < rounds; i++) {
		fill(values);
		sort(values);
		sum += values[i % COUNT];
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
