/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the target programs: known amounts of work in known functions. */
#ifndef FG_TESTS_TARGETS_WORK_H
#define FG_TESTS_TARGETS_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Keeps the compiler from inlining or cloning the function, or merging it with an identical one. */
#if defined(__clang__)
# define NOINLINE __attribute__((noinline))
#else
# define NOINLINE __attribute__((noipa))
#endif
/*
 * After a call, keeps the compiler from turning it into a jump, so that the caller stays on the
 * stack.
 */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	(void)clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline uint64_t cpu_ns(void)
{
	return now_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Executes an empty loop: user time only. */
static inline void spin(uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("" ::: "memory");
}

/*
 * Uses this much CPU time, as counted by the kernel, on a machine of any speed. It reads the CPU
 * clock only when the time may be over: on a busy machine, a program that reads it all the time
 * would always be preempted before the next tick.
 */
static inline void spin_us(uint64_t us)
{
	const uint64_t end = cpu_ns() + us * 1000;

	for (uint64_t now = end - us * 1000; now < end; now = cpu_ns()) {
		const uint64_t until = now_ns(CLOCK_MONOTONIC) + (end - now);

		do
			spin(20000);
		while (now_ns(CLOCK_MONOTONIC) < until);
	}
}

/* Returns the numeric argument at `at`, or its default. */
static inline uint64_t argument(int argc, char **argv, int at, uint64_t usual)
{
	return argc > at ? strtoull(argv[at], NULL, 10) : usual;
}

/* Prints a true value for the test to compare with: "name value". */
static inline void print_value(const char *name, double value)
{
	(void)printf("%s %.9g\n", name, value);
	(void)fflush(stdout);
}

static inline void check(int condition, const char *what)
{
	if (!condition) {
		(void)printf("broken: %s\n", what);
		(void)fflush(stdout);
		exit(9);
	}
}

#endif
