// SPDX-License-Identifier: Apache-2.0
/* work DEPTH PAIRS: mallocs and frees below DEPTH calls; prints CPU nanoseconds per pair. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long pairs;

__attribute__((noinline)) static void allocate(void)
{
	void *volatile block = NULL;

	for (long i = 0; i < pairs; i++) {
		block = malloc(48);
		free(block);
	}
	__asm__ volatile("");
}

__attribute__((noinline)) static void descend(int left)
{
	if (left > 0)
		descend(left - 1);
	else
		allocate();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	struct timespec begin;
	struct timespec end;

	if (argc < 3)
		return 2;
	pairs = atol(argv[2]);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	descend(atoi(argv[1]));
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("%.2f\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
		       (double)pairs);
	return 0;
}
