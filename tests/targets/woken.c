// SPDX-License-Identifier: Apache-2.0
/*
 * A sample arrives between the end of the program's handler and the return of the call that the
 * handler interrupted: the call must still return.  The handler arranges this: it blocks SIGPROF
 * past every wrapper and sends it to this thread, so that it arrives when the handler returns.
 */
#include "work.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	KERNEL_SIGSET = 8
};

static volatile sig_atomic_t handled;
static sigset_t none;
static int epoll;

static void on_signal(int number)
{
	sigset_t sampled;

	handled += number == SIGUSR1;
	(void)sigemptyset(&sampled);
	(void)sigaddset(&sampled, SIGPROF);
	check(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &sampled, NULL, KERNEL_SIGSET) == 0, "mask");
	check(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGPROF) == 0, "tgkill");
}

static int by_suspend(void)
{
	return sigsuspend(&none);
}

static int by_ppoll(void)
{
	return ppoll(NULL, 0, NULL, &none);
}

static int by_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, NULL, &none);
}

static int by_epoll(void)
{
	struct epoll_event event;

	return epoll_pwait(epoll, &event, 1, -1, &none);
}

int main(void)
{
	static int (*const waits[])(void) = {by_suspend, by_ppoll, by_pselect, by_epoll};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t ours;

	epoll = epoll_create1(EPOLL_CLOEXEC);
	(void)sigemptyset(&none);
	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGUSR1);
	check(epoll >= 0 && signal(SIGPROF, SIG_IGN) != SIG_ERR &&
		      sigaction(SIGUSR1, &action, NULL) == 0 &&
		      sigprocmask(SIG_BLOCK, &ours, NULL) == 0,
	      "set-up");
	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		(void)alarm(60); /* ends the program if a call waits for ever */
		check(raise(SIGUSR1) == 0 && waits[i]() == -1 && errno == EINTR, "a wait");
		check(handled == (int)i + 1, "the handler ran once");
	}
	spin_us(20000);
	print_value("woken", handled);
	return 0;
}
