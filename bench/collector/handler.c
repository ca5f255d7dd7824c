// SPDX-License-Identifier: Apache-2.0
/*
 * How long the collector's handler takes by the thread's own CPU clock, which stands still while the kernel runs somebody else.  The
 * collector is linked into this program and switched on by its environment; a handler in front of its own reads the clock three
 * times: what lies between the first two is a handler that does nothing, under the same signals and interrupts.
 *
 * usage: handler SECONDS_OF_CPU_TIME, of which the first is not counted.  The stack is 300 frames deep, and its upper part changes
 * all the time.
 */
#include "collector/handler.h"

#include "collector/process.h"
#include "collector/real.h"
#include "collector/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
	DEPTH = 300,
	CHANGING = 60,
	TURNS = 20000,
};

struct seen {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t buckets[FG_HANDLER_BUCKETS];
};

static struct seen empty;
static struct seen ours;
static struct seen elapsed; /* where the kernel ran nobody else in between */
static uint64_t counted_from_ns;
static uint64_t end_ns;
static uint64_t preempted;

static uint64_t clock_of(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static long switches(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

static void note(struct seen *seen, uint64_t ns)
{
	seen->count++;
	seen->sum_ns += ns;
	seen->buckets[fg_handler_bucket(ns)]++;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	const long switches_before = switches();
	const uint64_t first = clock_of(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t second = clock_of(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t begin = clock_of(CLOCK_MONOTONIC);

	fg__on_signal(number, info, context);
	const uint64_t end = clock_of(CLOCK_MONOTONIC);
	const uint64_t third = clock_of(CLOCK_THREAD_CPUTIME_ID);

	if (first < counted_from_ns)
		return;
	note(&empty, second - first);
	note(&ours, third - second);
	if (switches() == switches_before)
		note(&elapsed, end - begin);
	else
		preempted++;
}

static __attribute__((noinline)) void descend(unsigned depth)
{
	if (depth > 0)
		descend(depth - 1);
	else
		for (unsigned i = 0; i < TURNS; i++)
			__asm__ volatile("" ::: "memory");
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void work(unsigned depth)
{
	if (depth > 0)
		work(depth - 1);
	else
		for (unsigned i = 0; clock_of(CLOCK_THREAD_CPUTIME_ID) < end_ns; i++)
			descend(i * 7 % CHANGING);
	__asm__ volatile("" ::: "memory");
}

/* Upper end of the bucket in which the part lies. */
static double quantile_us(const struct seen *seen, double part)
{
	double left = part * (double)seen->count;
	unsigned i = 0;

	for (; i + 1 < FG_HANDLER_BUCKETS; i++) {
		left -= (double)seen->buckets[i];
		if (left <= 0)
			break;
	}
	return (double)((UINT64_C(4) + i % 4) << (8 + i / 4)) / 1e3;
}

static void tell(const char *name, const struct seen *seen)
{
	static const double parts[] = {0.5, 0.99, 0.999, 0.9999, 1};

	(void)printf("  %-38s %8llu handlers: mean %.1f", name, (unsigned long long)seen->count,
		     seen->count ? (double)seen->sum_ns / 1e3 / (double)seen->count : 0);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		(void)printf(" p%g %.1f", 100 * parts[i], quantile_us(seen, parts[i]));
	(void)printf("\n");
}

int main(int argc, char **argv)
{
	const uint64_t second_ns = 1000000000u;
	struct sigaction action;

	if (!fg_alive() || argc < 2) {
		(void)fprintf(
			stderr,
			"handler SECONDS, and FASTGATE_COLLECTOR_OUTPUT in the environment\n");
		return 2;
	}
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	(void)sigfillset(&action.sa_mask);
	counted_from_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) + second_ns;
	end_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) + strtoull(argv[1], NULL, 10) * second_ns;
	FG_REAL(sigaction);
	if (real_sigaction(FG_SIGNAL, &action, NULL) != 0)
		return 2;
	work(DEPTH - CHANGING);
	tell("nothing, thread's CPU time", &empty);
	tell("fastgate, thread's CPU time", &ours);
	tell("fastgate, elapsed, not preempted", &elapsed);
	(void)printf("  %llu more were preempted; %.0f signals a second of CPU time\n",
		     (unsigned long long)preempted,
		     (double)ours.count * 1e9 / (double)(end_ns - counted_from_ns));
	return 0;
}
