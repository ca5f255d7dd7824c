// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that use thread-local variables of libraries that were loaded late: the first access
 * allocates their memory with malloc.  A signal handler that did the same at that moment would
 * deadlock.
 */
#include "work.h"

#include <dlfcn.h>
#include <pthread.h>

enum {
	LIBRARIES = 4,
	THREADS = 3,
	ROUNDS = 60
};

static size_t (*touch[LIBRARIES])(char value);

NOINLINE static void touch_all(void)
{
	for (unsigned i = 0; i < LIBRARIES; i++) {
		free(malloc(100));
		check(touch[i]((char)(i + 1)) == 0, "a thread's variables begin as zero");
		check(touch[i](0) > 0, "a thread's variables keep their values");
	}
	spin_us(300);
}

static void *run(void *unused)
{
	touch_all();
	return unused;
}

int main(int argc, char **argv)
{
	void *libraries[LIBRARIES];
	pthread_t threads[THREADS];

	check(argc > 1, "usage: tls FOLDER");
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < LIBRARIES; i++) {
			char path[4096];

			(void)snprintf(path, sizeof(path), "%s/libtls%u.so", argv[1], i);
			libraries[i] = dlopen(path, RTLD_NOW);
			check(libraries[i] != NULL, dlerror());
			touch[i] = __extension__(size_t(*)(char)) dlsym(libraries[i], "touch_tls");
			check(touch[i] != NULL, "dlsym");
		}
		for (unsigned i = 0; i < THREADS; i++)
			check(pthread_create(&threads[i], NULL, run, NULL) == 0, "pthread_create");
		for (unsigned i = 0; i < THREADS; i++)
			(void)pthread_join(threads[i], NULL);
		for (unsigned i = 0; i < LIBRARIES; i++)
			check(dlclose(libraries[i]) == 0, "dlclose");
	}
	return 0;
}
