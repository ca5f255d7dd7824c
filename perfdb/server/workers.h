/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that answer requests. They know jobs, not requests: the submitter of a job says what
 * to do with it. Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_WORKERS_H
#define FG_PERFDB_SERVER_WORKERS_H

#include "base/base.h"
#include "base/error.h"

/* In the order in which they are taken. */
enum fg_job_kind {
	FG_JOB_WRITTEN, /* an upload that goes on after a write */
	FG_JOB_QUESTION,
	FG_JOB_UPLOAD,
	FG_JOB_KINDS,
};

struct fg_job {
	struct fg_job *next;
	enum fg_job_kind kind;
	/*
	 * True: the request is answered, and the job may already be gone.  False: it waits for the
	 * writer, and is given again as FG_JOB_WRITTEN.
	 */
	bool (*run)(struct fg_job *job);
	void (*refuse)(struct fg_job *job); /* instead of run(): answers at once */
};

struct fg_workers;

int fg_workers_start(unsigned threads, struct fg_workers **workers, struct fg_error *err)
	FG_NODISCARD;
/*
 * Answers what waits, here and at the writer, and gives clients some seconds to read it.  NULL is
 * fine.
 */
void fg_workers_stop(struct fg_workers *workers);
void fg_workers_free(struct fg_workers *workers);
/*
 * Announces a job; false when the workers are stopping.  After true: suspend the connection, give
 * the job, and call fg_workers_let_go() when its answer was read.
 */
bool fg_workers_hold(struct fg_workers *workers) FG_NODISCARD;
void fg_workers_give(struct fg_workers *workers, struct fg_job *job);
void fg_workers_let_go(struct fg_workers *workers);
/* Refuses the jobs that wait to be begun. */
void fg_workers_refuse_waiting(struct fg_workers *workers);
/* Is an upload under way that may soon have something to write? */
bool fg_workers_have_uploads(struct fg_workers *workers);

#endif
