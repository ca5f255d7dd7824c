// SPDX-License-Identifier: Apache-2.0
/*
 * The same work, first in one thread, then in four at once.
 *
 * usage: burst [MS], the CPU time of each part
 */
#include "work.h"

#include <pthread.h>

enum {
	THREADS = 4
};

static uint64_t work_us;
static uint64_t alone_ns;
static uint64_t together_ns;

NOINLINE static void work_alone(uint64_t us)
{
	spin_us(us);
}

NOINLINE static void work_together(uint64_t us)
{
	spin_us(us);
}

static void *run(void *unused)
{
	const uint64_t begin = cpu_ns();

	work_together(work_us / THREADS);
	(void)__atomic_fetch_add(&together_ns, cpu_ns() - begin, __ATOMIC_RELAXED);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	work_us = argument(argc, argv, 1, 400) * 1000;
	uint64_t begin = cpu_ns();

	work_alone(work_us);
	alone_ns = cpu_ns() - begin;
	for (unsigned i = 0; i < THREADS; i++)
		check(pthread_create(&threads[i], NULL, run, NULL) == 0, "pthread_create");
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	print_value("work_alone", (double)alone_ns);
	print_value("work_together", (double)together_ns);
	return 0;
}
