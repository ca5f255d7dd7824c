// SPDX-License-Identifier: Apache-2.0
/*
 * A program that is stopped from outside while it computes and makes no system call that could
 * explain the gap.
 *
 * usage: stopped FILE
 *
 * Writes its process id to FILE, computes in before() for a second of elapsed time, during which
 * the test stops it, and then in after().
 */
#include "work.h"

#include <unistd.h>

static void compute(uint64_t ms)
{
	const uint64_t end = now_ns(CLOCK_MONOTONIC) + ms * 1000000;

	while (now_ns(CLOCK_MONOTONIC) < end)
		spin(20000);
}

NOINLINE static void before(void)
{
	compute(1000);
	KEEP_FRAME();
}

NOINLINE static void after(void)
{
	compute(100);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;

	check(file && fprintf(file, "%d\n", (int)getpid()) > 0 && fclose(file) == 0, "no file");
	before();
	after();
	return 0;
}
