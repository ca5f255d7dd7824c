// SPDX-License-Identifier: Apache-2.0
/* Many threads that live for about a period and a half, and as much work in the main thread. */
#include "work.h"

#include <pthread.h>

static uint64_t work_us;
static uint64_t in_threads_ns;

NOINLINE static void work_in_thread(uint64_t us)
{
	spin_us(us);
}

NOINLINE static void work_in_main(uint64_t us)
{
	spin_us(us);
}

static void *run(void *unused)
{
	const uint64_t begin = cpu_ns();

	work_in_thread(work_us);
	(void)__atomic_fetch_add(&in_threads_ns, cpu_ns() - begin, __ATOMIC_RELAXED);
	return unused;
}

int main(void)
{
	uint64_t in_main_ns = 0;

	work_us = 1500;
	for (unsigned i = 0; i < 500; i++) {
		pthread_t thread;

		check(pthread_create(&thread, NULL, run, NULL) == 0, "pthread_create");
		(void)pthread_join(thread, NULL);
		const uint64_t begin = cpu_ns();

		work_in_main(work_us);
		in_main_ns += cpu_ns() - begin;
	}
	tell("work_in_thread", (double)in_threads_ns);
	tell("work_in_main", (double)in_main_ns);
	return 0;
}
