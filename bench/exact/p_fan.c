// SPDX-License-Identifier: Apache-2.0
/*
 * Ten functions with different amounts of work, called in turn, a thousand times each per round.
 * Prints for each its name, its calls, and their CPU time in nanoseconds, measured around each
 * thousand.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	FUNCTIONS = 10,
	BATCH = 1000,
	ROUNDS = 400
};

#define WORK(name, times, step)                         \
 static __attribute__((noinline)) double name(double x) \
 {                                                      \
  for (int i = 0; i < (times); i++)                     \
   x = step;                                            \
  return x;                                             \
 }

WORK(f00, 8, x + 1.0)
WORK(f01, 12, x * 0.999 + 1.0)
WORK(f02, 10, 1000.0 / (x + 1.0))
WORK(f03, 24, x * 0.5 + x * 0.25 + 1.0)
WORK(f04, 30, (double)((long)x % 97) + 3.0)
WORK(f05, 20, sqrt(x + 2.0))
WORK(f06, 4, sin(x))
WORK(f07, 6, cos(x))
WORK(f08, 5, sin(x) * cos(x) + 1.0)
WORK(f09, 7, tan(x * 0.1))

static const struct {
	const char *name;
	double (*call)(double x);
} functions[FUNCTIONS] = {
	{"f00", f00}, {"f01", f01}, {"f02", f02}, {"f03", f03}, {"f04", f04},
	{"f05", f05}, {"f06", f06}, {"f07", f07}, {"f08", f08}, {"f09", f09},
};

static double cpu_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
		abort();
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(void)
{
	double spent[FUNCTIONS] = {0};
	double x = 1.0;

	for (int round = 0; round < ROUNDS; round++) {
		for (int f = 0; f < FUNCTIONS; f++) {
			const double began = cpu_ns();

			for (int i = 0; i < BATCH; i++)
				x = functions[f].call(x);
			spent[f] += cpu_ns() - began;
		}
	}
	for (int f = 0; f < FUNCTIONS; f++)
		(void)printf("%s %d %.0f\n", functions[f].name, ROUNDS * BATCH, spent[f]);
	return isnan(x) ? 1 : 0;
}
