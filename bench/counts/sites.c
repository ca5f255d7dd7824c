// SPDX-License-Identifier: Apache-2.0
/* Two call sites of malloc, ten thousand calls each, plus EXTRA_FIRST and EXTRA_SECOND. */
#include <stdio.h>
#include <stdlib.h>

enum {
	TIMES = 10000,
	KEPT = 64,
	EXTRA_FIRST = 0,
	EXTRA_SECOND = 0,
};

static void *kept[KEPT];
static unsigned long sum;

static void keep(void *block, unsigned at)
{
	free(kept[at % KEPT]);
	kept[at % KEPT] = block;
	sum += block != NULL;
}

static __attribute__((noinline)) void first_site(unsigned i)
{
	keep(malloc(24 + i % 8), i);
}

static __attribute__((noinline)) void second_site(unsigned i)
{
	keep(malloc(40 + i % 8), i);
}

int main(void)
{
	for (unsigned i = 0; i < TIMES + EXTRA_FIRST; i++)
		first_site(i);
	for (unsigned i = 0; i < TIMES + EXTRA_SECOND; i++)
		second_site(i);
	for (unsigned i = 0; i < KEPT; i++)
		free(kept[i]);
	return printf("%lu\n", sum) < 0;
}
