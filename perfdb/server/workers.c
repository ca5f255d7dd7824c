// SPDX-License-Identifier: Apache-2.0
/*
 * libmicrohttpd's threads only move bytes. The first thread to wake takes every waiting connection,
 * so a handler that waited for a transaction there would delay all these connections. A complete
 * request is therefore suspended, answered here, and resumed.
 *
 * Uploads are CPU-bound and wait for each other, so they never get all of several threads: at least
 * a quarter, rounded up, is left for queries. A flood of unknown tokens gets at most this quarter,
 * and notes get one thread.
 */
#include "perfdb/server/workers.h"

#include "base/clock.h"
#include "perfdb/server/threads.h"

#include <unistd.h>

enum {
	/* two, because a worker unpacks a run while another stores one */
	UPLOADS_PER_PROCESSOR = 2,
	/* time that clients have to read their answers when the server stops */
	LEAVE_SECONDS = 5
};

struct queue {
	struct fg_job *first;
	struct fg_job **last;
};

struct fg_workers {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_cond_t left;
	pthread_t *threads;
	size_t thread_count;
	struct queue queues[FG_JOB_KINDS];
	size_t busy[FG_JOB_KINDS]; /* busy threads per kind */
	size_t most[FG_JOB_KINDS]; /* limit per kind */
	size_t held;
	bool stopping;
};

static struct fg_job *take_first(struct queue *queue)
{
	struct fg_job *job = queue->first;

	queue->first = job->next;
	if (!queue->first)
		queue->last = &queue->first;
	return job;
}

/* Takes the next job that may be done, or returns NULL. */
static struct fg_job *next(struct fg_workers *w)
{
	for (int kind = 0; kind < FG_JOB_KINDS; kind++) {
		if (!w->queues[kind].first || w->busy[kind] >= w->most[kind])
			continue;
		w->busy[kind]++;
		return take_first(&w->queues[kind]);
	}
	return NULL;
}

static bool is_empty(const struct fg_workers *w)
{
	for (int kind = 0; kind < FG_JOB_KINDS; kind++) {
		if (w->queues[kind].first)
			return false;
	}
	return true;
}

static void *work(void *context)
{
	struct fg_workers *w = context;

	fg_thread_name("worker");
	(void)pthread_mutex_lock(&w->lock);
	for (;;) {
		struct fg_job *job = next(w);
		enum fg_job_kind kind = FG_JOB_QUESTION;
		bool is_dropped = false;

		if (!job && w->stopping && is_empty(w))
			break;
		if (!job) {
			(void)pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		kind = job->kind;
		is_dropped = w->stopping && kind == FG_JOB_NOTE;
		(void)pthread_mutex_unlock(&w->lock);
		(is_dropped ? job->refuse : job->run)(job); /* the job may be freed from here on */
		(void)pthread_mutex_lock(&w->lock);
		w->busy[kind]--;
		if (w->stopping)
			(void)pthread_cond_broadcast(&w->wake);
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void share_threads(struct fg_workers *w, unsigned threads)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const size_t quarter = (threads + 3) / 4;
	size_t uploads = threads - quarter;

	if (processors > 0)
		uploads = fg_min_size(uploads, UPLOADS_PER_PROCESSOR * (size_t)processors);
	w->most[FG_JOB_QUESTION] = threads;
	w->most[FG_JOB_PROOF] = quarter;
	w->most[FG_JOB_UPLOAD] = uploads ? uploads : 1;
	w->most[FG_JOB_NOTE] = 1;
}

int fg_workers_start(unsigned threads, struct fg_workers **workers, struct fg_error *err)
{
	struct fg_workers *w = fg_xcalloc(1, sizeof(*w));

	for (int kind = 0; kind < FG_JOB_KINDS; kind++)
		w->queues[kind].last = &w->queues[kind].first;
	share_threads(w, threads);
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->wake, NULL);
	fg_wake_init(&w->left);
	w->threads = fg_xcalloc(threads, sizeof(*w->threads));
	*workers = w;
	while (w->thread_count < threads) {
		if (pthread_create(&w->threads[w->thread_count], NULL, work, w) != 0)
			return fg_error_set(err, FG_EIO, "cannot start a worker thread");
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

void fg_workers_give(struct fg_workers *w, struct fg_job *job)
{
	struct queue *queue = &w->queues[job->kind];
	bool is_late = false;

	(void)pthread_mutex_lock(&w->lock);
	is_late = w->stopping; /* the threads may have ended already */
	if (!is_late) {
		job->next = NULL;
		*queue->last = job;
		queue->last = &job->next;
		(void)pthread_cond_signal(&w->wake);
	}
	(void)pthread_mutex_unlock(&w->lock);
	if (is_late)
		job->refuse(job);
}

void fg_workers_refuse_waiting(struct fg_workers *w)
{
	struct fg_job *waiting[FG_JOB_KINDS] = {NULL};

	(void)pthread_mutex_lock(&w->lock);
	for (int kind = FG_JOB_QUESTION; kind < FG_JOB_KINDS; kind++) {
		waiting[kind] = w->queues[kind].first;
		w->queues[kind].first = NULL;
		w->queues[kind].last = &w->queues[kind].first;
	}
	(void)pthread_mutex_unlock(&w->lock);
	for (int kind = 0; kind < FG_JOB_KINDS; kind++) {
		for (struct fg_job *job = waiting[kind]; job;) {
			struct fg_job *following = job->next;

			job->refuse(job); /* the job may be freed from here on */
			job = following;
		}
	}
}

size_t fg_workers_count(struct fg_workers *w)
{
	size_t held = 0;

	(void)pthread_mutex_lock(&w->lock);
	held = w->held;
	(void)pthread_mutex_unlock(&w->lock);
	return held;
}

void fg_workers_release(struct fg_workers *w)
{
	(void)pthread_mutex_lock(&w->lock);
	if (--w->held == 0)
		(void)pthread_cond_broadcast(&w->left);
	(void)pthread_mutex_unlock(&w->lock);
}

void fg_workers_stop(struct fg_workers *w)
{
	int64_t until_ns = 0;
	int64_t left_ns = 0;

	if (!w)
		return;
	(void)pthread_mutex_lock(&w->lock);
	w->stopping = true;
	(void)pthread_cond_broadcast(&w->wake);
	(void)pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < w->thread_count; i++)
		(void)pthread_join(w->threads[i], NULL);
	w->thread_count = 0;
	until_ns = fg_clock_monotonic_ns() + LEAVE_SECONDS * FG_NS_PER_S;
	(void)pthread_mutex_lock(&w->lock);
	while (w->held && (left_ns = until_ns - fg_clock_monotonic_ns()) > 0)
		(void)fg_wake_wait(&w->left, &w->lock, left_ns);
	(void)pthread_mutex_unlock(&w->lock);
}

void fg_workers_free(struct fg_workers *w)
{
	if (!w)
		return;
	free(w->threads);
	(void)pthread_mutex_destroy(&w->lock);
	(void)pthread_cond_destroy(&w->wake);
	(void)pthread_cond_destroy(&w->left);
	free(w);
}
