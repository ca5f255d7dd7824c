// SPDX-License-Identifier: Apache-2.0
/*
 * Time of one stack walk, without the signal around it.  The collector is linked into this program
 * and switched on by its environment, but paused; at the end of a chain of 300 functions, the walks
 * of the collector, libunwind and libc are called repeatedly.  The chain is one function that calls
 * itself and then, with `walk LIBRARIES FOLDER`, functions of that many libraries.
 *
 *	unchanged        the same stack
 *	a tenth changed  alternately from here and from 30 frames further out
 *	nothing kept     every frame by its cached rule, and the call path found again, step by step
 */
#include "collector/unwind/walk.h"

#include "collector/process/process.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

enum {
	DEPTH = 300,
	CHANGED = 30,
	FUNCTIONS = 4, /* per library */
	TURNS = 2000,
	ROUNDS = 21,
	ARMS = 5,
	PEER = 3,
};

typedef void (*link_function)(unsigned depth);

struct bench {
	ucontext_t outer;
	ucontext_t here;
	double ns[ARMS][ROUNDS];
};

static volatile uint32_t sink;
static struct bench bench;
static link_function links[DEPTH];

__attribute__((visibility("default"))) void chain_next(unsigned depth);

/* Measures CPU time, so that other work on the machine does not count. */
static double since(uint64_t begin_ns)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - begin_ns);
}

static double kept(const ucontext_t *context)
{
	const uint64_t begin = (uint64_t)since(0);

	for (unsigned i = 0; i < TURNS; i++)
		sink = fg_stack_walk(fg_self, context).path;
	return since(begin) / TURNS;
}

static double by_turns(void)
{
	const uint64_t begin = (uint64_t)since(0);

	for (unsigned i = 0; i < TURNS / 2; i++) {
		sink = fg_stack_walk(fg_self, &bench.outer).path;
		sink = fg_stack_walk(fg_self, &bench.here).path;
	}
	return since(begin) / TURNS;
}

static double afresh(const ucontext_t *context)
{
	const uint64_t begin = (uint64_t)since(0);

	for (unsigned i = 0; i < TURNS; i++) {
		fg_self->kept.count = 0;
		sink = fg_stack_walk(fg_self, context).path;
	}
	return since(begin) / TURNS;
}

static double by_libunwind(void)
{
	void *frames[2 * DEPTH];
	const uint64_t begin = (uint64_t)since(0);

	for (unsigned i = 0; i < TURNS; i++)
		sink = (uint32_t)unw_backtrace(frames, 2 * DEPTH);
	return since(begin) / TURNS;
}

/* libunwind has a function of the same name, which would be found first. */
static double by_libc(void)
{
	void *frames[2 * DEPTH];
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	int (*backtrace)(void **, int) =
		__extension__(int (*)(void **, int)) dlsym(libc, "backtrace");
	const uint64_t begin = (uint64_t)since(0);

	for (unsigned i = 0; i < TURNS / 10; i++)
		sink = (uint32_t)backtrace(frames, 2 * DEPTH);
	return since(begin) * 10 / TURNS;
}

static int compare(const void *a, const void *b)
{
	const double left = *(const double *)a;
	const double right = *(const double *)b;

	return (left > right) - (left < right);
}

static __attribute__((noinline)) void at_the_end(void)
{
	static const char *const names[] = {"fastgate, unchanged", "fastgate, a tenth changed",
					    "fastgate, nothing kept", "libunwind, warm",
					    "glibc backtrace, warm"};

	(void)getcontext(&bench.here);
	for (unsigned round = 0; round < ROUNDS; round++) {
		bench.ns[0][round] = kept(&bench.here);
		bench.ns[1][round] = by_turns();
		bench.ns[2][round] = afresh(&bench.here);
		bench.ns[PEER][round] = by_libunwind();
		bench.ns[4][round] = by_libc();
	}
	for (unsigned i = 0; i < ARMS; i++)
		qsort(bench.ns[i], ROUNDS, sizeof(double), compare);
	for (unsigned i = 0; i < ARMS; i++)
		(void)printf("  %-26s %9.0f ns, %5.2f of libunwind's\n", names[i],
			     bench.ns[i][ROUNDS / 2],
			     bench.ns[i][ROUNDS / 2] / bench.ns[PEER][ROUNDS / 2]);
}

static __attribute__((noinline)) void remember_outer(unsigned depth)
{
	(void)getcontext(&bench.outer);
	links[depth](depth + 1);
	__asm__ volatile("" ::: "memory");
}

/* Each call is a tail call, so that all frames belong to the libraries. */
void chain_next(unsigned depth)
{
	if (depth == DEPTH)
		at_the_end();
	else if (depth == DEPTH - CHANGED)
		remember_outer(depth);
	else
		links[depth](depth + 1);
}

static __attribute__((noinline)) void itself(unsigned depth)
{
	if (depth == DEPTH - CHANGED)
		(void)getcontext(&bench.outer);
	if (depth == DEPTH)
		at_the_end();
	else
		itself(depth + 1);
	__asm__ volatile("" ::: "memory");
}

static bool open_libraries(unsigned count, const char *folder)
{
	void **handles = calloc(count, sizeof(*handles));
	bool all = handles && count > 0;

	for (unsigned i = 0; i < count && all; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/libchain%u.so", folder, i);
		handles[i] = dlopen(path, RTLD_NOW);
		all = handles[i] != NULL;
	}
	for (unsigned i = 0; i < DEPTH && all; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "chain_%u", i / count % FUNCTIONS);
		links[i] = __extension__(link_function) dlsym(handles[i * 7 % count], name);
		all = links[i] != NULL;
	}
	free(handles);
	return all;
}

int main(int argc, char **argv)
{
	if (!fg_alive()) {
		(void)fprintf(stderr,
			      "walk: the collector is not on: set FASTGATE_COLLECTOR_OUTPUT\n");
		return 2;
	}
	(void)printf(" one function that calls itself\n");
	itself(0);
	if (argc < 3)
		return 0;
	if (!open_libraries((unsigned)strtoul(argv[1], NULL, 10), argv[2]))
		return 2;
	(void)printf(" functions of %s libraries\n", argv[1]);
	chain_next(0);
	return 0;
}
