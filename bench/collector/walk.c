// SPDX-License-Identifier: Apache-2.0
/*
 * How long one walk takes, without the signal around it.  The collector is linked into this program and switched on by its
 * environment, but paused; at the end of a chain of 300 functions its walk is called again and again, and beside it the walks of
 * libunwind and libc.
 *
 *	unchanged        the stack is what it was
 *	a tenth changed  by turns from here and from 30 frames further out
 *	moved            every frame by its cached rule, for the stack lies elsewhere; the functions are the same
 *	nothing kept     the same, and the call path found again, step by step
 */
#include "collector/walk.h"

#include "collector/process.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

enum {
	DEPTH = 300,
	CHANGED = 30,
	TURNS = 2000,
	ROUNDS = 21,
	ARMS = 6,
	PEER = 4,
};

struct bench {
	ucontext_t outer;
	ucontext_t here;
	double ns[ARMS][ROUNDS];
};

static volatile uint32_t sink;

/* CPU time: what else runs on the machine does not count. */
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
		sink = fg__walk(fg_self, context).path;
	return since(begin) / TURNS;
}

static double by_turns(const struct bench *bench)
{
	const uint64_t begin = (uint64_t)since(0);

	for (unsigned i = 0; i < TURNS / 2; i++) {
		sink = fg__walk(fg_self, &bench->outer).path;
		sink = fg__walk(fg_self, &bench->here).path;
	}
	return since(begin) / TURNS;
}

static double afresh(const ucontext_t *context, bool forget_path)
{
	const uint64_t begin = (uint64_t)since(0);

	for (unsigned i = 0; i < TURNS; i++) {
		fg_self->kept_count = 0;
		if (forget_path)
			fg_self->kept_named = 0;
		sink = fg__walk(fg_self, context).path;
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

/* libunwind has a function of the same name, which would be met first. */
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

static void at_the_end(struct bench *bench)
{
	static const char *const names[] = {"fastgate, unchanged", "fastgate, a tenth changed",
					    "fastgate, moved",     "fastgate, nothing kept",
					    "libunwind, warm",     "glibc backtrace, warm"};

	(void)getcontext(&bench->here);
	for (unsigned round = 0; round < ROUNDS; round++) {
		bench->ns[0][round] = kept(&bench->here);
		bench->ns[1][round] = by_turns(bench);
		bench->ns[2][round] = afresh(&bench->here, false);
		bench->ns[3][round] = afresh(&bench->here, true);
		bench->ns[PEER][round] = by_libunwind();
		bench->ns[5][round] = by_libc();
	}
	for (unsigned i = 0; i < ARMS; i++)
		qsort(bench->ns[i], ROUNDS, sizeof(double), compare);
	for (unsigned i = 0; i < ARMS; i++)
		(void)printf("  %-26s %9.0f ns, %5.2f of libunwind's\n", names[i],
			     bench->ns[i][ROUNDS / 2],
			     bench->ns[i][ROUNDS / 2] / bench->ns[PEER][ROUNDS / 2]);
}

static __attribute__((noinline)) void descend(struct bench *bench, unsigned depth)
{
	if (depth == CHANGED)
		(void)getcontext(&bench->outer);
	if (depth == 0)
		at_the_end(bench);
	else
		descend(bench, depth - 1);
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	static struct bench bench;

	if (!fg_alive()) {
		(void)fprintf(stderr,
			      "walk: the collector is not on: set FASTGATE_COLLECTOR_OUTPUT\n");
		return 2;
	}
	descend(&bench, DEPTH);
	return 0;
}
