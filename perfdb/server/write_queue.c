// SPDX-License-Identifier: Apache-2.0
/*
 * A transaction that reaches the disk costs the same whether it holds one run or twenty.  So writes
 * queue here, prepared by the thread that received the upload, and one thread commits all that wait
 * at once.  If one of them fails half-way, or another server was in the way, which is rare, the
 * whole batch is rolled back and each write is done again by itself: savepoints would copy every
 * page that changes, always.
 *
 * What adds names keeps other sessions from adding theirs until the commit, so it comes last in a
 * batch.  A database with room for several writers (PostgreSQL) gets a second thread for names that
 * come before a run: runs that bring none do not wait for them, and what holds the lock on names
 * never waits for a run that another thread is writing.
 *
 * Where a commit can be made before it reaches the disk (SQLite), the writing thread goes on with
 * the next batch, and another one waits for the disk: once for all batches that are committed by
 * then.
 *
 * No other thread waits for a write: the request goes on in a worker after that.  What was
 * confirmed is on the disk.
 */
#include "perfdb/server/write_queue.h"

#include "base/clock.h"
#include "perfdb/server/threads.h"
#include "perfdb/server/trimmer.h"
#include "store/serving/batch.h"
#include "store/serving/ids.h"
#include "store/serving/uploads.h"
#include "store/store.h"

#include <stdatomic.h>

enum {
	LANES = 2, /* the last one is for what comes between */
	BATCH_MAX = 64,
	GATHER_COUNT = 8, /* from here on the commit adds little to each write */
	GATHER_NS = 10000000,
	AGAIN_WITHIN_NS = 2000000000,
	ALONE_TRIES = 3
};

struct list {
	struct fg_write *first;
	struct fg_write **last;
};

/* A thread that writes, with a session of its own. */
struct lane {
	struct fg_write_queue *queue;
	struct fg_store *store;
	pthread_t thread;
	pthread_cond_t filled;
	struct list waiting;
	size_t waiting_count;
	bool running;
};

/* A thread that waits for the disk. */
struct settler {
	struct fg_store *store; /* NULL: a commit does that itself */
	pthread_t thread;
	pthread_cond_t filled;
	struct list committed;
	bool running;
	bool has_failed; /* nobody knows what of the file is on the disk */
};

struct fg_write_queue {
	struct fg_write_queue_options options;
	pthread_mutex_t lock;
	struct lane lanes[LANES];
	size_t lane_count;
	struct settler settler;
	struct fg_trimmer *trimmer; /* NULL: not needed */
	size_t pending;
	atomic_ullong batches;
	bool stopping;
};

static void list_init(struct list *list)
{
	list->first = NULL;
	list->last = &list->first;
}

static void list_add(struct list *list, struct fg_write *write)
{
	write->next = NULL;
	*list->last = write;
	list->last = &write->next;
}

/* Up to `most` of them, from the first on. */
static struct fg_write *list_take(struct list *list, size_t most, size_t *count)
{
	struct fg_write *taken = list->first;
	struct fg_write **end = &list->first;

	for (*count = 0; *count < most && *end; (*count)++)
		end = &(*end)->next;
	if (*count == 0)
		return NULL;
	list->first = *end;
	*end = NULL;
	if (!list->first)
		list->last = &list->first;
	return taken;
}

static int open_store(struct lane *lane, struct fg_error *err)
{
	struct fg_write_queue *q = lane->queue;

	lane->store = fg_sessions_borrow(q->options.sessions, err);
	if (!lane->store)
		return (int)err->code;
	fg_store_share_ids(lane->store, q->options.ids);
	return q->settler.store ? fg_store_defer(lane->store, err) : FG_OK;
}

/* The next batch gets another session. */
static void drop_broken_store(struct lane *lane)
{
	if (!lane->store || !fg_store_is_broken(lane->store))
		return;
	fg_store_close(lane->store);
	lane->store = NULL;
}

static int begin(struct lane *lane, struct fg_error *err)
{
	drop_broken_store(lane);
	if (!lane->store && open_store(lane, err) != FG_OK)
		return (int)err->code;
	return fg_store_batch_begin(lane->store, err);
}

