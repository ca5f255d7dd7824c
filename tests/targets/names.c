// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that name themselves by pthread_setname_np() and by prctl(), one that its creator names,
 * and one that nobody names.
 */
#include "work.h"

#include <pthread.h>
#include <sys/prctl.h>

enum {
	THREADS = 4
};

static pthread_barrier_t begun;
static pthread_barrier_t named;

NOINLINE static void work(unsigned index)
{
	spin_us(20000 + index);
}

static void *run(void *argument)
{
	const unsigned index = (unsigned)(uintptr_t)argument;

	if (index == 0)
		check(pthread_setname_np(pthread_self(), "by itself") == 0, "pthread_setname_np");
	if (index == 1)
		check(prctl(PR_SET_NAME, "by prctl") == 0, "prctl");
	(void)pthread_barrier_wait(&begun);
	(void)pthread_barrier_wait(&named);
	work(index);
	return argument;
}

int main(void)
{
	pthread_t threads[THREADS];
	char name[16];

	check(pthread_barrier_init(&begun, NULL, THREADS + 1) == 0, "barrier");
	check(pthread_barrier_init(&named, NULL, THREADS + 1) == 0, "barrier");
	for (uintptr_t i = 0; i < THREADS; i++)
		check(pthread_create(&threads[i], NULL, run, (void *)i) == 0, "pthread_create");
	(void)pthread_barrier_wait(&begun);
	check(pthread_setname_np(threads[2], "by its maker") == 0, "pthread_setname_np");
	check(pthread_setname_np(threads[2], "a name that is too long") != 0, "too long");
	(void)pthread_barrier_wait(&named);
	for (unsigned i = 0; i < THREADS; i++)
		check(pthread_join(threads[i], NULL) == 0, "pthread_join");
	check(pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 &&
		      strncmp(name, "names", 5) == 0,
	      "the name of the program");
	return 0;
}
