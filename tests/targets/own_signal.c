// SPDX-License-Identifier: Apache-2.0
/*
 * A program that uses SIGPROF itself, reads its own settings back, blocks it, and closes every
 * descriptor it can find.
 */
#define _DEFAULT_SOURCE
#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

/* glibc has this call from 2.34 on; with an older one, the collector's function fails instead. */
int close_range(unsigned first, unsigned last, int flags) __attribute__((weak));

static volatile sig_atomic_t received;

static void on_signal(int number)
{
	(void)number;
	received++;
}

NOINLINE static void work_with_own_timer(uint64_t work_us)
{
	spin_us(work_us);
}

NOINLINE static void work_without_descriptors(uint64_t work_us)
{
	spin_us(work_us);
}

/* The thread inherits the program's signal mask, so the signal must not get through here either. */
static void *send_to_process(void *unused)
{
	sigset_t set;

	check(pthread_sigmask(SIG_BLOCK, NULL, &set) == 0 && sigismember(&set, SIGPROF) == 1,
	      "the mask that a thread inherits");
	check(kill(getpid(), SIGPROF) == 0, "kill");
	spin_us(20000);
	return unused;
}

int main(void)
{
	pthread_t thread;
	const uint64_t work_us = 150000;
	struct sigaction mine;
	struct sigaction seen;
	struct itimerval every = {{0, 10000}, {0, 10000}};
	sigset_t set;
	sigset_t before;

	check(sigaction(SIGPROF, NULL, &seen) == 0 && seen.sa_handler == SIG_DFL,
	      "a handler that is not ours is seen");
	memset(&mine, 0, sizeof(mine));
	mine.sa_handler = on_signal;
	check(sigaction(SIGPROF, &mine, &seen) == 0 && seen.sa_handler == SIG_DFL, "sigaction");
	check(sigaction(SIGPROF, NULL, &seen) == 0 && seen.sa_handler == on_signal,
	      "our handler is not seen");
	check(setitimer(ITIMER_PROF, &every, NULL) == 0, "setitimer");
	/*
	 * The kernel advances this timer at its ticks, which on a busy machine may always meet
	 * other programs.
	 */
	for (unsigned i = 0; i == 0 || (received < 5 && i < 100); i++)
		work_with_own_timer(work_us);
	check(received >= 5, "the program's own signals do not arrive");

	(void)sigfillset(&set);
	check(sigprocmask(SIG_BLOCK, &set, &before) == 0 && sigismember(&before, SIGPROF) == 0,
	      "mask before");
	check(sigprocmask(SIG_BLOCK, NULL, &before) == 0 && sigismember(&before, SIGPROF) == 1,
	      "mask inside");
	const int so_far = received;

	for (unsigned i = 0;
	     i == 0 || (sigpending(&before) == 0 && !sigismember(&before, SIGPROF) && i < 100); i++)
		work_with_own_timer(work_us);
	check(received == so_far, "a blocked signal arrived");
	(void)sigemptyset(&set);
	check(sigprocmask(SIG_SETMASK, &set, NULL) == 0, "unblock");
	check(received > so_far, "a pending signal was lost");
	memset(&every, 0, sizeof(every));
	(void)setitimer(ITIMER_PROF, &every, NULL);

	const int before_thread = received;

	(void)sigfillset(&set);
	check(sigprocmask(SIG_BLOCK, &set, NULL) == 0, "block");
	for (unsigned i = 0; i < 20; i++) {
		check(pthread_create(&thread, NULL, send_to_process, NULL) == 0, "pthread_create");
		(void)pthread_join(thread, NULL);
	}
	check(received == before_thread, "a signal that every thread has blocked arrived");
	(void)sigemptyset(&set);
	check(sigprocmask(SIG_SETMASK, &set, NULL) == 0, "unblock");
	check(received == before_thread + 1, "a signal for the process was lost, or doubled");

	/* Inherited descriptors have low numbers; the collector's are high, and look closed. */
	for (int fd = 3; fd < 4096; fd++)
		check((close(fd) == -1 && errno == EBADF) || fd < 512,
		      "a descriptor of the collector could be closed");
	if (!close_range || (close_range(3, ~0u, 0) != 0 && errno == ENOSYS))
		for (int fd = 3; fd < 1024; fd++)
			(void)close(fd);
	work_without_descriptors(work_us);
	return 0;
}
