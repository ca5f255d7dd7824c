/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that answer requests. Each job has the function to run, so the threads know nothing
 * about its work. Private to perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_WORKERS_H
#define FG_PERFDB_SERVER_WORKERS_H

#include "base/base.h"
#include "base/error.h"

/* The kinds of jobs, highest priority first. */
enum fg_job_kind {
	FG_JOB_QUESTION,
	FG_JOB_PROOF, /* checks a token */
	FG_JOB_UPLOAD,
	FG_JOB_NOTE, /* a write that no client waits for */
	FG_JOB_KINDS,
};

struct fg_job {
	struct fg_job *next;
	enum fg_job_kind kind;
	void (*run)(struct fg_job *job);    /* answers; afterwards the job may have been freed */
	void (*refuse)(struct fg_job *job); /* called instead of run(), answers immediately */
};

struct fg_workers;

int fg_workers_start(unsigned threads, struct fg_workers **workers, struct fg_error *err)
	FG_NODISCARD;
/*
 * Answers waiting jobs, drops notes, and gives clients a few seconds to read their answers. NULL is
 * fine.
 */
void fg_workers_stop(struct fg_workers *workers);
void fg_workers_free(struct fg_workers *workers);
/*
 * Announces a job. If this returns true, suspend the connection, give the job, and call
 * fg_workers_release() after its answer was read. False if the workers are stopping.
 */
bool fg_workers_hold(struct fg_workers *workers) FG_NODISCARD;
/* Refuses the job immediately if the workers have begun to stop since the job was announced. */
void fg_workers_give(struct fg_workers *workers, struct fg_job *job);
void fg_workers_release(struct fg_workers *workers);
/* Returns the number of jobs that were announced but not released yet. */
size_t fg_workers_count(struct fg_workers *workers);
/* Refuses the jobs that have not begun. */
void fg_workers_refuse_waiting(struct fg_workers *workers);

#endif
