// SPDX-License-Identifier: Apache-2.0
/*
 * Threads made by clone() alone where counting threads does not show them at once.  strangers CASE:
 *
 *	replaced   one ends, and the next takes its place
 *	unnoticed  the same after one of pthread_create() that ended by a system call of its own
 *	many       one among a hundred others
 */
#include "work.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	OTHERS = 100,
	STACK = 256 * 1024,
	WORK_US = 250000
};

static pid_t raw_thread; /* cleared by the kernel when it has ended */
static pid_t quitter;

NOINLINE static void work_first(uint64_t us)
{
	spin_us(us);
}

NOINLINE static void work_second(uint64_t us)
{
	spin_us(us);
}

static void quit(void)
{
	for (;;)
		(void)syscall(SYS_exit, 0);
}

static int run_first(void *unused)
{
	(void)unused;
	work_first(WORK_US);
	quit();
	return 0;
}

static int run_second(void *unused)
{
	(void)unused;
	work_second(WORK_US);
	quit();
	return 0;
}

static void *run_quitter(void *unused)
{
	(void)syscall(SYS_set_tid_address, &quitter);
	__atomic_store_n(&quitter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	work_first(WORK_US);
	quit();
	return unused;
}

static void *run_other(void *unused)
{
	(void)pause();
	return unused;
}

/* Our own samples are what finds the others: keep busy. */
static void busy_until_ended(const pid_t *thread)
{
	while (__atomic_load_n(thread, __ATOMIC_ACQUIRE))
		spin(1000);
}

/* No TLS of its own, no pthread: this thread is not announced. */
static void start_raw(int (*run)(void *))
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(stack != MAP_FAILED, "mmap");
	check(clone(run, stack + STACK,
		    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			    CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
		    NULL, &raw_thread, NULL, &raw_thread) > 0,
	      "clone");
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (strcmp(which, "replaced") == 0) {
		start_raw(run_first);
		busy_until_ended(&raw_thread);
	} else if (strcmp(which, "unnoticed") == 0) {
		check(pthread_create(&thread, NULL, run_quitter, NULL) == 0, "pthread_create");
		while (!__atomic_load_n(&quitter, __ATOMIC_ACQUIRE))
			spin(1000);
		busy_until_ended(&quitter);
	} else {
		for (unsigned i = 0; i < OTHERS; i++)
			check(pthread_create(&thread, NULL, run_other, NULL) == 0,
			      "pthread_create");
	}
	start_raw(run_second);
	busy_until_ended(&raw_thread);
	return 0;
}
