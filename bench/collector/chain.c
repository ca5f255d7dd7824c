// SPDX-License-Identifier: Apache-2.0
/*
 * A fixed amount of work at the end of a call chain of DEPTH functions across LIBRARIES libraries.
 * Prints its CPU time and the share that the kernel accounts as system time.
 *
 * usage: chain DEPTH LIBRARIES FOLDER MILLIONS
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

typedef void (*link_function)(unsigned depth);

static link_function *links;
static unsigned depth_wanted;
static uint64_t turns;

void chain_next(unsigned depth);

static uint64_t cpu_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t system_ns(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_stime.tv_sec * 1000000000u +
	       (uint64_t)usage.ru_stime.tv_usec * 1000u;
}

static __attribute__((noinline)) void at_the_end(void)
{
	const uint64_t begin = cpu_ns();
	const uint64_t begin_system = system_ns();

	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("" ::: "memory");
	(void)printf("%llu %llu\n", (unsigned long long)(cpu_ns() - begin),
		     (unsigned long long)(system_ns() - begin_system));
}

void chain_next(unsigned depth)
{
	if (depth >= depth_wanted)
		at_the_end();
	else
		links[depth](depth + 1);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	const unsigned libraries = (unsigned)atoi(argv[2]);
	void **handles = calloc(libraries, sizeof(*handles));

	depth_wanted = (unsigned)atoi(argv[1]);
	links = calloc(depth_wanted, sizeof(*links));
	turns = (uint64_t)atoi(argv[4]) * 1000000;
	for (unsigned i = 0; i < libraries; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/libchain%u.so", argv[3], i);
		handles[i] = dlopen(path, RTLD_NOW);
		if (!handles[i])
			return 3;
	}
	for (unsigned i = 0; i < depth_wanted; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "chain_%u", i / libraries % 4);
		links[i] = __extension__(link_function) dlsym(handles[i * 7 % libraries], name);
		if (!links[i])
			return 4;
	}
	chain_next(0);
	free(handles);
	free(links);
	return 0;
}
