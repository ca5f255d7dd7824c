// SPDX-License-Identifier: Apache-2.0
/*
 * storm LIBRARY_FOLDER LIBRARIES DEPTH ALLOCATIONS: allocates below DEPTH calls, each in a
 * different library, about a million times a second; prints nanoseconds of elapsed and of CPU time.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void step_function(void *const *next, int depth, void (*work)(void));

static long allocations;
static long done;
static volatile double sum;

static double now_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Does the work that a program typically does with an allocation, for about a microsecond. */
static __attribute__((noinline)) void use(void *block)
{
	*(volatile char *)block = 1;
	for (int i = 0; i < 320; i++)
		sum = sum + i;
}

static __attribute__((noinline)) void allocate_some(void)
{
	for (int i = 0; i < 1000 && done < allocations; i++, done++) {
		void *block = malloc((size_t)(16 + i % 64));

		use(block);
		free(block);
	}
}

int main(int argc, char **argv)
{
	const int count = argc == 5 ? atoi(argv[2]) : 0;
	const int depth = count ? atoi(argv[3]) : 0;
	void **steps = calloc((size_t)count + 1, sizeof(*steps));
	double began_ns = 0;
	double began_cpu_ns = 0;

	if (count < 1 || depth > count || !steps)
		return 2;
	allocations = atol(argv[4]);
	for (int i = 0; i < count; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/lib%d.so", argv[1], i);
		steps[i] = dlsym(dlopen(path, RTLD_NOW | RTLD_LOCAL), "step");
		if (!steps[i])
			return 3;
	}
	began_ns = now_ns(CLOCK_MONOTONIC);
	began_cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int first = 0; done < allocations; first = (first + 1) % (count - depth + 1)) {
		step_function *step = __extension__(step_function *) steps[first];

		step(&steps[first + 1], depth, allocate_some);
	}
	printf("%.0f %.0f\n", now_ns(CLOCK_MONOTONIC) - began_ns,
	       now_ns(CLOCK_PROCESS_CPUTIME_ID) - began_cpu_ns);
	return 0;
}
