// SPDX-License-Identifier: Apache-2.0
/* FITS calls of ROUNDS rounds; with RANDOM, a random amount of work follows. */
#include <stdio.h>

static volatile unsigned sink;

__attribute__((noinline)) static unsigned fit(unsigned x)
{
	for (int i = 0; i < ROUNDS; i++)
		x = x * 1664525u + 1013904223u + sink;
	return x;
}

int main(void)
{
	for (unsigned i = 0; i < FITS; i++)
		sink += fit(i);
#if RANDOM
	FILE *f = fopen("/dev/urandom", "r");
	unsigned n = 0;

	if (!f || fread(&n, sizeof(n), 1, f) != 1)
		return 1;
	for (unsigned i = 0; i < n % 1000003u; i++)
		sink += i;
#endif
	return 0;
}
