// SPDX-License-Identifier: Apache-2.0
/*
 * For the given number of milliseconds, calls one of two functions, chosen at random about every
 * ten microseconds.  Their shares differ from run to run.  The order is random, because regular
 * sampling of a regular order would be more accurate than chance allows.
 */
#include "work.h"

#include <unistd.h>

NOINLINE static void work_a(uint64_t turns)
{
	spin(turns);
	KEEP_FRAME();
}

NOINLINE static void work_b(uint64_t turns)
{
	spin(turns);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	const uint64_t wanted_ns = (argc > 1 ? (uint64_t)atoi(argv[1]) : 150) * 1000000;
	uint64_t draw = now_ns(CLOCK_MONOTONIC) / 1000 + (uint64_t)getpid() * 7919;
	const uint64_t part = 10 + draw % 81; /* between a tenth and nine tenths */
	uint64_t a_ns = 0;
	uint64_t b_ns = 0;

	while (a_ns + b_ns < wanted_ns) {
		const uint64_t begin = cpu_ns();

		draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		if ((draw >> 33) % 100 < part) {
			work_a(20000);
			a_ns += cpu_ns() - begin;
		} else {
			work_b(20000);
			b_ns += cpu_ns() - begin;
		}
	}
	print_value("work_a", (double)a_ns);
	print_value("work_b", (double)b_ns);
	return 0;
}
