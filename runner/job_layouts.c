// SPDX-License-Identifier: Apache-2.0
/*
 * A build that looks slower is measured again with its code in other places, so that the verdict is
 * about the code and not about the place that the linker happened to choose.  Each pair runs both
 * arms in the same layout, the next pair in the next one: that costs links, not time.
 */
#include "runner/code_facts.h"
#include "runner/job.h"
#include "runner/layouts.h"

static void drop_layouts(struct fg_target *target)
{
	for (size_t k = 0; k < FG_LAYOUTS; k++) {
		free(target->layouts[k].program);
		free(target->layouts[k].library_folder);
		target->layouts[k] = (struct fg_target_layout){0};
	}
}

/* Programs that find their data beside themselves do not find them from another folder. */
static int try_out(struct fg_runner_job *job, unsigned layout, struct fg_error *err)
{
	struct fg_execution executions[FG_BLOCK_SLOTS_MAX] = {0};
	struct fg_schedule_rules rules = job->rules;
	struct fg_failure failure = {0};
	struct fg_block block;
	int status;

	rules.sampled = false;
	fg_schedule_warmup(&rules, layout, &block);
	block.layout = layout;
	status = fg_execute_block(&job->executor, &block, executions, &failure, err);
	for (size_t i = 0; i < block.count; i++)
		fg_execution_release(&executions[i]);
	fg_failure_release(&failure);
	return status;
}

int fg_job_make_layouts(struct fg_runner_job *job, struct fg_error *err)
{
	static const struct fg_command none;
	const struct fg_build *build = job->runner->options.build;
	struct fg_target *targets = job->executor.targets;
	int status = FG_OK;

	for (size_t arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++) {
		const struct fg_layouts_options options = {
			.target = &targets[arm],
			.build = &fg_job_series(job)->build[arm],
			.relink = build ? &build->relink : &none,
			.interrupted = job->runner->options.interrupted,
		};

		status = fg_layouts_make(&options, targets[arm].layouts, err);
	}
	for (unsigned k = 0; k < FG_LAYOUTS && status == FG_OK; k++)
		status = try_out(job, k, err);
	for (size_t arm = 0; arm < FG_ARM_COUNT && status != FG_OK; arm++)
		drop_layouts(&targets[arm]);
	return status;
}

static void set_aside(struct fg_runner_job *job)
{
	struct fg_series *series = fg_job_series(job);

	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *repetition = &series->repetitions[i];

		if (fg_aside_was_meant_to_count(repetition->aside))
			repetition->aside |= FG_ASIDE_ONE_LAYOUT;
	}
	job->counting = 0;
	job->earlier_counting = 0;
	job->apart = 0;
	job->given_up = job->pairs;
	job->earlier_pairs = job->pairs;
	job->earlier_seconds = series->seconds; /* the budget begins anew */
}

int fg_runner_vary_layout(struct fg_runner_job *job, const char *metric, double ratio,
			  struct fg_error *err)
{
	const struct fg_runner_options *options = &job->runner->options;
	struct fg_series *series = fg_job_series(job);
	int status;

	if (job->series_count != 1 || job->benchmark->harness != FG_HARNESS_NONE ||
	    job->rules.schedule == FG_SCHEDULE_STORED)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "cases of a harness are not measured in layouts");
	status = fg_job_make_layouts(job, err);
	if (status != FG_OK)
		return status;
	series->as_linked_metric = fg_xstrdup(metric);
	series->as_linked = ratio;
	set_aside(job);
	return options->on_given_up ? options->on_given_up(options->context, job->series[0], err)
				    : FG_OK;
}
