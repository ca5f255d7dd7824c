// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned sink;

__attribute__((noinline)) void load(unsigned n)
{
	unsigned x = sink;

	for (unsigned i = 0; i < n; i++)
		x = x * 17 + i;
	sink = x;
}

__attribute__((noinline)) void refine(unsigned n)
{
	unsigned x = sink;

	for (unsigned i = 0; i < n; i++)
		x = x * 31 + i;
	sink = x;
}

int main(int count, char **words)
{
	for (int i = 0; i < atoi(words[count - 1]); i++) {
		load(400000);
		refine(ROUNDS);
		puts("a line of output that nobody reads");
	}
	return 0;
}
