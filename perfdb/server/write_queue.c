// SPDX-License-Identifier: Apache-2.0
/*
 * SQLite has room for one writer, and a transaction that reaches the disk costs the same whether it
 * holds one run or twenty.  So writes queue here, prepared by the thread that received the upload,
 * and one thread commits all that wait at once.  If one of them fails half-way, or another server
 * was in the way, which is rare, the whole batch is rolled back and each write is done again by
 * itself: savepoints would copy every page that changes, always.
 *
 * In a batch, what adds names comes last, after the rows of all others: it keeps other servers from
 * adding theirs until the commit.
 *
 * No thread waits for a write: the request goes on in a worker after the commit.  What was
 * confirmed is on the disk.
 */
#include "perfdb/server/write_queue.h"

#include "base/clock.h"
#include "perfdb/server/threads.h"
#include "store/serving/batch.h"
#include "store/serving/ids.h"
#include "store/store.h"

#include <stdatomic.h>

enum {
	BATCH_MAX = 64,
	GATHER_COUNT = 8, /* from here on the commit adds little to each write */
	GATHER_NS = 3000000,
	AGAIN_WITHIN_NS = 2000000000,
	ALONE_TRIES = 3
};

struct fg_write_queue {
	struct fg_write_queue_options options;
	struct fg_store *store;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct fg_write *first;
	struct fg_write **last;
	size_t pending;
	atomic_ullong batches;
	bool stopping;
	bool running;
};

static int open_store(struct fg_write_queue *q, struct fg_error *err)
{
	q->store = fg_sessions_borrow(q->options.sessions, err);
	if (!q->store)
		return (int)err->code;
	fg_store_share_ids(q->store, q->options.ids);
	return FG_OK;
}

/* The next batch gets another session. */
static void drop_broken_store(struct fg_write_queue *q)
{
	if (!q->store || !fg_store_is_broken(q->store))
		return;
	fg_store_close(q->store);
	q->store = NULL;
}

static int begin(struct fg_write_queue *q, struct fg_error *err)
{
	drop_broken_store(q);
	if (!q->store && open_store(q, err) != FG_OK)
		return (int)err->code;
	return fg_store_batch_begin(q->store, err);
}

/* Those that add names, or the others; false: one failed half-way. */
static bool do_writes(struct fg_write_queue *q, struct fg_write *first, const struct fg_write *end,
		      bool adds_names)
{
	for (struct fg_write *w = first; w != end; w = w->next) {
		if (w->adds_names != adds_names)
			continue;
		w->err = (struct fg_error){0};
		w->status = w->task(q->store, w->context, &w->err);
		if (fg_store_batch_is_spoiled(q->store))
			return false;
	}
	return true;
}

static void give_status(struct fg_write *first, const struct fg_write *end, int status,
			const struct fg_error *err)
{
	for (struct fg_write *w = first; w != end; w = w->next) {
		w->status = status;
		w->err = *err;
	}
}

static bool adds_names(const struct fg_write *first, const struct fg_write *end)
{
	for (const struct fg_write *w = first; w != end; w = w->next) {
		if (w->adds_names)
			return true;
	}
	return false;
}

static int do_all(struct fg_write_queue *q, struct fg_write *first, const struct fg_write *end,
		  bool *spoiled, struct fg_error *err)
{
	int status = FG_OK;

	*spoiled = !do_writes(q, first, end, false);
	if (!*spoiled && adds_names(first, end)) {
		status = fg_store_batch_write(q->store, err);
		*spoiled = status != FG_OK || !do_writes(q, first, end, true);
	}
	if (!*spoiled)
		status = fg_store_batch_write(q->store, err);
	*spoiled = *spoiled || status != FG_OK;
	return status;
}

/*
 * Writes from `first` up to `end` in one transaction, and sets the status of each.  `spoiled`: one
 * failed half-way, and none of them is stored.
 */
static int write_together(struct fg_write_queue *q, struct fg_write *first,
			  const struct fg_write *end, bool *spoiled)
{
	struct fg_error err = {0};
	int status = begin(q, &err);

	*spoiled = false;
	if (status != FG_OK)
		goto out;
	if (do_all(q, first, end, spoiled, &err) != FG_OK)
		give_status(first, end, (int)err.code, &err);
	if (*spoiled)
		fg_store_batch_undo(q->store);
	else
		status = fg_store_batch_end(q->store, &err);
out:
	if (status != FG_OK)
		give_status(first, end, status, &err);
	return status;
}

/* Another server may be about to store the same run: after it, this one is known. */
static int write_alone(struct fg_write_queue *q, struct fg_write *w)
{
	const int64_t until_ns = fg_clock_monotonic_ns() + AGAIN_WITHIN_NS;
	bool spoiled = false;
	int status = FG_OK;

	for (int tries = 0; tries < ALONE_TRIES; tries++) {
		status = write_together(q, w, w->next, &spoiled);
		if (w->status != FG_EBUSY || fg_clock_monotonic_ns() >= until_ns)
			break;
	}
	return status;
}

