// SPDX-License-Identifier: Apache-2.0
/*
 * Wraps the calls of libc that take a signal mask for their wait.  If SIGPROF is blocked when such a
 * call is about to begin, the wrapper waits until a sample is pending, so that this does not depend
 * on luck.
 */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	KERNEL_SIGSET = 8
};

unsigned calls_met(void);

static unsigned calls;

unsigned calls_met(void)
{
	return calls;
}

static void wait_for_a_sample(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &set, KERNEL_SIGSET);
	if (sigismember(&set, SIGPROF) != 1)
		return;
	do {
		(void)sigemptyset(&set);
		(void)syscall(SYS_rt_sigpending, &set, KERNEL_SIGSET);
	} while (sigismember(&set, SIGPROF) != 1);
	calls++;
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int sigsuspend(const sigset_t *set)
{
	NEXT(sigsuspend);

	wait_for_a_sample();
	return next(set);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *set)
{
	NEXT(ppoll);

	wait_for_a_sample();
	return next(fds, count, timeout, set);
}

int pselect(int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict others,
	    const struct timespec *restrict timeout, const sigset_t *restrict set)
{
	NEXT(pselect);

	wait_for_a_sample();
	return next(count, reads, writes, others, timeout, set);
}

int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout, const sigset_t *set)
{
	NEXT(epoll_pwait);

	wait_for_a_sample();
	return next(fd, events, count, timeout, set);
}
