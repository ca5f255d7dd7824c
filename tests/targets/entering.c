// SPDX-License-Identifier: Apache-2.0
/*
 * A sample is pending when a call begins that unblocks SIGPROF while it waits
 * (lib/entering_library.c arranges that).  The sample must not end the call: a time-out does, or
 * the program's handler.  Outside of these calls the program blocks SIGPROF or handles it.
 */
#include "work.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

enum {
	ROUNDS = 5,
	MS = 5,
	LONG_MS = 60000
};

unsigned calls_met(void);

static volatile sig_atomic_t handled;
static sigset_t none;
static int epoll;

static void on_signal(int number)
{
	handled += number == SIGUSR1;
}

static int by_suspend(int ms)
{
	(void)ms;
	return sigsuspend(&none);
}

static int by_ppoll(int ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	return ppoll(NULL, 0, &time, &none);
}

static int by_pselect(int ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	return pselect(0, NULL, NULL, NULL, &time, &none);
}

static int by_epoll(int ms)
{
	struct epoll_event event;

	return epoll_pwait(epoll, &event, 1, ms, &none);
}

static int (*const waits[])(int ms) = {by_suspend, by_ppoll, by_pselect, by_epoll};

static void run_out(unsigned which)
{
	const uint64_t begin = now_ns(CLOCK_MONOTONIC);
	const int status = waits[which](MS);

	if (status != 0)
		(void)printf("call %u: %d, errno %d\n", which, status, errno);
	check(status == 0, "a sample ended a call");
	check(now_ns(CLOCK_MONOTONIC) - begin >= MS * UINT64_C(1000000), "it ended early");
}

/* A signal to the process arrives after the sample, a signal to the thread before it. */
static void be_ended(unsigned which, int by_process)
{
	const int so_far = handled;

	check((by_process ? kill(getpid(), SIGUSR1) : raise(SIGUSR1)) == 0, "kill");
	check(handled == so_far, "a blocked signal arrived");
	check(waits[which](LONG_MS) == -1 && errno == EINTR, "a handler did not end a call");
	check(handled == so_far + 1, "a call ended before the handler had run");
}

static void wait_in_all_ways(void)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
			(void)alarm(60); /* ends the program if a call waits for ever */
			if (waits[i] != by_suspend)
				run_out(i);
			be_ended(i, 0);
			be_ended(i, 1);
		}
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t blocked;

	epoll = epoll_create1(EPOLL_CLOEXEC);
	(void)sigemptyset(&none);
	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGUSR1);
	(void)sigaddset(&blocked, SIGPROF);
	check(epoll >= 0 && sigaction(SIGUSR1, &action, NULL) == 0 &&
		      sigprocmask(SIG_BLOCK, &blocked, NULL) == 0,
	      "set-up");
	wait_in_all_ways();
	print_value("blocked", calls_met());
	(void)sigdelset(&blocked, SIGUSR1);
	check(sigaction(SIGPROF, &action, NULL) == 0 &&
		      sigprocmask(SIG_UNBLOCK, &blocked, NULL) == 0,
	      "set-up");
	wait_in_all_ways();
	print_value("all", calls_met());
	return 0;
}
