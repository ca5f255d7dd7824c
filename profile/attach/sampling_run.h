/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by sampler.c, which draws the sampling times, and sample_threads.c. */
#ifndef FG_ATTACH_SAMPLING_RUN_H
#define FG_ATTACH_SAMPLING_RUN_H

#include "base/random.h"
#include "profile/attach/paths.h"
#include "profile/attach/sampled.h"
#include "profile/attach/stacks.h"

#include <sched.h>
#include <stdbool.h>

enum {
	FG_STACK_COPY_PAGES = 8, /* pages copied while the thread is stopped */
	FG_STACK_COPIES_MAX = 32,
	FG_PAUSES_MAX = 8192, /* pauses kept for the quantile */
};

/* Cost up to one moment. */
struct fg_sampling_cost {
	int64_t at_ns;
	int64_t own_ns; /* fastgate's CPU time */
	uint64_t stopped_ns;
	uint64_t budgeted_ns; /* time of which the budget is a share */
};

/* A copy of a stopped thread whose sample counts. */
struct fg_stopped_copy {
	size_t thread; /* index among the threads */
	uint64_t weight_ns;
	bool waits;
	struct user_regs_struct registers;
	size_t size;
	/* starts with the page of the red zone */
	uint8_t stack[FG_STACK_COPY_PAGES * FG_MEMORY_PAGE];
};

/* ---- own_cpu.c ---- */

struct fg_own_cpu {
	cpu_set_t allowed; /* CPUs that this process may use; empty if unknown */
	cpu_set_t taken;   /* CPUs taken since fg_own_cpu_leave() */
};

void fg_own_cpu_init(struct fg_own_cpu *own);
/* Moves to this CPU. Returns false if this process may not run there. */
bool fg_own_cpu_take(struct fg_own_cpu *own, int cpu);
/* Moves to a CPU that was not taken, if such a CPU exists: threads wait for the taken CPUs. */
void fg_own_cpu_leave(struct fg_own_cpu *own);

/* ---- the sampler itself ---- */

struct fg_sampling_run {
	const struct fg_outside_sampling *sampling;
	struct fg_outside_result *result;
	struct fg_memory memory;
	struct fg_mappings mappings;
	struct fg_stack_walker *walker;
	struct fg_trace_writer writer;
	struct fg_paths paths;
	struct fg_sampled_thread *threads;
	size_t thread_count, thread_capacity;
	size_t live_threads;
	struct fg_stopped_copy *copies; /* copies with stacks still to be walked */
	size_t copy_count;
	struct fg_random random;
	int64_t started_ns;
	struct fg_sampling_cost before;
	bool is_our_child; /* a child of fastgate: its exit status is left for another wait */
	int process_fd;    /* readable when the process has ended */
	int stops_fd;      /* readable when a thread has stopped */
	struct fg_own_cpu own_cpu;
	struct fg_mapping_looks looks; /* limits reads of the mappings */
	uint64_t pauses[FG_PAUSES_MAX];
	uint64_t pause_count;
	uint64_t truncated;
};

bool fg_sampling_read_mappings(struct fg_sampling_run *run, struct fg_error *err);
/* Stops the threads that are due at this moment, copies their stacks, and releases them. */
void fg_sampling_take(struct fg_sampling_run *run, int64_t moment_ns);
/* Copies and releases threads that have stopped in the meantime. */
void fg_sampling_collect(struct fg_sampling_run *run);
/* Walks all copies. Walking is many times slower than copying, so no thread is held for it. */
void fg_sampling_walk_copies(struct fg_sampling_run *run);
/* Releases all threads at the end. */
void fg_sampling_release_all(struct fg_sampling_run *run);

#endif
