// SPDX-License-Identifier: Apache-2.0
/* Two threads at once, with the same work in two functions.  usage: two_threads [MS] */
#include "work.h"

#include <pthread.h>

static pthread_barrier_t begun;
static uint64_t work_us;
static uint64_t left_ns;
static uint64_t right_ns;

NOINLINE static void work_left(uint64_t us)
{
	spin_us(us);
	KEEP_FRAME();
}

NOINLINE static void work_right(uint64_t us)
{
	spin_us(us);
	KEEP_FRAME();
}

static void *run(void *ns)
{
	const uint64_t begin = cpu_ns();

	(void)pthread_barrier_wait(&begun);
	if (ns == &left_ns)
		work_left(work_us);
	else
		work_right(work_us);
	*(uint64_t *)ns = cpu_ns() - begin;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t left;
	pthread_t right;

	work_us = argument(argc, argv, 1, 400) * 1000;
	check(pthread_barrier_init(&begun, NULL, 2) == 0, "barrier");
	check(pthread_create(&left, NULL, run, &left_ns) == 0, "pthread_create");
	check(pthread_create(&right, NULL, run, &right_ns) == 0, "pthread_create");
	(void)pthread_join(left, NULL);
	(void)pthread_join(right, NULL);
	print_value("work_left", (double)left_ns);
	print_value("work_right", (double)right_ns);
	return 0;
}
