// SPDX-License-Identifier: Apache-2.0
/*
 * The same work, first by one thread, then by four at once; and a thread made by clone() alone.
 * burst [MS [RAW_MS]]: of CPU time each.
 */
#include "work.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS = 4,
	STACK = 256 * 1024
};

static uint64_t work_us;
static uint64_t raw_us;
static uint64_t alone_ns;
static uint64_t together_ns;
static uint64_t raw_ns;
static int raw_done;

NOINLINE static void work_alone(uint64_t us)
{
	spin_us(us);
}

NOINLINE static void work_together(uint64_t us)
{
	spin_us(us);
}

NOINLINE static void work_raw(uint64_t us)
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

/* No TLS of its own, no pthread: this thread is not announced. */
static int run_raw(void *unused)
{
	(void)unused;
	work_raw(raw_us);
	__atomic_store_n(&raw_done, 1, __ATOMIC_RELEASE);
	for (;;)
		(void)syscall(SYS_exit, 0);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	work_us = argument(argc, argv, 1, 400) * 1000;
	raw_us = argument(argc, argv, 2, work_us / 1000) * 1000;
	uint64_t begin = cpu_ns();

	work_alone(work_us);
	alone_ns = cpu_ns() - begin;
	for (unsigned i = 0; i < THREADS; i++)
		check(pthread_create(&threads[i], NULL, run, NULL) == 0, "pthread_create");
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	begin = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	check(clone(run_raw, stack + STACK,
		    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			    CLONE_SYSVSEM,
		    NULL) > 0,
	      "clone");
	/* Our own samples are what finds the other one: keep a little busy. */
	while (!__atomic_load_n(&raw_done, __ATOMIC_ACQUIRE))
		spin(1000);
	raw_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
	tell("work_alone", (double)alone_ns);
	tell("work_together", (double)together_ns);
	tell("both_at_the_end", (double)raw_ns);
	return 0;
}
