// SPDX-License-Identifier: Apache-2.0
/*
 * A build is measured with its code at several addresses, either from the beginning or once it
 * looks slower, so that the verdict is about the code and not about its address. Each pair runs
 * both arms in the same layout, and the next pair uses the next layout. This costs links but no
 * extra pairs.
 */
#include "base/clock.h"
#include "runner/build/layouts.h"
#include "runner/build/link_cost.h"
#include "runner/job.h"

#include <math.h>

enum {
	/* tries before concluding that a program works differently in another folder */
	TRIALS = 3,
	INFORMATIVE_MS = 10,   /* CPU time below which a run is mostly start-up */
	BYTES_MAX = 256 << 20, /* disk space for the layouts of one side */
};

/*
 * Ratio of CPU times that shows different work. A program that does not find its files in another
 * folder may do less work, or more, and still succeed.
 */
static const double other_work = 2;

static bool does_other_work(const struct fg_runner_job *job, enum fg_arm arm, double cpu_ns)
{
	const struct fg_series *series = fg_job_series(job);
	double least = (double)INFINITY;
	double most = 0;

	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *r = &series->repetitions[i];

		if (r->arm != arm || !(r->values[FG_METRIC_CPU_TIME] > 0))
			continue;
		least = fmin(least, r->values[FG_METRIC_CPU_TIME]);
		most = fmax(most, r->values[FG_METRIC_CPU_TIME]);
	}
	return fmax(most, cpu_ns) >= INFORMATIVE_MS * (double)FG_NS_PER_MS && most > 0 &&
	       (cpu_ns * other_work < least || cpu_ns > other_work * most);
}

static int check_work(const struct fg_runner_job *job, const struct fg_block *block,
		      const struct fg_execution *executions, struct fg_error *err)
{
	for (size_t i = 0; i < block->count; i++) {
		const double cpu_ns = (double)fg_process_cpu_ns(&executions[i].result);

		if (does_other_work(job, block->slots[i].arm, cpu_ns))
			return fg_error_set(err, FG_EUNSUPPORTED,
					    "the program does different work in another folder");
	}
	return FG_OK;
}

static int look_at_work(struct fg_runner_job *job, unsigned layout, struct fg_error *err)
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
	if (status == FG_OK)
		status = check_work(job, &block, executions, err);
	for (size_t i = 0; i < block.count; i++)
		fg_execution_release(&executions[i]);
	fg_failure_release(&failure);
	return status;
}

/*
 * A program that needs data from its own folder fails in another folder on every try; a short
 * program on a busy machine may fail once by chance.
 */
static int try_out(struct fg_runner_job *job, unsigned layout, struct fg_error *err)
{
	int status = FG_EUNSUPPORTED;

	for (int i = 0; i < TRIALS && status == FG_EUNSUPPORTED; i++)
		status = look_at_work(job, layout, err);
	return status;
}

/* ---- making layouts ---- */

static struct fg_layouts_options options_of(const struct fg_runner_job *job, size_t arm)
{
	return (struct fg_layouts_options){
		.target = &job->executor.targets[arm],
		.build = &fg_job_series(job)->build[arm],
		.most = FG_LAYOUTS_MAX,
		.at_once = job->runner->cpu_count,
		.interrupted = job->runner->options.interrupted,
	};
}

/*
 * Returns each side's share of the time allowed for links. A side whose layouts exist does not need
 * a share.
 */
static int64_t share_of(const struct fg_runner_job *job, int64_t allowance_ns)
{
	int64_t sides = 0;

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		const struct fg_layouts_options options = options_of(job, arm);

		sides += !fg_layouts_are_made(&options);
	}
	return sides ? allowance_ns / sides : 0;
}

/*
 * Estimates the time of a pair from the fastest runs so far, because other processes may have
 * disturbed slower runs.
 */
static int64_t pair_time_ns(const struct fg_runner_job *job)
{
	const struct fg_series *series = fg_job_series(job);
	double least[FG_ARM_COUNT] = {(double)INFINITY, (double)INFINITY};
	double both = 0;

	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *r = &series->repetitions[i];

		if (r->values[FG_METRIC_WALL_TIME] > 0)
			least[r->arm] = fmin(least[r->arm], r->values[FG_METRIC_WALL_TIME]);
	}
	both = least[FG_ARM_BASELINE] + least[FG_ARM_CANDIDATE];
	if (!isfinite(both))
		return 0;
	return (int64_t)(job->rules.schedule == FG_SCHEDULE_ABBA ? 2 * both : both);
}

