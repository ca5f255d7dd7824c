/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of sampler.c and sampled.c: threads with their samples, and the trace that they make. */
#ifndef FG_OUTSIDE_SAMPLED_H
#define FG_OUTSIDE_SAMPLED_H

#include "profile/attach/sample_weight.h"
#include "profile/attach/sampler.h"
#include "profile/attach/threads.h"
#include "profile/attach/waiting_place.h"
#include "trace/trace_writer.h"

struct fg_sampled_thread {
	pid_t tid;
	int account_fd; /* /proc/PID/task/TID/schedstat */
	int state_fd;   /* its stat file */
	int blocked_fd; /* its syscall file, for elapsed time; or -1 */
	char name[32];
	bool seen; /* when the threads were listed last */
	bool over;
	bool held;          /* it was asked to stop and has not done so yet */
	bool is_due;        /* we are about to go to its CPU */
	bool runs;          /* at the last look: on a CPU or queueing for one */
	int cpu;            /* its last CPU; -1: unknown */
	int64_t put_off_ns; /* time that it queued behind us before it could stop */
	struct fg_moment moment;
	int64_t since_ns;
	uint64_t started_ns; /* its CPU time when it was first seen */
	uint64_t weighed_ns; /* the part of it that samples have */
	uint64_t used_ns;    /* at the last reading */
	int64_t until_ns;    /* elapsed time that samples have */
	struct fg_waiting_place waiting_place;
	struct fg_sampled *samples;
	size_t sample_count, sample_capacity;
};

/* False: it has ended already. */
bool fg_sampled_thread_open(struct fg_sampled_thread *thread,
			    const struct fg_outside_sampling *sampling, pid_t tid);
/* Keeps the samples. */
void fg_sampled_thread_close(struct fg_sampled_thread *thread);
bool fg_sampled_thread_account(struct fg_sampled_thread *thread, struct fg_cpu_account *account);
/* Gets its state and its place; false: it has ended. */
bool fg_sampled_thread_look(struct fg_sampled_thread *thread);
/* The place where the thread waits; false if it runs, or if that is unknown. */
bool fg_sampled_thread_waits(const struct fg_sampled_thread *thread, struct fg_blocked *blocked);

/*
 * The parts of a trace: its head first, the threads after the paths, the file last.  A thread's
 * samples are levelled before they are written.
 */
/* False: it is not known which program the process runs. */
bool fg_sampled_trace_begin(struct fg_trace_writer *writer,
			    const struct fg_outside_sampling *sampling, int64_t started_ns);
void fg_sampled_trace_thread(struct fg_trace_writer *writer,
			     const struct fg_outside_sampling *sampling,
			     struct fg_sampled_thread *thread, uint64_t id);
int fg_sampled_trace_write(struct fg_trace_writer *writer, const char *folder, struct fg_error *err)
	FG_NODISCARD;

#endif
