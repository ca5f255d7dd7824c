// SPDX-License-Identifier: Apache-2.0
/*
 * Wakes at every multiple of MILLISECONDS of CLOCK_MONOTONIC, in step with the kernel's ticks, and
 * makes system calls in two functions, twice as many in one as in the other, until it has used
 * CPU_MILLISECONDS.  The number of calls differs from wake to wake, so that the program is in step
 * with the ticks only, not with the sampler's period: on an emulated machine nothing else varies.
 *
 * usage: tick_aliasing MILLISECONDS CPU_MILLISECONDS
 */
#include "work.h"

enum {
	CALLS = 400 /* mean per millisecond between wakes, of the function that makes fewer */
};

static void ask(unsigned count)
{
	struct timespec unused;

	for (unsigned i = 0; i < count; i++)
		(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &unused);
}

NOINLINE static void asks_twice(unsigned count)
{
	ask(2 * count);
	KEEP_FRAME();
}

NOINLINE static void asks_once(unsigned count)
{
	ask(count);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	const uint64_t step_ns = argument(argc, argv, 1, 0) * 1000000;
	const uint64_t work_ns = argument(argc, argv, 2, 0) * 1000000;
	const unsigned average = (unsigned)(CALLS * step_ns / 1000000);
	uint32_t random = 1;
	uint64_t twice = 0;
	uint64_t once = 0;
	struct timespec next;

	check(step_ns > 0 && work_ns > 0, "usage");
	while (twice + once < work_ns) {
		(void)clock_gettime(CLOCK_MONOTONIC, &next);
		uint64_t at = (uint64_t)next.tv_sec * 1000000000 + (uint64_t)next.tv_nsec;

		at = (at / step_ns + 1) * step_ns;
		next.tv_sec = (time_t)(at / 1000000000);
		next.tv_nsec = (long)(at % 1000000000);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) != 0)
			;
		random = random * 1664525u + 1013904223u;
		const unsigned count = average / 2 + (random >> 16) % average;
		const uint64_t t0 = cpu_ns();

		asks_twice(count);
		const uint64_t t1 = cpu_ns();

		asks_once(count);
		twice += t1 - t0;
		once += cpu_ns() - t1;
	}
	print_value("asks_twice", (double)twice);
	print_value("asks_once", (double)once);
	return 0;
}
