// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that compute at the end of a deep stack. Prints "turns" per second of CPU time of all
 * threads, and "pause", the 99th percentile in microseconds of the gaps of at least 10 us in which
 * a runnable thread did not run.
 *
 * usage: busy THREADS DEPTH MILLISECONDS
 */
#include "tests/targets/work.h"

#include <pthread.h>

enum {
	THREADS_MAX = 64,
	GAPS_MAX = 65536,
	TURNS = 2000,
	GAP_NS = 10000
};

struct worker {
	pthread_t thread;
	long depth;
	uint64_t end_ns;
	uint64_t turns, cpu_ns;
	uint64_t gaps[GAPS_MAX];
	unsigned gap_count;
};

static struct worker workers[THREADS_MAX];

static void compute(struct worker *w)
{
	const uint64_t begin = cpu_ns();
	uint64_t before = now_ns(CLOCK_MONOTONIC);

	while (before < w->end_ns) {
		uint64_t now = 0;

		spin(TURNS);
		w->turns += TURNS;
		now = now_ns(CLOCK_MONOTONIC);
		if (now - before >= GAP_NS && w->gap_count < GAPS_MAX)
			w->gaps[w->gap_count++] = now - before;
		before = now;
	}
	w->cpu_ns = cpu_ns() - begin;
}

NOINLINE static void descend(struct worker *w, long depth)
{
	if (depth > 0)
		descend(w, depth - 1);
	else
		compute(w);
	KEEP_FRAME();
}

static void *work(void *argument)
{
	struct worker *w = argument;

	descend(w, w->depth);
	return NULL;
}

static int ascending(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a;
	const uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
	static uint64_t gaps[THREADS_MAX * GAPS_MAX];
	const int threads = argc > 3 ? atoi(argv[1]) : 0;
	const uint64_t end_ns =
		now_ns(CLOCK_MONOTONIC) + (argc > 3 ? strtoull(argv[3], NULL, 10) : 0) * 1000000;
	uint64_t turns = 0;
	uint64_t used_ns = 0;
	size_t gap_count = 0;

	check(threads > 0 && threads <= THREADS_MAX, "usage: busy THREADS DEPTH MILLISECONDS");
	for (int i = 0; i < threads; i++) {
		workers[i].depth = atol(argv[2]);
		workers[i].end_ns = end_ns;
		check(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0,
		      "pthread_create");
	}
	for (int i = 0; i < threads; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		turns += workers[i].turns;
		used_ns += workers[i].cpu_ns;
		memcpy(gaps + gap_count, workers[i].gaps, workers[i].gap_count * sizeof(gaps[0]));
		gap_count += workers[i].gap_count;
	}
	qsort(gaps, gap_count, sizeof(gaps[0]), ascending);
	print_value("turns", (double)turns * 1e9 / (double)used_ns);
	print_value("gaps", (double)gap_count);
	print_value("pause", gap_count ? (double)gaps[gap_count - 1 - gap_count / 100] / 1000 : 0);
	return 0;
}
