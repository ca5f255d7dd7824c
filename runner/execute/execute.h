/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes one block of the schedule: prepare, start (both at once in a duet), wait, clean up. It
 * measures, and checks that the program ended as expected; the session (runner.c) interprets the
 * numbers.
 */
#ifndef FG_RUNNER_EXECUTE_H
#define FG_RUNNER_EXECUTE_H

#include "base/error.h"
#include "base/process.h"
#include "runner/execute/observe.h"
#include "runner/harness/harness.h"
#include "runner/schedule/schedule.h"
#include "runner/target.h"

struct fg_execution {
	struct fg_process_result result;
	struct fg_observation before;
	struct fg_observation after;
	int64_t started_wall_ns;
	struct fg_harness_report report; /* if the benchmark is a harness */
	double *user_values;             /* one per user metric; NULL: the program failed */
	char *trace_folder;              /* NULL without the sampler */
};

/* A benchmark's failure, in words. */
struct fg_failure {
	enum fg_arm arm;
	char *text; /* one line */
	char *tail; /* the last lines of the program's output; NULL: none */
};

struct fg_executor {
	struct fg_target targets[FG_ARM_COUNT];
	struct fg_observer observer;
	const struct fg_extractor *extractor;
	size_t user_metric_count;
	const volatile sig_atomic_t *interrupted;
	/*
	 * [0]: stdout, [1]: stderr. An arm has printed so much that a pipe's reader would hold it
	 * up, so all later repetitions write to a file in memory.
	 */
	bool large_output[2];
	/* [0]: stdout, [1]: stderr. All programs of the current block write to a file in memory. */
	bool to_file[2];
	bool output_moved;     /* the last block's output caused the switch to a file */
	const char *launcher;  /* path of fastgate-launch; NULL: programs are started directly */
	const char *collector; /* path of the library; required if a block is sampled */
	const char *traces_folder; /* each sampled repetition gets a folder below it */
	unsigned next_trace;
	uint64_t oom_kills; /* the kernel's count of out-of-memory kills at the start */
};

void fg_executor_init(struct fg_executor *executor, const char *host_root);
void fg_executor_release(struct fg_executor *executor);

/* Returns the number of programs that run at once: a whole block in a duet, otherwise one. */
size_t fg_block_step(const struct fg_block *block);
/*
 * Prepares and executes the step of the block that begins with slot `first`; executions whose
 * program succeeded have `user_values`. FG_ECHILD: the benchmark failed, see `failure`.
 * FG_EINTERRUPTED: the user asked to stop. Filled executions must be released, even after a
 * failure.
 */
int fg_execute_step(struct fg_executor *executor, const struct fg_block *block, size_t first,
		    struct fg_execution executions[FG_BLOCK_SLOTS_MAX], struct fg_failure *failure,
		    struct fg_error *err) FG_NODISCARD;
/* Runs the cleanup command. Call after each step, even a failed one. */
int fg_execute_cleanup(struct fg_executor *executor, const struct fg_block *block, size_t first,
		       struct fg_failure *failure, struct fg_error *err) FG_NODISCARD;
/* Executes all steps of a block, with their cleanups. */
int fg_execute_block(struct fg_executor *executor, const struct fg_block *block,
		     struct fg_execution executions[FG_BLOCK_SLOTS_MAX], struct fg_failure *failure,
		     struct fg_error *err) FG_NODISCARD;
/* Runs setup, prepare or cleanup (`what`) of one arm; does nothing if there is no such command. */
int fg_execute_helper(struct fg_executor *executor, enum fg_arm arm,
		      const struct fg_command *command, const char *what,
		      struct fg_failure *failure, struct fg_error *err) FG_NODISCARD;
void fg_execution_release(struct fg_execution *execution);
void fg_failure_release(struct fg_failure *failure);

#endif