/* Those that add names, or the others; false: one failed half-way. */
static bool do_writes(struct fg_store *store, struct fg_write *first, const struct fg_write *end,
		      bool adds_names)
{
	for (struct fg_write *w = first; w != end; w = w->next) {
		if (w->adds_names != adds_names)
			continue;
		w->err = (struct fg_error){0};
		w->status = w->task(store, w->context, &w->err);
		if (fg_store_batch_is_spoiled(store))
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

/* What is known of the runs that these store. */
static int look(struct fg_store *store, struct fg_write *first, const struct fg_write *end,
		struct fg_error *err)
{
	struct fg_write *writes[BATCH_MAX];
	const char *runs[BATCH_MAX];
	const char *projects[BATCH_MAX];
	int64_t known[BATCH_MAX] = {0};
	size_t count = 0;
	int status = FG_OK;

	for (struct fg_write *w = first; w != end; w = w->next) {
		if (!w->run)
			continue;
		writes[count] = w;
		runs[count] = w->run;
		projects[count++] = w->project;
	}
	if (count)
		status = fg_store_upload_expect(store, runs, projects, count, known, err);
	for (size_t i = 0; i < count && status == FG_OK; i++)
		writes[i]->known = known[i];
	return status;
}

static int do_all(struct fg_store *store, struct fg_write *first, const struct fg_write *end,
		  bool *spoiled, struct fg_error *err)
{
	int status = look(store, first, end, err);

	*spoiled = status != FG_OK;
	if (*spoiled)
		return status;
	*spoiled = !do_writes(store, first, end, false);
	if (!*spoiled && adds_names(first, end)) {
		status = fg_store_batch_write(store, err);
		*spoiled = status != FG_OK || !do_writes(store, first, end, true);
	}
	if (!*spoiled)
		status = fg_store_batch_write(store, err);
	*spoiled = *spoiled || status != FG_OK;
	return status;
}

/*
 * Writes from `first` up to `end` in one transaction, and sets the status of each.  `spoiled`: one
 * failed half-way, and none of them is stored.
 */
static int write_together(struct lane *lane, struct fg_write *first, const struct fg_write *end,
			  bool *spoiled)
{
	struct fg_error err = {0};
	int status = begin(lane, &err);

	*spoiled = false;
	if (status != FG_OK)
		goto out;
	if (do_all(lane->store, first, end, spoiled, &err) != FG_OK)
		give_status(first, end, (int)err.code, &err);
	if (*spoiled)
		fg_store_batch_undo(lane->store);
	else
		status = fg_store_batch_end(lane->store, &err);
out:
	if (status != FG_OK)
		give_status(first, end, status, &err);
	return status;
}

/* Another server may be about to store the same run: after it, this one is known. */
static int write_alone(struct lane *lane, struct fg_write *w)
{
	const int64_t until_ns = fg_clock_monotonic_ns() + AGAIN_WITHIN_NS;
	bool spoiled = false;
	int status = FG_OK;

	for (int tries = 0; tries < ALONE_TRIES; tries++) {
		status = write_together(lane, w, w->next, &spoiled);
		if (w->status != FG_EBUSY || fg_clock_monotonic_ns() >= until_ns)
			break;
	}
	return status;
}

static void write_batch(struct lane *lane, struct fg_write *batch)
{
	const int64_t start_ns = fg_clock_monotonic_ns();
	bool spoiled = false;
	const int status = write_together(lane, batch, NULL, &spoiled);
	/* Another server added the same; a wait for a lock would have taken longer. */
	const bool was_in_the_way = (status == FG_EBUSY || batch->status == FG_EBUSY) &&
				    fg_clock_monotonic_ns() - start_ns < AGAIN_WITHIN_NS;

	if ((spoiled && batch->next) || was_in_the_way) {
		struct fg_write *w = batch;

		while (w && write_alone(lane, w) == FG_OK)
			w = w->next;
		/* The database is gone, or its disk is full: trying the rest would not help. */
		for (; w && w->next; w = w->next) {
			w->next->status = w->status;
			w->next->err = w->err;
		}
	}
	drop_broken_store(lane);
	atomic_fetch_add(&lane->queue->batches, 1);
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

/* Call with the lock held; it is given up meanwhile. */
static void report_unlocked(struct fg_write_queue *q, struct fg_write *batch)
{
	size_t count = 0;

	(void)pthread_mutex_unlock(&q->lock);
	count = report(batch);
	(void)pthread_mutex_lock(&q->lock);
	q->pending -= count;
}

/* While more is about to come, a few writes wait a moment: a commit costs one as much as all. */
static void gather(struct lane *lane)
{
	struct fg_write_queue *q = lane->queue;
	const int64_t until_ns = fg_clock_monotonic_ns() + GATHER_NS;
	int64_t left_ns = GATHER_NS;

	while (lane->waiting_count < GATHER_COUNT && !q->stopping && left_ns > 0 &&
	       q->options.expects_more(q->options.context) &&
	       fg_wake_wait(&lane->filled, &q->lock, left_ns))
		left_ns = until_ns - fg_clock_monotonic_ns();
}

static void refuse(struct fg_write *batch)
{
	struct fg_error err = {0};

	(void)fg_error_set(&err, FG_EIO,
			   "the disk failed to keep what was written: start the server again");
	give_status(batch, NULL, FG_EIO, &err);
}

/* What was committed goes to the thread that waits for the disk; what need not wait is returned. */
static struct fg_write *settle(struct settler *settler, struct fg_write *batch)
{
	struct list between;

	list_init(&between);
	while (batch) {
		struct fg_write *next = batch->next;

		list_add(batch->is_between ? &between : &settler->committed, batch);
		batch = next;
	}
	if (settler->committed.first)
		(void)pthread_cond_signal(&settler->filled);
	return between.first;
}

static void *write_all(void *context)
{
	struct lane *lane = context;
	struct fg_write_queue *q = lane->queue;

	fg_thread_name(lane == q->lanes ? "writer" : "writer of names");
	(void)pthread_mutex_lock(&q->lock);
	for (;;) {
		struct fg_write *batch = NULL;
		size_t count = 0;
		bool is_lost = false;

		while (!lane->waiting.first && !q->stopping)
			(void)pthread_cond_wait(&lane->filled, &q->lock);
		if (!lane->waiting.first)
			break;
		gather(lane);
		batch = list_take(&lane->waiting, BATCH_MAX, &count);
		lane->waiting_count -= count;
		is_lost = q->settler.has_failed;
		(void)pthread_mutex_unlock(&q->lock);
		if (is_lost)
			refuse(batch);
		else
			write_batch(lane, batch);
		(void)pthread_mutex_lock(&q->lock);
		if (q->settler.store)
			batch = settle(&q->settler, batch);
		report_unlocked(q, batch);
		(void)pthread_mutex_unlock(&q->lock);
		fg_trimmer_look(q->trimmer, lane->store);
		(void)pthread_mutex_lock(&q->lock);
	}
	(void)pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* False: what these wrote may not be on the disk, whatever they were told. */
static bool reach_the_disk(struct fg_store *store, struct fg_write *batch)
{
	struct fg_error err = {0};
	const int status = fg_store_sync(store, &err);

	if (status == FG_OK)
		return true;
	for (struct fg_write *w = batch; w; w = w->next) {
		if (w->status == FG_OK)
			give_status(w, w->next, status, &err);
	}
	return false;
}

static void *settle_all(void *context)
{
	struct fg_write_queue *q = context;
	struct settler *s = &q->settler;

	fg_thread_name("settler");
	(void)pthread_mutex_lock(&q->lock);
	for (;;) {
		struct fg_write *batch = NULL;
		size_t count = 0;
		bool is_kept = false;

		while (!s->committed.first && !(q->stopping && q->pending == 0))
			(void)pthread_cond_wait(&s->filled, &q->lock);
		batch = list_take(&s->committed, SIZE_MAX, &count);
		if (!batch)
			break;
		(void)pthread_mutex_unlock(&q->lock);
		is_kept = reach_the_disk(s->store, batch);
		(void)pthread_mutex_lock(&q->lock);
		s->has_failed = s->has_failed || !is_kept;
		report_unlocked(q, batch);
	}
	(void)pthread_mutex_unlock(&q->lock);
	return NULL;
}

static int cannot_start(struct fg_error *err)
{
	return fg_error_set(err, FG_EIO, "cannot start the writing thread");
}

static int start_settler(struct fg_write_queue *q, struct fg_store *store, struct fg_error *err)
{
	struct settler *s = &q->settler;

	list_init(&s->committed);
	s->store = store;
	s->running = pthread_create(&s->thread, NULL, settle_all, q) == 0;
	return s->running ? FG_OK : cannot_start(err);
}

static int start_lane(struct fg_write_queue *q, struct fg_error *err)
{
	struct lane *lane = &q->lanes[q->lane_count];
	struct fg_error reason = {0};

	lane->queue = q;
	list_init(&lane->waiting);
	if (open_store(lane, &reason) != FG_OK)
		return fg_error_set(err, reason.code, "%s", reason.message);
	q->lane_count++;
	lane->running = pthread_create(&lane->thread, NULL, write_all, lane) == 0;
	return lane->running ? FG_OK : cannot_start(err);
}

/* One lane and a settler, or several lanes: as the database allows. */
static int start(struct fg_write_queue *q, struct fg_error *err)
{
	struct fg_error reason = {0};
	struct fg_store *store = fg_sessions_borrow(q->options.sessions, &reason);
	size_t lanes = 1;
	int status = FG_OK;

	if (!store)
		return fg_error_set(err, reason.code, "%s", reason.message);
	if (fg_store_can_defer(store)) {
		status = start_settler(q, store, err);
		if (status == FG_OK)
			status = fg_trimmer_start(q->options.sessions, &q->trimmer, err);
		return status == FG_OK ? start_lane(q, err) : status;
	}
	if (fg_store_takes_writers(store))
		lanes = LANES;
	fg_sessions_give_back(q->options.sessions, store);
	for (size_t i = 0; i < lanes && status == FG_OK; i++)
		status = start_lane(q, err);
	return status;
}

int fg_write_queue_start(const struct fg_write_queue_options *options,
			 struct fg_write_queue **queue, struct fg_error *err)
{
	struct fg_write_queue *q = fg_xcalloc(1, sizeof(*q));

	q->options = *options;
	(void)pthread_mutex_init(&q->lock, NULL);
	for (size_t i = 0; i < LANES; i++)
		fg_wake_init(&q->lanes[i].filled);
	fg_wake_init(&q->settler.filled);
	*queue = q;
	return start(q, err);
}

void fg_write_queue_stop(struct fg_write_queue *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < q->lane_count; i++)
		fg_wake_to_stop(&q->lock, &q->lanes[i].filled, &q->stopping);
	for (size_t i = 0; i < LANES; i++) {
		if (q->lanes[i].running)
			(void)pthread_join(q->lanes[i].thread, NULL);
		fg_store_close(q->lanes[i].store);
		(void)pthread_cond_destroy(&q->lanes[i].filled);
	}
	fg_trimmer_stop(q->trimmer);
	fg_wake_to_stop(&q->lock, &q->settler.filled, &q->stopping);
	if (q->settler.running)
		(void)pthread_join(q->settler.thread, NULL);
	fg_store_close(q->settler.store);
	(void)pthread_cond_destroy(&q->settler.filled);
	(void)pthread_mutex_destroy(&q->lock);
	free(q);
}

void fg_write_queue_give(struct fg_write_queue *q, struct fg_write *write)
{
	struct lane *lane = &q->lanes[write->is_between ? q->lane_count - 1 : 0];

	(void)pthread_mutex_lock(&q->lock);
	list_add(&lane->waiting, write);
	lane->waiting_count++;
	q->pending++;
	(void)pthread_cond_signal(&lane->filled);
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
