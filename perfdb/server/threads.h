/* SPDX-License-Identifier: Apache-2.0 */
/* Background threads, and waits on a clock that cannot be set. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_THREADS_H
#define FG_PERFDB_SERVER_THREADS_H

#include "base/base.h"
#include "base/error.h"

#include <pthread.h>

/* A thread that works, waits, and works again until it is stopped. */
struct fg_background {
	const char *name; /* for fg_thread_name() */
	/* Called without the lock. Returns true to be called again immediately. */
	bool (*work)(void *context);
	void *context;
	int64_t pause_ns;     /* longest wait between two calls */
	pthread_mutex_t lock; /* may protect the data of `context` */
	pthread_cond_t wake;
	pthread_t thread;
	bool is_running;
	bool is_awake;
	bool is_stopping;
};

int fg_background_start(struct fg_background *background, struct fg_error *err) FG_NODISCARD;
/* Ends the current wait, or the next wait. Call it without the lock. */
void fg_background_wake(struct fg_background *background);
/* Waits until work() returns. Does nothing if the thread was not started. */
void fg_background_stop(struct fg_background *background);

/* Initialises a condition for fg_wake_wait(). */
void fg_wake_init(pthread_cond_t *wake);
/* Waits at most `ns`; false on timeout. */
bool fg_wake_wait(pthread_cond_t *wake, pthread_mutex_t *lock, int64_t ns);
/* Names this thread for ps, top and gdb; at most 15 characters. */
void fg_thread_name(const char *name);

#endif
