/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that write to the database: several writes in one transaction when several wait.
 * They know writes, not requests.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_WRITE_QUEUE_H
#define FG_PERFDB_SERVER_WRITE_QUEUE_H

#include "perfdb/server/sessions.h"

struct fg_ids;
struct fg_write_queue;

/* Runs in a writing thread; called again if what the first call wrote was rolled back. */
typedef int fg_write_task(struct fg_store *store, void *context, struct fg_error *err);

struct fg_write {
	fg_write_task *task;
	void *context;
	bool adds_names; /* mostly rows that other writers may add, too */
	/*
	 * A run that it stores, and its project.  What is known of both is asked for all writes of
	 * a batch at once, before the first task; run is NULL: nothing is asked.
	 */
	const char *run;
	const char *project;
	int64_t known;   /* enum fg_upload_known */
	bool is_between; /* names alone, of which nobody is told: committed is enough */
	/* Called once it is on the disk, or has failed; the write may be gone when it returns. */
	void (*done)(struct fg_write *write);
	int status;
	struct fg_error err;
	struct fg_write *next;
};

struct fg_write_queue_options {
	struct fg_sessions *sessions;
	struct fg_ids *ids; /* of functions and call paths, shared by all sessions */
	/* Is more about to come?  Then a few writes wait a moment to share their commit. */
	bool (*expects_more)(void *context);
	void *context;
};

/* *queue is set also on failure. */
int fg_write_queue_start(const struct fg_write_queue_options *options,
			 struct fg_write_queue **queue, struct fg_error *err) FG_NODISCARD;
/* Writes what waits, then ends.  NULL is fine. */
void fg_write_queue_stop(struct fg_write_queue *queue);
void fg_write_queue_give(struct fg_write_queue *queue, struct fg_write *write);
/* Writes that wait or are being done. */
size_t fg_write_queue_pending(struct fg_write_queue *queue);
/* Transactions so far. */
unsigned long long fg_write_queue_batches(const struct fg_write_queue *queue);

#endif
