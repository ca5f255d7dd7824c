/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files of the sampler: threads with their samples, and the trace made of them. */
#ifndef FG_ATTACH_SAMPLED_H
#define FG_ATTACH_SAMPLED_H

#include "profile/attach/sample_weight.h"
#include "profile/attach/sampler.h"
#include "profile/attach/threads.h"
#include "profile/attach/waiting_place.h"
#include "trace/trace_writer.h"

struct fg_sampled_thread {
	pid_t tid;
	int account_fd; /* /proc/PID/task/TID/schedstat */
	int state_fd;   /* /proc/PID/task/TID/stat */
	int blocked_fd; /* /proc/PID/task/TID/syscall, for elapsed time; or -1 */
	char name[32];
	bool seen; /* in the last list of threads */
	bool over;
	bool held;          /* asked to stop, and neither released nor gone yet */
	bool is_due;        /* fastgate is about to move to the thread's CPU */
	bool runs;          /* when last checked: on a CPU or queueing for a CPU */
	int cpu;            /* last CPU of the thread; -1: unknown */
	int64_t put_off_ns; /* time that the thread queued behind fastgate before it could stop */
	struct fg_moment moment;
	int64_t since_ns;
	uint64_t started_ns; /* CPU time when first seen */
	uint64_t weighed_ns; /* CPU time that samples account for */
	uint64_t used_ns;    /* CPU time when last read */
	int64_t until_ns;    /* end of the elapsed time that samples account for */
	struct fg_waiting_place waiting_place;
	struct fg_sampled *samples;
	size_t sample_count, sample_capacity;
};

/* Returns false if the thread has already ended. */
bool fg_sampled_thread_open(struct fg_sampled_thread *thread,
			    const struct fg_outside_sampling *sampling, pid_t tid);
/* Closes the files; the samples stay. */
void fg_sampled_thread_close(struct fg_sampled_thread *thread);
bool fg_sampled_thread_account(struct fg_sampled_thread *thread, struct fg_cpu_account *account);
/* Reads the thread's state and CPU. Returns false if it has ended. */
bool fg_sampled_thread_look(struct fg_sampled_thread *thread);
/* Finds the place where the thread waits. Returns false if it runs, or if the place is unknown. */
bool fg_sampled_thread_waits(const struct fg_sampled_thread *thread, struct fg_blocked *blocked);

/*
 * To write a trace, call fg_sampled_trace_begin(), add the paths and the threads, and write the
 * file. A thread's samples are levelled before they are written. fg_sampled_trace_begin() returns
 * false if the program of the process is unknown.
 */
bool fg_sampled_trace_begin(struct fg_trace_writer *writer,
			    const struct fg_outside_sampling *sampling, int64_t started_ns);
void fg_sampled_trace_thread(struct fg_trace_writer *writer,
			     const struct fg_outside_sampling *sampling,
			     struct fg_sampled_thread *thread, uint64_t id);
int fg_sampled_trace_write(struct fg_trace_writer *writer, const char *folder, struct fg_error *err)
	FG_NODISCARD;

#endif
