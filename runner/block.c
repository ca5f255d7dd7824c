// SPDX-License-Identifier: Apache-2.0
/* One block of repetitions: executed, timed, recorded. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "runner/job.h"

#include <math.h>
#include <stdlib.h>

/* Traces that were taken in are litter; one that cannot be removed is no reason to fail. */
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

static int on_ended(void *context, size_t first, size_t count, struct fg_error *err)
{
	struct fg_pass *pass = context;

	take_time(pass);
	return fg_job_record(pass, first, count, err);
}

int fg_job_block(struct fg_runner_job *job, struct fg_block *block, struct fg_error *err)
{
	struct fg_pass pass = {.job = job, .block = block};
	struct fg_failure failure = {0};
	unsigned layouts = 0;
	int status = FG_OK;

	fg_job_link_beside(job, block);
	layouts = fg_job_series(job)->layouts;
	block->layout = layouts ? job->next_pair % layouts : 0;
	pass.seen_ns = fg_clock_monotonic_ns();
	job->executor.on_ended = on_ended;
	job->executor.context = &pass;
	status = fg_execute_block(&job->executor, block, pass.executions, &failure, err);
	job->executor.context = NULL;
	job->executor.on_ended = NULL;
	take_time(&pass);
	if (status == FG_OK) {
		job->next_pair++;
		job->counting += pass.counts;
	}
	if (failure.text)
		fg_job_fail(job, &failure);
	if (status == FG_EINTERRUPTED)
		job->interrupted = true;
	for (size_t i = 0; i < block->count; i++) {
		fg_runner_remove_traces(job->runner, pass.executions[i].trace_folder);
		fg_execution_release(&pass.executions[i]);
	}
	fg_failure_release(&failure);
	return status;
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
