// SPDX-License-Identifier: Apache-2.0
/*
 * The one who writes.  SQLite has room for one writer, and a transaction that reaches the disk
 * costs the same whether it holds one run or twenty.  So what is to be written queues here, made
 * ready by the thread that received it, and one thread takes all that wait and commits once.
 * Should one of them fail half-way, which is rare, all of it is undone and each done again by
 * itself: savepoints would keep a copy of every page that changes, for everybody, all the time.
 *
 * No thread waits for it: a request goes on, in one of the workers, only after the commit.  What
 * was confirmed is on the disk.
 */
#include "base/clock.h"
#include "perfdb/server/request.h"
#include "store/serving/batch.h"
#include "store/serving/ids.h"
#include "store/store.h"

enum {
	BATCH_MAX = 64,
	GATHER_COUNT = 8, /* from here on a commit costs each of them little */
	GATHER_NS = 3000000
};

struct fg_writer {
	struct fg_server *server;
	struct fg_store *store;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct fg_request *first;
	struct fg_request **last;
	size_t pending; /* requests that wait, or are being done */
	bool stopping;
	bool running;
};

static int open_store(struct fg_writer *w, struct fg_error *err)
{
	w->store = fg_server_session(w->server, err);
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
 * Those from `first` up to `end` in one transaction; each is told what became of it.  `spoiled`:
 * one of them failed half-way, and nothing of any of them is stored.
 */
static int write_together(struct fg_writer *w, struct fg_request *first,
			  const struct fg_request *end, bool *spoiled)
{
	struct fg_error err = {0};
	int status = begin(w, &err);

	*spoiled = false;
	for (struct fg_request *rq = first; rq != end && status == FG_OK && !*spoiled;
	     rq = rq->next) {
		rq->write.err = (struct fg_error){0};
		rq->write.status = rq->write.task(w->store, rq->write.context, &rq->write.err);
		*spoiled = fg_store_batch_is_spoiled(w->store);
	}
	if (*spoiled)
		fg_store_batch_undo(w->store);
	else if (status == FG_OK)
		status = fg_store_batch_end(w->store, &err);
	for (struct fg_request *rq = first; rq != end && status != FG_OK; rq = rq->next) {
		rq->write.status = status;
		rq->write.err = err;
	}
	return status;
}

static void write_batch(struct fg_writer *w, struct fg_request *batch)
{
	bool spoiled = false;

	(void)write_together(w, batch, NULL, &spoiled);
	if (spoiled && batch->next) {
		struct fg_request *rq = batch;

		while (rq && write_together(w, rq, rq->next, &spoiled) == FG_OK)
			rq = rq->next;
		/* The database is gone, or its disk is full: nobody need try that again. */
		for (; rq && rq->next; rq = rq->next) {
			rq->next->write.status = rq->write.status;
			rq->next->write.err = rq->write.err;
		}
	}
	leave_broken_store(w);
	atomic_fetch_add(&w->server->counters.batches, 1);
}

/* Whoever is given back may be answered, and gone, at once. */
static size_t give_back(struct fg_writer *w, struct fg_request *batch)
{
	size_t count = 0;

	for (struct fg_request *rq = batch; rq; count++) {
		struct fg_request *next = rq->next;

		fg_workers_give(w->server->workers, rq);
		rq = next;
	}
	return count;
}

/*
 * While others are about to come, a few may wait for them a moment: a commit takes as much for one
 * as for all of them.
 */
static void gather(struct fg_writer *w)
{
	struct timespec until = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += GATHER_NS;
	if (until.tv_nsec >= FG_NS_PER_S) {
		until.tv_nsec -= FG_NS_PER_S;
		until.tv_sec++;
	}
	while (w->pending < GATHER_COUNT && !w->stopping &&
	       fg_workers_have_uploads(w->server->workers) &&
	       pthread_cond_timedwait(&w->filled, &w->lock, &until) == 0)
		;
}

static void *work(void *context)
{
	struct fg_writer *w = context;

	(void)pthread_mutex_lock(&w->lock);
	for (;;) {
		struct fg_request *batch = NULL;
		struct fg_request **end = &batch;
		size_t written = 0;

		while (!w->first && !w->stopping)
			(void)pthread_cond_wait(&w->filled, &w->lock);
		if (!w->first)
			break;
		gather(w);
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
		written = give_back(w, batch);
		(void)pthread_mutex_lock(&w->lock);
		w->pending -= written;
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

int fg_writer_start(struct fg_server *server, struct fg_writer **writer, struct fg_error *err)
{
	struct fg_writer *w = fg_xcalloc(1, sizeof(*w));

	w->server = server;
	w->last = &w->first;
	(void)pthread_mutex_init(&w->lock, NULL);
	fg_init_wake(&w->filled);
	*writer = w;
	if (open_store(w, err) != FG_OK)
		return err ? (int)err->code : FG_EDB;
	w->running = pthread_create(&w->thread, NULL, work, w) == 0;
	return w->running ? FG_OK : fg_error_set(err, FG_EIO, "cannot start the writing thread");
}

void fg_writer_stop(struct fg_writer *w)
{
	if (!w)
		return;
	fg_tell_to_stop(&w->lock, &w->filled, &w->stopping);
	if (w->running)
		(void)pthread_join(w->thread, NULL);
	fg_store_close(w->store);
	(void)pthread_mutex_destroy(&w->lock);
	(void)pthread_cond_destroy(&w->filled);
	free(w);
}

void fg_writer_give(struct fg_writer *writer, struct fg_request *rq)
{
	(void)pthread_mutex_lock(&writer->lock);
	rq->next = NULL;
	*writer->last = rq;
	writer->last = &rq->next;
	writer->pending++;
	(void)pthread_cond_signal(&writer->filled);
	(void)pthread_mutex_unlock(&writer->lock);
}

size_t fg_writer_pending(struct fg_writer *writer)
{
	size_t pending = 0;

	(void)pthread_mutex_lock(&writer->lock);
	pending = writer->pending;
	(void)pthread_mutex_unlock(&writer->lock);
	return pending;
}
