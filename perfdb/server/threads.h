/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for other threads, by a clock that cannot be set. Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_THREADS_H
#define FG_PERFDB_SERVER_THREADS_H

#include "base/base.h"

#include <pthread.h>

/* A condition for fg_wake_wait(). */
void fg_wake_init(pthread_cond_t *wake);
/* Waits `ns` at most; false when the time is over. */
bool fg_wake_wait(pthread_cond_t *wake, pthread_mutex_t *lock, int64_t ns);
/* Sets `stopping` and wakes every thread that waits under this lock. */
void fg_wake_to_stop(pthread_mutex_t *lock, pthread_cond_t *wake, bool *stopping);
/* Names this thread for ps, top and gdb; at most 15 characters. */
void fg_thread_name(const char *name);

#endif
