// SPDX-License-Identifier: Apache-2.0
/*
 * SQLite has one writer, and on PostgreSQL uploads of new code mostly wait for names that another
 * transaction is adding. So one locked session that knows the names of earlier runs is as fast as
 * several sessions.
 */
#include "perfdb/server/writer.h"

#include "base/clock.h"
#include "store/store.h"
#include "store/transaction.h"

#include <pthread.h>

enum {
	TRIES = 3,
	AGAIN_WITHIN_NS = 2000000000, /* a slower attempt has waited for a lock: no retry */
};

struct fg_writer {
	struct fg_sessions *sessions;
	struct fg_store *store; /* NULL until it is opened */
	pthread_mutex_t lock;
};

struct fg_writer *fg_writer_new(struct fg_sessions *sessions)
{
	struct fg_writer *writer = fg_xcalloc(1, sizeof(*writer));

	writer->sessions = sessions;
	(void)pthread_mutex_init(&writer->lock, NULL);
	return writer;
}

void fg_writer_free(struct fg_writer *writer)
{
	if (!writer)
		return;
	fg_store_close(writer->store);
	(void)pthread_mutex_destroy(&writer->lock);
	free(writer);
}

static void close_if_broken(struct fg_writer *writer)
{
	if (!writer->store || !fg_store_is_broken(writer->store))
		return;
	fg_store_close(writer->store);
	writer->store = NULL;
}

static int begin(struct fg_writer *writer, struct fg_error *err)
{
	close_if_broken(writer);
	if (!writer->store)
		writer->store = fg_sessions_borrow(writer->sessions, err);
	return writer->store ? fg_store_batch_begin(writer->store, err) : (int)err->code;
}

static int write_once(struct fg_writer *writer, fg_write_task *task, void *context,
		      struct fg_error *err)
{
	int status = FG_OK;

	FG_TRY(begin(writer, err));
	status = task(writer->store, context, err);
	if (status == FG_OK)
		return fg_store_batch_end(writer->store, err);
	fg_store_batch_undo(writer->store);
	return status;
}

int fg_writer_do(struct fg_writer *writer, fg_write_task *task, void *context, struct fg_error *err)
{
	const int64_t start_ns = fg_clock_monotonic_ns();
	int status = FG_EBUSY;

	(void)pthread_mutex_lock(&writer->lock);
	for (int tries = 0; tries < TRIES && status == FG_EBUSY; tries++) {
		struct fg_error reason = {0};

		status = write_once(writer, task, context, &reason);
		*err = reason;
		if (fg_clock_monotonic_ns() - start_ns > AGAIN_WITHIN_NS)
			break;
	}
	close_if_broken(writer);
	(void)pthread_mutex_unlock(&writer->lock);
	return status;
}
