// SPDX-License-Identifier: Apache-2.0
/* Memory: pointer chasing through 4 MiB, and streaming over it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SLOWER_PERMILLE
# define SLOWER_PERMILLE 0
#endif

enum {
	SLOTS = 1 << 20,
	ROUNDS = 1000,
	STEPS = 700, /* per round */
	STREAM = SLOTS / 50,
};

/* Links all slots into one cycle, in the order of a full-period linear congruential sequence. */
__attribute__((noinline)) static void lay_cycle(uint32_t *next)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		next[i] = (i * 1664525U + 1013904223U) & (SLOTS - 1);
}

__attribute__((noinline)) static uint32_t chase(const uint32_t *next, uint32_t at, long steps)
{
	for (long i = 0; i < steps; i++)
		at = next[at];
	return at;
}

__attribute__((noinline)) static uint64_t stream(const uint32_t *values)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < STREAM; i++)
		sum += values[i];
	return sum;
}

int main(void)
{
	uint32_t *next = malloc(SLOTS * sizeof(*next));
	uint32_t at = 1;
	uint64_t sum = 0;

	if (!next)
		return 1;
	lay_cycle(next);
	for (int i = 0; i < ROUNDS + SLOWER_PERMILLE; i++) {
		at = chase(next, at, STEPS);
		sum += at + stream(next + (size_t)(i % 50) * STREAM);
	}
	printf("%llu\n", (unsigned long long)sum);
	free(next);
	return 0;
}
