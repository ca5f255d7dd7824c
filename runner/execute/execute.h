/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes one block of the schedule: prepare, start (both at once in a duet), wait, clean up.  It
 * measures and judges whether the program did what was expected of it; what the numbers mean is the
 * session's business (runner.c).
 */
#ifndef FG_RUNNER_EXECUTE_H
#define FG_RUNNER_EXECUTE_H

#include "base/error.h"
#include "base/process.h"
#include "runner/execute/observe.h"
#include "runner/harness/extract.h"
#include "runner/harness/harness.h"
#include "runner/schedule/schedule.h"
#include "runner/target.h"

struct fg_execution {
	struct fg_process_result result;
	struct fg_observation before;
	struct fg_observation after;
	int64_t started_wall_ns;
	struct fg_harness_report report; /* of a harness: its cases */
	double *user_values;             /* one per metric of the user; NULL: it did not end well */
	char *trace_folder;              /* NULL: it ran without the sampler */
	char *stuck;  /* where it stood when it was ended, in one line; NULL: it ended by itself */
	char *stacks; /* and every thread's stack */
};

/* What a benchmark did wrong, in words. */
struct fg_failure {
	enum fg_arm arm;
	bool not_found; /* its program does not exist */
	char *text;     /* one line */
	char *tail;     /* the last lines of its output; NULL: none */
	char *stacks;   /* where its threads stood; NULL: it ended by itself */
};

struct fg_executor {
	struct fg_target targets[FG_ARM_COUNT];
	struct fg_observer observer;
	const struct fg_extractor *extractor;
	size_t user_metric_count;
	const volatile sig_atomic_t *interrupted;
	/*
	 * For standard output and error: one arm has printed so much that it would have to wait for
	 * the reader of a pipe, so all repetitions that follow write to a file in memory.
	 */
	bool prints_much[2];
	bool to_file[2];       /* the same, alike for all programs of a block */
	bool output_moved;     /* to the file, by what the last block printed */
	const char *launcher;  /* path of fastgate-launch; NULL: programs are started directly */
	const char *collector; /* path of the library; needed where a block is sampled */
	const char *traces_folder; /* below it each sampled repetition gets its own */
	unsigned next_trace;
	uint64_t signal_ns; /* what a signal of the sampler costs here; 0: not measured */
	uint64_t switch_ns; /* what its clock adds to a context switch; 0: not measured */
	uint64_t oom_kills; /* of the machine, at the beginning */
	/* As in struct fg_runner_options, for the series under way.  May be NULL. */
	void (*on_stuck)(void *stuck_context, pid_t pid, char **summary, char **stacks);
	/* As in struct fg_runner_options.  May be NULL. */
	void (*on_crash)(void *stuck_context, const struct fg_process_options *options, int signal,
			 char **summary, char **stacks);
	void *stuck_context;
};

void fg_executor_init(struct fg_executor *executor);
void fg_executor_release(struct fg_executor *executor);

/* Programs that run at once: all of a duet's block, else one. */
size_t fg_block_step(const struct fg_block *block);
/*
 * Prepare, start and wait for the step of the block that begins with slot `first`; an execution
 * whose program ended well has `user_values`.  FG_ECHILD: the benchmark failed, `failure` says how.
 * FG_EINTERRUPTED: the user asked to stop.  Executions that are filled must be released, also after
 * a failure.
 */
int fg_execute_step(struct fg_executor *executor, const struct fg_block *block, size_t first,
		    struct fg_execution executions[FG_BLOCK_SLOTS_MAX], struct fg_failure *failure,
		    struct fg_error *err) FG_NODISCARD;
/* After a step, and after a failed one, too: the cleanup command. */
int fg_execute_cleanup(struct fg_executor *executor, const struct fg_block *block, size_t first,
		       struct fg_failure *failure, struct fg_error *err) FG_NODISCARD;
/* All steps of a block, with their cleanups. */
int fg_execute_block(struct fg_executor *executor, const struct fg_block *block,
		     struct fg_execution executions[FG_BLOCK_SLOTS_MAX], struct fg_failure *failure,
		     struct fg_error *err) FG_NODISCARD;
/* setup, prepare or cleanup (`what`) of one arm; does nothing without such a command. */
int fg_execute_helper(struct fg_executor *executor, enum fg_arm arm,
		      const struct fg_command *command, const char *what,
		      struct fg_failure *failure, struct fg_error *err) FG_NODISCARD;
void fg_execution_release(struct fg_execution *execution);
void fg_failure_release(struct fg_failure *failure);

#endif
