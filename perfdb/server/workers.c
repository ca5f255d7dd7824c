// SPDX-License-Identifier: Apache-2.0
/*
 * The threads that answer.  libmicrohttpd's threads only move bytes: the first of them to wake
 * takes every connection that waits, so a handler that ran there, and waited for its transaction,
 * would hold up all of them one after the other.  A request that is complete is taken off its
 * connection's hands (suspended), answered here, and given back.
 *
 * Uploads are work, so they may not have all threads: a quarter is kept for those who ask.  While
 * the disk has an upload no thread does: the writer gives it back when it is written.
 */
#include "base/clock.h"
#include "perfdb/server/request.h"

#include <unistd.h>

/* In the order in which they are taken. */
enum {
	WRITTEN,
	QUESTIONS,
	UPLOADS,
	KINDS
};

struct line {
	struct fg_request *first;
	struct fg_request **last;
};

enum {
	IN_HAND_MAX = 32, /* uploads that take up more memory than their bodies */
	LEAVE_SECONDS = 5 /* so long may a client take to read its answer when the server stops */
};

struct fg_workers {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_cond_t left;
	pthread_t *threads;
	size_t thread_count;
	struct line lines[KINDS];
	size_t uploading; /* threads that have an upload */
	size_t uploading_max;
	size_t in_hand; /* uploads that were begun, and are not answered */
	size_t held;    /* requests that were given, and are not done with */
	bool stopping;
};

static int kind_of(const struct fg_request *rq)
{
	if (rq->then)
		return WRITTEN;
	return rq->route->takes_run ? UPLOADS : QUESTIONS;
}

static bool may_begin(const struct fg_workers *w, int kind)
{
	return kind == QUESTIONS ||
	       (w->uploading < w->uploading_max && (kind == WRITTEN || w->in_hand < IN_HAND_MAX));
}

/* The next that may be answered, or NULL. */
static struct fg_request *next(struct fg_workers *w, int *of)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct line *line = &w->lines[kind];
		struct fg_request *rq = line->first;

		if (!rq || !may_begin(w, kind))
			continue;
		line->first = rq->next;
		if (!line->first)
			line->last = &line->first;
		w->uploading += kind != QUESTIONS;
		w->in_hand += kind == UPLOADS;
		*of = kind;
		return rq;
	}
	return NULL;
}

static void *work(void *context)
{
	struct fg_workers *w = context;

	(void)pthread_mutex_lock(&w->lock);
	for (;;) {
		int kind = QUESTIONS;
		struct fg_request *rq = next(w, &kind);
		bool answered = false;

		if (!rq && w->stopping && !w->lines[UPLOADS].first && !w->in_hand)
			break;
		if (!rq) {
			(void)pthread_cond_wait(&w->filled, &w->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&w->lock);
		answered = fg_http_answer(rq); /* from here on it may be gone */
		(void)pthread_mutex_lock(&w->lock);
		if (kind == QUESTIONS)
			continue;
		/* Whatever may begin now, this thread looks for it next. */
		w->uploading--;
		w->in_hand -= answered;
		if (w->stopping)
			(void)pthread_cond_broadcast(&w->filled);
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

/*
 * More than there are processors would only take them from each other, and from the one who writes.
 */
static size_t count_uploaders(unsigned threads)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = threads - (threads + 3) / 4;

	if (processors > 0)
		most = fg_min_size(most, (size_t)processors);
	return most ? most : 1;
}

int fg_workers_start(unsigned threads, struct fg_workers **workers, struct fg_error *err)
{
	struct fg_workers *w = fg_xcalloc(1, sizeof(*w));
	pthread_condattr_t attributes;

	for (int kind = 0; kind < KINDS; kind++)
		w->lines[kind].last = &w->lines[kind].first;
	w->uploading_max = count_uploaders(threads);
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->filled, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&w->left, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	w->threads = fg_xcalloc(threads, sizeof(*w->threads));
	*workers = w;
	while (w->thread_count < threads) {
		if (pthread_create(&w->threads[w->thread_count], NULL, work, w) != 0)
			return fg_error_set(err, FG_EIO, "cannot start a thread that answers");
		w->thread_count++;
	}
	return FG_OK;
}

bool fg_workers_hold(struct fg_workers *w)
{
	bool held = false;

	(void)pthread_mutex_lock(&w->lock);
	held = !w->stopping;
	w->held += held;
	(void)pthread_mutex_unlock(&w->lock);
	return held;
}

void fg_workers_give(struct fg_workers *w, struct fg_request *rq)
{
	struct line *line = &w->lines[kind_of(rq)];

	(void)pthread_mutex_lock(&w->lock);
	rq->next = NULL;
	*line->last = rq;
	line->last = &rq->next;
	(void)pthread_cond_signal(&w->filled);
	(void)pthread_mutex_unlock(&w->lock);
}

bool fg_workers_have_uploads(struct fg_workers *w)
{
	bool have = false;

	(void)pthread_mutex_lock(&w->lock);
	have = w->uploading || w->lines[UPLOADS].first;
	(void)pthread_mutex_unlock(&w->lock);
	return have;
}

void fg_workers_let_go(struct fg_workers *w)
{
	(void)pthread_mutex_lock(&w->lock);
	if (--w->held == 0)
		(void)pthread_cond_broadcast(&w->left);
	(void)pthread_mutex_unlock(&w->lock);
}

void fg_tell_to_stop(pthread_mutex_t *lock, pthread_cond_t *waiting, bool *stopping)
{
	(void)pthread_mutex_lock(lock);
	*stopping = true;
	(void)pthread_cond_broadcast(waiting);
	(void)pthread_mutex_unlock(lock);
}

void fg_workers_stop(struct fg_workers *w)
{
	struct timespec until = {0};

	if (!w)
		return;
	fg_tell_to_stop(&w->lock, &w->filled, &w->stopping);
	for (size_t i = 0; i < w->thread_count; i++)
		(void)pthread_join(w->threads[i], NULL);
	w->thread_count = 0;
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LEAVE_SECONDS;
	(void)pthread_mutex_lock(&w->lock);
	while (w->held && pthread_cond_timedwait(&w->left, &w->lock, &until) == 0)
		;
	(void)pthread_mutex_unlock(&w->lock);
}

void fg_workers_free(struct fg_workers *w)
{
	if (!w)
		return;
	free(w->threads);
	(void)pthread_mutex_destroy(&w->lock);
	(void)pthread_cond_destroy(&w->filled);
	(void)pthread_cond_destroy(&w->left);
	free(w);
}
