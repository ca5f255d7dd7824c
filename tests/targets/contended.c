// SPDX-License-Identifier: Apache-2.0
/*
 * Locks with a known number of waits, and locks that nobody waits for.  The owner of a lock
 * releases it only when the kernel reports that the other thread sleeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define FAR_FROM_OPTIMISED __attribute__((noinline))

enum {
	ROUNDS = 5
};

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static _Atomic pid_t sleeper;

static void must(int ok)
{
	if (!ok)
		abort();
}

/* Returns the kernel's letter for a thread's state; in /proc it follows the name in brackets. */
static char state_of(pid_t thread)
{
	char path[64];
	char text[512];
	ssize_t size = 0;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
	const int fd = open(path, O_RDONLY);

	must(fd >= 0 && (size = read(fd, text, sizeof(text) - 1)) > 0);
	(void)close(fd);
	text[size] = '\0';
	const char *end = strrchr(text, ')');

	return end ? end[2] : '?';
}

/* Waits until the other thread has set its id and sleeps. */
static void await_sleeper(void)
{
	while (!atomic_load(&sleeper))
		(void)sched_yield();
	while (state_of(atomic_load(&sleeper)) != 'S')
		(void)sched_yield();
	atomic_store(&sleeper, 0);
}

static void about_to_sleep(void)
{
	atomic_store(&sleeper, (pid_t)syscall(SYS_gettid));
}

FAR_FROM_OPTIMISED void wait_for_mutex(void)
{
	must(pthread_mutex_lock(&plain) == 0);
	must(pthread_mutex_unlock(&plain) == 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void wait_to_read(void)
{
	must(pthread_rwlock_rdlock(&shared) == 0);
	must(pthread_rwlock_unlock(&shared) == 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void wait_to_write(void)
{
	must(pthread_rwlock_wrlock(&shared) == 0);
	must(pthread_rwlock_unlock(&shared) == 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void wait_for_c11(void)
{
	must(mtx_lock(&c11) == thrd_success);
	must(mtx_unlock(&c11) == thrd_success);
	__asm__ volatile("");
}

static void *wait_for_each(void *argument)
{
	static void (*const waits[])(void) = {wait_for_mutex, wait_to_read, wait_to_write,
					      wait_for_c11};
	const unsigned kind = *(const unsigned *)argument;

	about_to_sleep();
	waits[kind]();
	return NULL;
}

/* One round: holds the lock until the other thread sleeps on it. */
static void have_it_waited_for(unsigned kind)
{
	pthread_t thread;

	must(kind != 0 || pthread_mutex_lock(&plain) == 0);
	must(kind == 0 || kind == 3 || pthread_rwlock_wrlock(&shared) == 0);
	must(kind != 3 || mtx_lock(&c11) == thrd_success);
	must(pthread_create(&thread, NULL, wait_for_each, &kind) == 0);
	await_sleeper();
	must(kind != 0 || pthread_mutex_unlock(&plain) == 0);
	must(kind == 0 || kind == 3 || pthread_rwlock_unlock(&shared) == 0);
	must(kind != 3 || mtx_unlock(&c11) == thrd_success);
	must(pthread_join(thread, NULL) == 0);
}

FAR_FROM_OPTIMISED void take_free_locks(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t own;

	for (int i = 0; i < 1000; i++) {
		wait_for_mutex();
		wait_to_read();
		wait_to_write();
		wait_for_c11();
	}
	/* locked twice by the same thread */
	must(pthread_mutexattr_init(&attributes) == 0 &&
	     pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0 &&
	     pthread_mutex_init(&own, &attributes) == 0);
	must(pthread_mutex_lock(&own) == 0 && pthread_mutex_lock(&own) == 0);
	must(pthread_mutex_unlock(&own) == 0 && pthread_mutex_unlock(&own) == 0);
	__asm__ volatile("");
}

/* An error is still returned, and does not count as a wait. */
FAR_FROM_OPTIMISED void make_mistakes(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t strict;

	must(pthread_mutexattr_init(&attributes) == 0 &&
	     pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0 &&
	     pthread_mutex_init(&strict, &attributes) == 0);
	must(pthread_mutex_lock(&strict) == 0 && pthread_mutex_lock(&strict) == EDEADLK);
	must(pthread_mutex_unlock(&strict) == 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void wait_in_vain(void)
{
	const struct timespec past = {.tv_sec = 1};
	int status = pthread_mutex_lock(&plain);

	must(status == 0 && pthread_mutex_timedlock(&plain, &past) == ETIMEDOUT);
	must(pthread_mutex_unlock(&plain) == 0);
	__asm__ volatile("");
}

int main(void)
{
	must(mtx_init(&c11, mtx_plain) == thrd_success);
	take_free_locks();
	make_mistakes();
	for (int i = 0; i < ROUNDS; i++)
		for (unsigned kind = 0; kind < 4; kind++)
			have_it_waited_for(kind);
	wait_in_vain();
	return 0;
}
