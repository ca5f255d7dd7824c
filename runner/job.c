// SPDX-License-Identifier: Apache-2.0
/* A job's series, its notes, its progress, its failure. */
#include "runner/job.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

struct fg_series *fg_job_series(const struct fg_runner_job *job)
{
	return &job->runner->options.run->series[job->series[0]];
}

void fg_job_note(struct fg_runner_job *job, const char *note)
{
	const struct fg_runner_options *options = &job->runner->options;

	for (size_t i = 0; i < job->note_count; i++) {
		if (strcmp(job->notes[i], note) == 0)
			return;
	}
	if (job->note_count == FG_JOB_NOTES_MAX)
		return;
	job->notes[job->note_count++] = fg_xstrdup(note);
	if (options->on_note)
		options->on_note(options->context, fg_job_series(job), note);
}

void fg_job_progress(const struct fg_runner_job *job, enum fg_runner_phase phase)
{
	const struct fg_runner_options *options = &job->runner->options;
	const struct fg_series *series = fg_job_series(job);

	if (!options->on_progress)
		return;
	options->on_progress(
		options->context,
		&(struct fg_runner_progress){
			.series = series,
			.phase = phase,
			.pairs = job->counting,
			.wanted = job->wanted,
			.set_aside = job->pairs - job->counting,
			.spent_ns = (int64_t)(series->seconds * (double)FG_NS_PER_S),
			.per_pair_ns = (int64_t)(job->pair_seconds * (double)FG_NS_PER_S),
		});
}

void fg_job_explain_stuck(void *context, pid_t pid, char **summary, char **stacks)
{
	const struct fg_runner_job *job = context;
	const struct fg_runner_options *options = &job->runner->options;

	options->on_stuck(options->context,
			  &(struct fg_runner_stuck){.series = fg_job_series(job),
						    .pid = pid,
						    .is_launcher = job->executor.launcher != NULL},
			  summary, stacks);
}

void fg_job_explain_crash(void *context, const struct fg_process_options *options, int signal,
			  char **summary, char **stacks)
{
	const struct fg_runner_job *job = context;
	const struct fg_runner_options *session = &job->runner->options;

	session->on_crash(session->context,
			  &(struct fg_runner_crash){.series = fg_job_series(job),
						    .options = options,
						    .signal = signal},
			  summary, stacks);
}

void fg_job_fail(struct fg_runner_job *job, struct fg_failure *failure)
{
	struct fg_series *series = fg_job_series(job);

	free(series->failure);
	free(series->failure_tail);
	free(series->failure_stacks);
	series->failure = failure->text;
	series->failure_tail = failure->tail;
	series->failure_stacks = failure->stacks;
	series->state = FG_NOT_MEASURED;
	*failure = (struct fg_failure){0};
	job->failed = true;
}