/* Returns the time that the links of each side may take. */
static int64_t link_time_ns(const struct fg_runner_job *job)
{
	return share_of(job, fg_links_allowance_ns(&job->benchmark->measure, pair_time_ns(job)));
}

/* Links the layouts of both sides, the same number for each side, at most `most`. */
static int make_layouts(struct fg_runner_job *job, bool only_if_cheap, unsigned most,
			struct fg_error *err)
{
	struct fg_target *targets = job->executor.targets;
	const bool has_limits = job->benchmark->measure.layouts != FG_LAYOUTS_ALWAYS;
	const int64_t share_ns = link_time_ns(job);
	unsigned count = most;
	int status = FG_OK;

	for (size_t arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++) {
		struct fg_layouts_options options = options_of(job, arm);

		options.within_ns = only_if_cheap ? share_ns : 0;
		options.more_within_ns = has_limits ? share_ns : INT64_MAX;
		options.bytes_max = has_limits ? BYTES_MAX : UINT64_MAX;
		options.most = count;
		status = fg_layouts_make(&options, &targets[arm].layouts, err);
		count = targets[arm].layouts.count;
	}
	/*
	 * The code is the same in all layouts: if nobody asked for layouts, trying one layout is
	 * enough.
	 */
	for (unsigned k = only_if_cheap ? FG_LINE_PLACES - 1 : 0;
	     k < FG_LINE_PLACES && status == FG_OK; k++)
		status = try_out(job, k, err);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_target_layouts_cut(&targets[arm].layouts, status == FG_OK ? count : 0);
		fg_target_reread_layouts(&targets[arm]);
	}
	if (status == FG_OK)
		fg_job_series(job)->layouts = count;
	job->interrupted |= status == FG_EINTERRUPTED;
	return status;
}

/* A resumed series keeps its number of layouts, which determines the layout of each pair. */
int fg_job_make_layouts(struct fg_runner_job *job, struct fg_error *err)
{
	const unsigned before = fg_job_series(job)->layouts;
	const int status = make_layouts(job, false, before, err);
	const unsigned now = fg_job_series(job)->layouts;

	if (status != FG_OK || now == before)
		return status;
	return fg_error_set(err, FG_ELIMIT, "only %u of %u layouts can be linked now", now, before);
}

/* ---- measuring in layouts ---- */

static int check_kind(const struct fg_runner_job *job, struct fg_error *err)
{
	if (job->series_count == 1 && job->benchmark->harness == FG_HARNESS_NONE &&
	    job->rules.schedule != FG_SCHEDULE_STORED)
		return FG_OK;
	return fg_error_set(err, FG_EUNSUPPORTED, "cases of a harness are not measured in layouts");
}

static int vary(struct fg_runner_job *job, const char *metric, double ratio, bool only_if_cheap,
		struct fg_error *err)
{
	struct fg_series *series = fg_job_series(job);

	FG_TRY(check_kind(job, err));
	FG_TRY(make_layouts(job, only_if_cheap, FG_LAYOUTS_MAX, err));
	series->as_linked_metric = fg_xstrdup(metric);
	series->as_linked = ratio;
	if (job->pairs == 0)
		return FG_OK;
	fg_job_set_aside(job, FG_ASIDE_ONE_LAYOUT);
	job->earlier_pairs = job->pairs;
	job->earlier_seconds = series->seconds; /* the budget starts over */
	return FG_OK;
}

int fg_runner_vary_layout(struct fg_runner_job *job, const char *metric, double ratio,
			  struct fg_error *err)
{
	return vary(job, metric, ratio, false, err);
}

int fg_runner_begin_in_layouts(struct fg_runner_job *job, bool only_if_cheap, struct fg_error *err)
{
	if (only_if_cheap && job->pairs > 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "the pairs measured so far used the default layout");
	return vary(job, "", (double)NAN, only_if_cheap, err);
}
