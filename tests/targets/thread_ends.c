// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that end in every possible way, and work meanwhile: in destructors of thread-specific
 * data, over several rounds, and in destructors of C++'s thread_local objects. With `main`, the
 * main thread ends first, so another thread is the last one.
 */
#include "work.h"

#include <pthread.h>
#include <unistd.h>

enum {
	ROUNDS = 3, /* of the four rounds; the collector cleans up in the last */
	STORM = 400
};

/* C++ calls this for a thread_local object with a destructor. */
/* NOLINTBEGIN(bugprone-reserved-identifier): names of the system's */
int __cxa_thread_atexit_impl(void (*destroy)(void *object), void *object, void *library);
extern void *__dso_handle;
/* NOLINTEND(bugprone-reserved-identifier) */

static pthread_key_t key;
static uint64_t work_us;
static uint64_t destructors_ns;
static uint64_t objects_ns;
static unsigned destroyed;

NOINLINE static void in_destructor(void)
{
	spin_us(work_us);
	KEEP_FRAME();
}

NOINLINE static void in_object(void)
{
	spin_us(work_us);
	KEEP_FRAME();
}

NOINLINE static void in_last_thread(void)
{
	spin_us(100000);
	KEEP_FRAME();
}

static void on_end(void *rounds_left)
{
	const uintptr_t left = (uintptr_t)rounds_left;
	const uint64_t begin = cpu_ns();

	in_destructor();
	(void)__atomic_fetch_add(&destructors_ns, cpu_ns() - begin, __ATOMIC_RELAXED);
	(void)__atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
	if (left > 1)
		check(pthread_setspecific(key, (const void *)(left - 1)) == 0, "set again");
}

static void on_object_end(void *unused)
{
	const uint64_t begin = cpu_ns();

	(void)unused;
	in_object();
	(void)__atomic_fetch_add(&objects_ns, cpu_ns() - begin, __ATOMIC_RELAXED);
}

static void leave_behind(uintptr_t rounds)
{
	static char object;

	check(pthread_setspecific(key, (const void *)rounds) == 0, "pthread_setspecific");
	check(__cxa_thread_atexit_impl(on_object_end, &object, &__dso_handle) == 0, "thread_local");
}

static void *by_return(void *unused)
{
	leave_behind(ROUNDS);
	return unused;
}

static void *by_exit(void *unused)
{
	leave_behind(ROUNDS);
	pthread_exit(unused);
}

static void *by_cancel(void *unused)
{
	leave_behind(ROUNDS);
	for (;;)
		(void)pause();
	return unused;
}

static void *by_return_soon(void *unused)
{
	leave_behind(1);
	return unused;
}

static void run(void *(*begin)(void *), int cancel)
{
	pthread_t thread;

	check(pthread_create(&thread, NULL, begin, NULL) == 0, "pthread_create");
	check(!cancel || pthread_cancel(thread) == 0, "pthread_cancel");
	check(pthread_join(thread, NULL) == 0, "pthread_join");
}

static void *last(void *main_thread)
{
	check(pthread_join(*(pthread_t *)main_thread, NULL) == 0, "the main thread is joined");
	in_last_thread();
	return NULL;
}

int main(int argc, char **argv)
{
	static pthread_t self;
	pthread_t thread;

	check(pthread_key_create(&key, on_end) == 0, "pthread_key_create");
	if (argc > 1 && strcmp(argv[1], "main") == 0) {
		self = pthread_self();
		check(pthread_create(&thread, NULL, last, &self) == 0, "pthread_create");
		pthread_exit(NULL);
	}
	work_us = 40000;
	run(by_return, 0);
	run(by_exit, 0);
	run(by_cancel, 1);
	check(destroyed == 3 * ROUNDS, "every destructor is called");
	work_us = 200;
	for (unsigned i = 0; i < STORM; i++)
		run(by_return_soon, 0);
	check(destroyed == 3 * ROUNDS + STORM, "every destructor is called");
	print_value("in_destructor", (double)destructors_ns);
	print_value("in_object", (double)objects_ns);
	return 0;
}