static void write_batch(struct fg_write_queue *q, struct fg_write *batch)
{
	const int64_t start_ns = fg_clock_monotonic_ns();
	bool spoiled = false;
	const int status = write_together(q, batch, NULL, &spoiled);
	/* Another server added the same; a wait for a lock would have taken longer. */
	const bool was_in_the_way = (status == FG_EBUSY || batch->status == FG_EBUSY) &&
				    fg_clock_monotonic_ns() - start_ns < AGAIN_WITHIN_NS;

	if ((spoiled && batch->next) || was_in_the_way) {
		struct fg_write *w = batch;

		while (w && write_alone(q, w) == FG_OK)
			w = w->next;
		/* The database is gone, or its disk is full: trying the rest would not help. */
		for (; w && w->next; w = w->next) {
			w->next->status = w->status;
			w->next->err = w->err;
		}
	}
	drop_broken_store(q);
	atomic_fetch_add(&q->batches, 1);
}

static size_t report(struct fg_write *batch)
{
	size_t count = 0;

	for (struct fg_write *w = batch; w; count++) {
		struct fg_write *next = w->next;

		w->done(w); /* from here on it may be gone */
		w = next;
	}
	return count;
}

/* While more is about to come, a few writes wait a moment: a commit costs one as much as all. */
static void gather(struct fg_write_queue *q)
{
	const int64_t until_ns = fg_clock_monotonic_ns() + GATHER_NS;
	int64_t left_ns = GATHER_NS;

	while (q->pending < GATHER_COUNT && !q->stopping && left_ns > 0 &&
	       q->options.expects_more(q->options.context) &&
	       fg_wake_wait(&q->filled, &q->lock, left_ns))
		left_ns = until_ns - fg_clock_monotonic_ns();
}

static struct fg_write *take_batch(struct fg_write_queue *q)
{
	struct fg_write *batch = NULL;
	struct fg_write **end = &batch;

	for (int i = 0; i < BATCH_MAX && q->first; i++) {
		*end = q->first;
		end = &q->first->next;
		q->first = q->first->next;
	}
	*end = NULL;
	if (!q->first)
		q->last = &q->first;
	return batch;
}

static void *work(void *context)
{
	struct fg_write_queue *q = context;

	fg_thread_name("writer");
	(void)pthread_mutex_lock(&q->lock);
	for (;;) {
		struct fg_write *batch = NULL;
		size_t written = 0;

		while (!q->first && !q->stopping)
			(void)pthread_cond_wait(&q->filled, &q->lock);
		if (!q->first)
			break;
		gather(q);
		batch = take_batch(q);
		(void)pthread_mutex_unlock(&q->lock);
		write_batch(q, batch);
		written = report(batch);
		(void)pthread_mutex_lock(&q->lock);
		q->pending -= written;
	}
	(void)pthread_mutex_unlock(&q->lock);
	return NULL;
}

int fg_write_queue_start(const struct fg_write_queue_options *options,
			 struct fg_write_queue **queue, struct fg_error *err)
{
	struct fg_write_queue *q = fg_xcalloc(1, sizeof(*q));
	struct fg_error reason = {0};

	q->options = *options;
	q->last = &q->first;
	(void)pthread_mutex_init(&q->lock, NULL);
	fg_wake_init(&q->filled);
	*queue = q;
	if (open_store(q, &reason) != FG_OK)
		return fg_error_set(err, reason.code, "%s", reason.message);
	q->running = pthread_create(&q->thread, NULL, work, q) == 0;
	return q->running ? FG_OK : fg_error_set(err, FG_EIO, "cannot start the writing thread");
}

void fg_write_queue_stop(struct fg_write_queue *q)
{
	if (!q)
		return;
	fg_wake_to_stop(&q->lock, &q->filled, &q->stopping);
	if (q->running)
		(void)pthread_join(q->thread, NULL);
	fg_store_close(q->store);
	(void)pthread_mutex_destroy(&q->lock);
	(void)pthread_cond_destroy(&q->filled);
	free(q);
}

void fg_write_queue_give(struct fg_write_queue *q, struct fg_write *write)
{
	(void)pthread_mutex_lock(&q->lock);
	write->next = NULL;
	*q->last = write;
	q->last = &write->next;
	q->pending++;
	(void)pthread_cond_signal(&q->filled);
	(void)pthread_mutex_unlock(&q->lock);
}

size_t fg_write_queue_pending(struct fg_write_queue *q)
{
	size_t pending = 0;

	(void)pthread_mutex_lock(&q->lock);
	pending = q->pending;
	(void)pthread_mutex_unlock(&q->lock);
	return pending;
}

unsigned long long fg_write_queue_batches(const struct fg_write_queue *q)
{
	return atomic_load(&q->batches);
}
