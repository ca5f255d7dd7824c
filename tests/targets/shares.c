// SPDX-License-Identifier: Apache-2.0
/* Two functions by turns, a few of each every millisecond, for so many milliseconds: their shares differ from run to run. */
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
	/* between a tenth and nine tenths, by nothing that a sampler could be in step with */
	const uint64_t part =
		10 + (now_ns(CLOCK_MONOTONIC) / 1000 + (uint64_t)getpid() * 7919) % 81;
	uint64_t a_ns = 0;
	uint64_t b_ns = 0;

	while (a_ns + b_ns < wanted_ns) {
		const uint64_t begin = cpu_ns();

		work_a(part * 5000);
		const uint64_t middle = cpu_ns();

		work_b((100 - part) * 5000);
		a_ns += middle - begin;
		b_ns += cpu_ns() - middle;
	}
	tell("work_a", (double)a_ns);
	tell("work_b", (double)b_ns);
	return 0;
}
