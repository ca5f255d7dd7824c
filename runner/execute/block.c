// SPDX-License-Identifier: Apache-2.0
/* Executes, times and records one block of repetitions. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "runner/job.h"

#include <math.h>
#include <stdlib.h>

/* Traces that were read are temporary; failing to remove one is not an error. */
void fg_runner_remove_traces(const struct fg_runner *runner, const char *folder)
{
	struct fg_error err = {0};

	if (folder && !runner->options.keep_traces && fg_fs_remove_tree(folder, &err) != FG_OK)
		fg_log(FG_LOG_RUNNER, 1, "%s", err.message);
}

static void take_time(struct fg_pass *pass)
{
	const int64_t now_ns = fg_clock_monotonic_ns();

	fg_job_series(pass->job)->seconds += (double)(now_ns - pass->seen_ns) / (double)FG_NS_PER_S;
	pass->seen_ns = now_ns;
}

void fg_job_begin_block(struct fg_runner_job *job)
{
	struct fg_block *block = &job->block;
	unsigned layouts = 0;

	layouts = fg_job_series(job)->layouts;
	block->layout = layouts ? job->next_pair % layouts : 0;
	job->pass = (struct fg_pass){
		.job = job, .block = block, .seen_ns = fg_clock_monotonic_ns(), .is_open = true};
}

/* Ends the block; it succeeded if `pass.error` is empty. */
static void end_block(struct fg_runner_job *job)
{
	struct fg_pass *pass = &job->pass;

	take_time(pass);
	pass->is_open = false;
	if (pass->error.code == FG_OK) {
		job->next_pair++;
		job->counting += pass->counts;
	}
	if (pass->failure.text)
		fg_job_fail(job, &pass->failure);
	job->interrupted |= pass->error.code == FG_EINTERRUPTED;
	for (size_t i = 0; i < pass->block->count; i++) {
		fg_runner_remove_traces(job->runner, pass->executions[i].trace_folder);
		fg_execution_release(&pass->executions[i]);
	}
	fg_failure_release(&pass->failure);
}

/* Runs the step's cleanup, even after a failure, and preserves the failure's message. */
static void clean_up(struct fg_runner_job *job)
{
	struct fg_pass *pass = &job->pass;
	struct fg_failure later = {0};
	const bool is_well = pass->error.code == FG_OK;

	pass->is_dirty = false;
	(void)!fg_execute_cleanup(&job->executor, pass->block, pass->first,
				  is_well ? &pass->failure : &later, is_well ? &pass->error : NULL);
	fg_failure_release(&later);
}

/* Executes one step and records its repetitions, even those that precede a failure in the step. */
static void run_step(struct fg_runner_job *job)
{
	struct fg_pass *pass = &job->pass;

	pass->first = pass->next;
	pass->next += fg_block_step(pass->block);
	pass->is_dirty = true;
	(void)!fg_execute_step(&job->executor, pass->block, pass->first, pass->executions,
			       &pass->failure, &pass->error);
	take_time(pass);
	fg_job_record(pass);
}

int fg_job_step(struct fg_runner_job *job, struct fg_error *err)
{
	const volatile sig_atomic_t *interrupted = job->executor.interrupted;
	struct fg_pass *pass = &job->pass;

	if (pass->is_dirty)
		clean_up(job);
	if (pass->error.code == FG_OK && pass->next < pass->block->count) {
		if (!interrupted || !*interrupted) {
			run_step(job);
			return FG_OK;
		}
		(void)fg_error_set(&pass->error, FG_EINTERRUPTED, "interrupted");
	}
	end_block(job);
	return pass->error.code == FG_OK
		       ? FG_OK
		       : fg_error_set(err, pass->error.code, "%s", pass->error.message);
}

void fg_job_abandon_block(struct fg_runner_job *job)
{
	if (!job->pass.is_open)
		return;
	if (job->pass.error.code == FG_OK)
		(void)fg_error_set(&job->pass.error, FG_ECHILD, "given up");
	if (job->pass.is_dirty)
		clean_up(job);
	end_block(job);
}

void fg_job_last_means(const struct fg_runner_job *job, enum fg_metric_id metric,
		       double means[FG_ARM_COUNT])
{
	const struct fg_series *series = fg_job_series(job);
	unsigned counts[FG_ARM_COUNT] = {0};

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		means[arm] = 0;
	for (size_t i = series->repetition_count; i > 0; i--) {
		const struct fg_repetition *repetition = &series->repetitions[i - 1];

		if (repetition->pair != series->repetitions[series->repetition_count - 1].pair)
			break;
		means[repetition->arm] += repetition->values[metric];
		counts[repetition->arm]++;
	}
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		means[arm] = counts[arm] ? means[arm] / counts[arm] : (double)NAN;
}
