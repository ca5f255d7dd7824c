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

void fg_thread_name(const char *name)
{
	(void)pthread_setname_np(pthread_self(), name);
}

static void *run(void *context)
{
	struct fg_background *b = context;

	fg_thread_name(b->name);
	(void)pthread_mutex_lock(&b->lock);
	while (!b->is_stopping) {
		bool waits = false;

		b->is_awake = false;
		(void)pthread_mutex_unlock(&b->lock);
		waits = !b->work(b->context);
		(void)pthread_mutex_lock(&b->lock);
		while (waits && !b->is_awake)
			waits = fg_wake_wait(&b->wake, &b->lock, b->pause_ns);
	}
	(void)pthread_mutex_unlock(&b->lock);
	return NULL;
}

int fg_background_start(struct fg_background *b, struct fg_error *err)
{
	(void)pthread_mutex_init(&b->lock, NULL);
	fg_wake_init(&b->wake);
	b->is_running = pthread_create(&b->thread, NULL, run, b) == 0;
	if (b->is_running)
		return FG_OK;
	(void)pthread_mutex_destroy(&b->lock);
	(void)pthread_cond_destroy(&b->wake);
	return fg_error_set(err, FG_EIO, "cannot start the thread '%s'", b->name);
}

static void wake(struct fg_background *b, bool to_stop)
{
	(void)pthread_mutex_lock(&b->lock);
	b->is_awake = true;
	b->is_stopping = b->is_stopping || to_stop;
	(void)pthread_cond_broadcast(&b->wake);
	(void)pthread_mutex_unlock(&b->lock);
}

void fg_background_wake(struct fg_background *b)
{
	wake(b, false);
}

void fg_background_stop(struct fg_background *b)
{
	if (!b->is_running)
		return;
	wake(b, true);
	(void)pthread_join(b->thread, NULL);
	(void)pthread_mutex_destroy(&b->lock);
	(void)pthread_cond_destroy(&b->wake);
	b->is_running = false;
}
