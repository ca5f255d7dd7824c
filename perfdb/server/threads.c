// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/threads.h"

#include "base/clock.h"

void fg_wake_init(pthread_cond_t *wake)
{
	pthread_condattr_t attributes;

	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(wake, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

bool fg_wake_wait(pthread_cond_t *wake, pthread_mutex_t *lock, int64_t ns)
{
	const int64_t until_ns = fg_clock_monotonic_ns() + ns;
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / FG_NS_PER_S),
		.tv_nsec = (long)(until_ns % FG_NS_PER_S),
	};

	return pthread_cond_timedwait(wake, lock, &until) == 0;
}

void fg_wake_to_stop(pthread_mutex_t *lock, pthread_cond_t *wake, bool *stopping)
{
	(void)pthread_mutex_lock(lock);
	*stopping = true;
	(void)pthread_cond_broadcast(wake);
	(void)pthread_mutex_unlock(lock);
}

void fg_thread_name(const char *name)
{
	(void)pthread_setname_np(pthread_self(), name);
}
