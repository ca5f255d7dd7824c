// SPDX-License-Identifier: Apache-2.0
/*
 * work THREADS DEPTH PAIRS: mallocs and frees below DEPTH calls; prints CPU nanoseconds per pair.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long pairs;
static int depth;

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

static void *work(void *argument)
{
	descend(depth);
	return argument;
}

int main(int argc, char **argv)
{
	const int threads = argc > 3 ? atoi(argv[1]) : 1;
	pthread_t *started = calloc((size_t)threads, sizeof(*started));
	struct timespec begin;
	struct timespec end;

	if (argc < 4 || !started)
		return 2;
	depth = atoi(argv[2]);
	pairs = atol(argv[3]);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&started[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < threads; i++)
		(void)pthread_join(started[i], NULL);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("%.2f\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
		       ((double)pairs * threads));
	free(started);
	return 0;
}
