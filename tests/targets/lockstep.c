// SPDX-License-Identifier: Apache-2.0
/*
 * Wakes every 4 ms, works for 1.6 ms in one function and 0.8 ms in another: a clock in step with
 * the kernel's ticks sees anything from 0 to 100 %.
 *
 * usage: lockstep [WAKES]
 */
#include "work.h"

NOINLINE static void two_thirds(uint64_t work_us)
{
	spin_us(work_us);
}

NOINLINE static void one_third(uint64_t work_us)
{
	spin_us(work_us);
}

int main(int argc, char **argv)
{
	const unsigned wakes = (unsigned)argument(argc, argv, 1, 400);
	const uint64_t unit = 800;
	uint64_t a = 0;
	uint64_t b = 0;
	struct timespec next;

	(void)clock_gettime(CLOCK_MONOTONIC, &next);
	for (unsigned i = 0; i < wakes; i++) {
		const uint64_t t0 = cpu_ns();

		two_thirds(2 * unit);
		const uint64_t t1 = cpu_ns();

		one_third(unit);
		a += t1 - t0;
		b += cpu_ns() - t1;
		next.tv_nsec += 4000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	print_value("two_thirds", (double)a);
	print_value("one_third", (double)b);
	return 0;
}
