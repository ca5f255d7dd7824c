// SPDX-License-Identifier: Apache-2.0
/*
 * Many threads that each live for about a period and a half, while the main thread does the same
 * amount of work, in user or in system time.
 *
 * usage: short_threads [THREADS [system]]
 */
#include "work.h"

#include <pthread.h>

static uint64_t work_us;
static int in_system;
static uint64_t in_threads_ns;

static void work(uint64_t us)
{
	const uint64_t end = cpu_ns() + us * 1000;

	if (!in_system)
		spin_us(us);
	while (cpu_ns() < end)
		;
}

NOINLINE static void work_in_thread(uint64_t us)
{
	work(us);
	KEEP_FRAME();
}

NOINLINE static void work_in_main(uint64_t us)
{
	work(us);
	KEEP_FRAME();
}

static void *run(void *unused)
{
	const uint64_t begin = cpu_ns();

	work_in_thread(work_us);
	(void)__atomic_fetch_add(&in_threads_ns, cpu_ns() - begin, __ATOMIC_RELAXED);
	return unused;
}

int main(int argc, char **argv)
{
	const unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 500;
	uint64_t in_main_ns = 0;

	work_us = 1500;
	in_system = argc > 2 && strcmp(argv[2], "system") == 0;
	for (unsigned i = 0; i < threads; i++) {
		pthread_t thread;

		check(pthread_create(&thread, NULL, run, NULL) == 0, "pthread_create");
		(void)pthread_join(thread, NULL);
		const uint64_t begin = cpu_ns();

		work_in_main(work_us);
		in_main_ns += cpu_ns() - begin;
	}
	print_value("work_in_thread", (double)in_threads_ns);
	print_value("work_in_main", (double)in_main_ns);
	return 0;
}
