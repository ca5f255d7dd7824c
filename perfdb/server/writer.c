// SPDX-License-Identifier: Apache-2.0
/*
 * The one who writes.  SQLite has room for one writer, and a transaction that reaches the disk costs the same whether
 * it holds one run or twenty.  So what is to be written queues here, made ready by the thread that received it, and one
 * thread takes all that wait and commits once.  Should one of them fail half-way, which is rare, all of it is undone and
 * each done again by itself: savepoints would keep a copy of every page that changes, for everybody, all the time.  A caller gets
 * its answer only after the commit: what was confirmed is on the disk.
 */
#include "perfdb/server/request.h"
#include "store/query.h"

enum {
	BATCH_MAX = 64,
	QUEUE_MAX = 1024
};

struct job {
	fg__writer_task *task;
	void *context;
	bool done;
	int status;
	struct fg_error err;
	struct job *next;
};

struct fg_writer {
	struct fg_server *server;
	struct fg_store *store;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_cond_t finished;
	struct job *first;
	struct job **last;
	size_t pending; /* jobs that wait, or are being done */
	bool stopping;
	bool running;
};

static int open_store(struct fg_writer *w, struct fg_error *err)
{
	w->store = fg__session(w->server, err);
	if (!w->store)
		return err ? (int)err->code : FG_EDB;
	fg_store_share_ids(w->store, w->server->ids);
	return FG_OK;
}

/* A line that was cut: the next batch gets another. */
static void leave_broken_store(struct fg_writer *w)
{
	if (!w->store || !fg_store_is_broken(w->store))
		return;
	fg_store_close(w->store);
	w->store = NULL;
}

static int begin(struct fg_writer *w, struct fg_error *err)
{
	int status = FG_OK;

	leave_broken_store(w);
	if (!w->store)
		status = open_store(w, err);
	return status == FG_OK ? fg_store_batch_begin(w->store, err) : status;
}

/*
 * Those from `first` up to `end` in one transaction; each is told what became of it.  `spoiled`: one of them failed
 * half-way, and nothing of any of them is stored.
 */
static int write_together(struct fg_writer *w, struct job *first, const struct job *end,
			  bool *spoiled)
{
	struct fg_error err = {0};
	int status = begin(w, &err);

	*spoiled = false;
	for (struct job *job = first; job != end && status == FG_OK && !*spoiled; job = job->next) {
		job->err = (struct fg_error){0};
		job->status = job->task(w->store, job->context, &job->err);
		*spoiled = fg_store_batch_is_spoiled(w->store);
	}
	if (*spoiled)
		fg_store_batch_undo(w->store);
	else if (status == FG_OK)
		status = fg_store_batch_end(w->store, &err);
	for (struct job *job = first; job != end && status != FG_OK; job = job->next) {
		job->status = status;
		job->err = err;
	}
	return status;
}

static void write_batch(struct fg_writer *w, struct job *jobs)
{
	bool spoiled = false;

	(void)write_together(w, jobs, NULL, &spoiled);
	if (spoiled && jobs->next) {
		struct job *job = jobs;

		while (job && write_together(w, job, job->next, &spoiled) == FG_OK)
			job = job->next;
		/* The database is gone, or its disk is full: nobody need try that again. */
		for (; job && job->next; job = job->next) {
			job->next->status = job->status;
			job->next->err = job->err;
		}
	}
	leave_broken_store(w);
	atomic_fetch_add(&w->server->counters.batches, 1);
}

static void *work(void *context)
{
	struct fg_writer *w = context;

	(void)pthread_mutex_lock(&w->lock);
	for (;;) {
		struct job *batch = NULL;
		struct job **end = &batch;

		while (!w->first && !w->stopping)
			(void)pthread_cond_wait(&w->filled, &w->lock);
		if (!w->first)
			break;
		for (int i = 0; i < BATCH_MAX && w->first; i++) {
			*end = w->first;
			end = &w->first->next;
			w->first = w->first->next;
		}
		*end = NULL;
		if (!w->first)
			w->last = &w->first;
		(void)pthread_mutex_unlock(&w->lock);
		write_batch(w, batch);
		(void)pthread_mutex_lock(&w->lock);
		for (struct job *job = batch; job; job = job->next) {
			job->done = true;
			w->pending--;
		}
		(void)pthread_cond_broadcast(&w->finished);
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

int fg__writer_start(struct fg_server *server, struct fg_writer **writer, struct fg_error *err)
{
	struct fg_writer *w = fg_xcalloc(1, sizeof(*w));

	w->server = server;
	w->last = &w->first;
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->filled, NULL);
	(void)pthread_cond_init(&w->finished, NULL);
	*writer = w;
	if (open_store(w, err) != FG_OK)
		return err ? (int)err->code : FG_EDB;
	w->running = pthread_create(&w->thread, NULL, work, w) == 0;
	return w->running ? FG_OK : fg_error_set(err, FG_EIO, "cannot start the writing thread");
}

void fg__writer_stop(struct fg_writer *w)
{
	if (!w)
		return;
	fg__tell_to_stop(&w->lock, &w->filled, &w->stopping);
	if (w->running)
		(void)pthread_join(w->thread, NULL);
	fg_store_close(w->store);
	(void)pthread_mutex_destroy(&w->lock);
	(void)pthread_cond_destroy(&w->filled);
	(void)pthread_cond_destroy(&w->finished);
	free(w);
}

int fg__writer_do(struct fg_writer *writer, fg__writer_task *task, void *context,
		  struct fg_error *err)
{
	struct job job = {.task = task, .context = context};

	(void)pthread_mutex_lock(&writer->lock);
	if (writer->pending >= QUEUE_MAX) {
		(void)pthread_mutex_unlock(&writer->lock);
		return fg_error_set(err, FG_EBUSY, "too many uploads wait to be written");
	}
	*writer->last = &job;
	writer->last = &job.next;
	writer->pending++;
	(void)pthread_cond_signal(&writer->filled);
	while (!job.done)
		(void)pthread_cond_wait(&writer->finished, &writer->lock);
	(void)pthread_mutex_unlock(&writer->lock);
	if (job.status != FG_OK && err)
		*err = job.err;
	return job.status;
}

size_t fg__writer_pending(struct fg_writer *writer)
{
	size_t pending = 0;

	(void)pthread_mutex_lock(&writer->lock);
	pending = writer->pending;
	(void)pthread_mutex_unlock(&writer->lock);
	return pending;
}
