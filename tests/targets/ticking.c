// SPDX-License-Identifier: Apache-2.0
/*
 * Makes system calls for a short while around each of the kernel's ticks, and counts the ticks that
 * arrive meanwhile: a timer on the thread's CPU clock expires at each tick.  The share of ticks that
 * find the thread in the kernel is the share of its time that the kernel counts as system time.
 *
 * usage: ticking TICKS
 */
#include "work.h"

#include <signal.h>
#include <sys/resource.h>

enum {
	WORK_NS = 300000,
	BEFORE_NS = 200000, /* begins this early, so as not to miss the tick */
};

static volatile sig_atomic_t met;

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static double system_share(void)
{
	struct rusage usage;

	check(getrusage(RUSAGE_SELF, &usage) == 0, "no usage");
	return seconds(usage.ru_stime) / (seconds(usage.ru_stime) + seconds(usage.ru_utime));
}

static void on_tick(int number)
{
	(void)number;
	met++;
}

/* Waits until the coarse clock advances; returns the time. */
static uint64_t some_tick(void)
{
	const uint64_t before = now_ns(CLOCK_MONOTONIC_COARSE);

	while (now_ns(CLOCK_MONOTONIC_COARSE) == before)
		;
	return now_ns(CLOCK_MONOTONIC);
}

int main(int argc, char **argv)
{
	const unsigned ticks = (unsigned)strtoul(argv[argc > 1 ? 1 : 0], NULL, 10);
	const struct itimerspec when = {{0, 1000}, {0, 1000}};
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct timespec tick;
	struct timespec next;
	timer_t timer;

	check(ticks > 0, "usage");
	check(clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0, "no tick");
	const uint64_t length = (uint64_t)tick.tv_nsec;
	const uint64_t first = some_tick();

	check(sigaction(SIGUSR1, &action, NULL) == 0, "no handler");
	check(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0, "no timer");
	check(timer_settime(timer, 0, &when, NULL) == 0, "the timer is not set");
	for (unsigned i = 0; i < ticks; i++) {
		const uint64_t passed = now_ns(CLOCK_MONOTONIC) + BEFORE_NS - first;
		const uint64_t at = first + (passed / length + 1) * length - BEFORE_NS;

		next.tv_sec = (time_t)(at / 1000000000);
		next.tv_nsec = (long)(at % 1000000000);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) != 0)
			;
		for (const uint64_t end = cpu_ns() + WORK_NS; cpu_ns() < end;)
			;
	}
	print_value("met", (double)met * system_share());
	return 0;
}
