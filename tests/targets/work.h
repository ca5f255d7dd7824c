/* SPDX-License-Identifier: Apache-2.0 */
/* What the target programs share: work whose place and amount are known. */
#ifndef FG_TESTS_TARGETS_WORK_H
#define FG_TESTS_TARGETS_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Not inlined, not cloned, not merged with another that does the same. */
#if defined(__clang__)
# define NOINLINE __attribute__((noinline))
#else
# define NOINLINE __attribute__((noipa))
#endif
/* Behind a call it keeps the call from becoming a jump, so that the caller stays on the stack. */
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

/* Turns of a loop that does nothing but turn: user time only. */
static inline void spin(uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("" ::: "memory");
}

/* How many turns are a microsecond here and now; the median of several tries. */
static inline uint64_t turns_per_us(void)
{
	uint64_t tries[9];

	for (unsigned i = 0; i < 9; i++) {
		const uint64_t begin = cpu_ns();

		spin(2000000);
		uint64_t took = cpu_ns() - begin;

		tries[i] = UINT64_C(2000000000) / (took ? took : 1);
	}
	for (unsigned i = 1; i < 9; i++)
		for (unsigned k = i; k > 0 && tries[k] < tries[k - 1]; k--) {
			const uint64_t other = tries[k];

			tries[k] = tries[k - 1];
			tries[k - 1] = other;
		}
	return tries[4] ? tries[4] : 1;
}

/* A truth for the test to compare with, on standard output: "name value". */
static inline void tell(const char *name, double value)
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
