// SPDX-License-Identifier: Apache-2.0
/* A job's series, notes, progress and failure. */
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
	for (size_t i = 0; i < job->note_count; i++) {
		if (strcmp(job->notes[i], note) == 0)
			return;
	}
	if (job->note_count == FG_JOB_NOTES_MAX)
		return;
	job->notes[job->note_count++] = fg_xstrdup(note);
}

void fg_job_set_aside(struct fg_runner_job *job, enum fg_aside why)
{
	struct fg_series *series = fg_job_series(job);

	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *repetition = &series->repetitions[i];

		if (fg_aside_was_meant_to_count(repetition->aside))
			repetition->aside |= (uint16_t)why;
	}
	job->counting = 0;
	job->earlier_counting = 0;
	job->apart = 0;
	job->given_up = job->pairs;
}

void fg_runner_progress_of(const struct fg_runner_job *job, struct fg_runner_progress *progress)
{
	static const enum fg_runner_phase phases[] = {
		[FG_JOB_LAYOUTS] = FG_RUNNER_WARMUP, [FG_JOB_WARMUP] = FG_RUNNER_WARMUP,
		[FG_JOB_LOOK] = FG_RUNNER_TRIAL,     [FG_JOB_COMPETE] = FG_RUNNER_TRIAL,
		[FG_JOB_READY] = FG_RUNNER_TRIAL,    [FG_JOB_PAIR] = FG_RUNNER_MEASURE,
		[FG_JOB_SOLO] = FG_RUNNER_MEASURE,   [FG_JOB_COST] = FG_RUNNER_MEASURE,
	};
	const struct fg_series *series = fg_job_series(job);

	*progress = (struct fg_runner_progress){
		.series = series,
		.phase = phases[job->stage],
		.pairs = job->counting,
		.wanted = job->wanted,
		.set_aside = job->pairs - job->counting,
		.spent_ns = (int64_t)(series->seconds * (double)FG_NS_PER_S),
		.per_pair_ns = (int64_t)(job->pair_seconds * (double)FG_NS_PER_S),
	};
}

void fg_runner_exceed_budget(struct fg_runner_job *job)
{
	job->exceeds_budget = true;
}

void fg_job_fail(struct fg_runner_job *job, struct fg_failure *failure)
{
	struct fg_series *series = fg_job_series(job);

	free(series->failure);
	free(series->failure_tail);
	series->failure = failure->text;
	series->failure_tail = failure->tail;
	series->state = FG_NOT_MEASURED;
	*failure = (struct fg_failure){0};
	job->failed = true;
}
