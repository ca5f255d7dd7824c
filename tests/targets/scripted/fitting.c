// SPDX-License-Identifier: Apache-2.0
/* The cost is counted: a test defines ROUNDS. */
#include <stdint.h>
#include <stdio.h>

__attribute__((noinline)) static uint64_t fit(uint64_t value)
{
	for (int i = 0; i < ROUNDS; i++)
		value = (value ^ (value >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) + 1;
	return value;
}

int main(void)
{
	printf("cost: %d of %llu\n", ROUNDS, (unsigned long long)fit(42));
	return 0;
}
