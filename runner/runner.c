// SPDX-License-Identifier: Apache-2.0
#include "runner/runner.h"

#include "base/fs.h"
#include "base/launch.h"
#include "base/sort.h"
#include "runner/execute/preload.h"
#include "runner/facts/code_facts.h"
#include "runner/installed.h"
#include "runner/job.h"

#include <math.h>
#include <sched.h>

/* ---- session ---- */

static void list_cpus(struct fg_runner *runner)
{
	cpu_set_t set;
	size_t room = 0;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return; /* without a list of CPUs, no program is pinned */
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &set))
			continue;
		FG_APPEND(runner->cpus, runner->cpu_count, room) = cpu;
	}
}

/*
 * Without the collector everything except profiles can be measured: each job that needs profiles
 * reports the missing collector.
 */
static void find_collector(struct fg_runner *runner)
{
	if (runner->options.collector)
		runner->collector = fg_xstrdup(runner->options.collector);
	else if (fg_preload_library(&runner->collector, &runner->no_collector) != FG_OK)
		return;
	fg_preload_warm();
}

static int make_traces_folder(struct fg_runner *runner, struct fg_error *err)
{
	char *traces = fg_fs_join(runner->options.state_folder, "traces");
	char *folder = NULL;
	int status = FG_OK;

	FG_TRY_OUT(fg_fs_make_folders(traces, 0755, err));
	FG_TRY_OUT(fg_fs_temporary_folder(traces, "run-", &folder, err));
	runner->traces_folder = realpath(folder, NULL);
	if (!runner->traces_folder)
		status = fg_error_errno(err, FG_EIO, "'%s'", folder);
out:
	free(traces);
	free(folder);
	return status;
}

int fg_runner_create(const struct fg_runner_options *options, struct fg_runner **runner,
		     struct fg_error *err)
{
	struct fg_runner *made = NULL;
	int status = FG_OK;

	FG_ASSERT(options->run && options->roots[FG_ARM_CANDIDATE] && options->state_folder);
	made = fg_xcalloc(1, sizeof(*made));
	made->options = *options;
	list_cpus(made);
	find_collector(made);
	made->launcher = fg_installed_find(FG_LAUNCHER_NAME);
	status = make_traces_folder(made, err);
	if (status != FG_OK) {
		fg_runner_free(made);
		return status;
	}
	*runner = made;
	return FG_OK;
}

void fg_runner_free(struct fg_runner *runner)
{
	if (!runner)
		return;
	FG_ASSERT(!runner->busy);
	fg_runner_remove_traces(runner, runner->traces_folder);
	free(runner->traces_folder);
	free(runner->collector);
	free(runner->launcher);
	free(runner->cpus);
	free(runner);
}

/* ---- start ---- */

int fg_runner_start(struct fg_runner *runner, const struct fg_benchmark *benchmark,
		    struct fg_runner_job **job, struct fg_error *err)
{
	struct fg_runner_job *made = fg_xcalloc(1, sizeof(*made));
	struct fg_error found = {0};
	int status = FG_OK;

	FG_ASSERT(!runner->busy);
	runner->busy = true;
	made->runner = runner;
	made->benchmark = benchmark;
	made->pass.job = made;
	fg_job_init(made);
	status = fg_job_prepare(made, &found);
	if (status != FG_OK && !made->failed && !made->interrupted) {
		fg_runner_finish(made);
		return fg_error_set(err, found.code, "%s", found.message);
	}
	*job = made;
	return FG_OK;
}

/* ---- measure ---- */

static bool give_note(struct fg_runner_job *job, struct fg_runner_event *event)
{
	if (job->notes_passed == job->note_count)
		return false;
	event->note = job->notes[job->notes_passed++];
	return true;
}

/* Plans the next block, or returns the state that ends the call. */
static int plan(struct fg_runner_job *job, enum fg_runner_state *state, struct fg_error *err)
{
	const volatile sig_atomic_t *interrupted = job->runner->options.interrupted;
	int status = FG_OK;

	job->interrupted |= interrupted && *interrupted;
	if (!job->failed && !job->interrupted)
		status = fg_job_plan(job, state, err);
	if (job->failed)
		*state = FG_RUNNER_FAILED;
	else if (job->interrupted)
		*state = FG_RUNNER_INTERRUPTED;
	job->is_planned = *state == FG_RUNNER_BEGINS;
	return job->failed || job->interrupted ? FG_OK : status;
}

/* Runs one step of the block and handles its end. */
static int advance(struct fg_runner_job *job, struct fg_error *err)
{
	int status = FG_OK;

	if (job->is_planned) {
		job->is_planned = false;
		fg_job_begin_block(job);
	}
	status = fg_job_step(job, err);
	if (status != FG_OK)
		return job->failed || job->interrupted ? FG_OK : status;
	if (!job->pass.is_open)
		fg_job_take_block(job);
	return FG_OK;
}

int fg_runner_next(struct fg_runner_job *job, unsigned pairs_wanted, enum fg_runner_state *state,
		   struct fg_runner_event *event, struct fg_error *err)
{
	int status = FG_OK;

	job->wanted = pairs_wanted;
	*event = (struct fg_runner_event){0};
	*state = FG_RUNNER_FAILED;
	while (status == FG_OK) {
		if (give_note(job, event)) {
			*state = FG_RUNNER_NOTES;
			return FG_OK;
		}
		if (fg_job_hand_over(&job->pass, event)) {
			*state = FG_RUNNER_REPEATED;
			return FG_OK;
		}
		if (job->has_restarted) {
			job->has_restarted = false;
			*state = FG_RUNNER_RESTARTED;
			return FG_OK;
		}
		if (!job->pass.is_open && !job->is_planned) {
			status = plan(job, state, err);
			if (status != FG_OK || job->notes_passed == job->note_count)
				return status;
			continue;
		}
		status = advance(job, err);
	}
	return status;
}

bool fg_runner_is_over(enum fg_runner_state state)
{
	return state != FG_RUNNER_BEGINS && state != FG_RUNNER_NOTES && state != FG_RUNNER_REPEATED;
}

void fg_runner_take_sampled(struct fg_runner_job *job, enum fg_arm arm, double sampled_ns,
			    double spent_ns)
{
	if (!(spent_ns > 0))
		return;
	job->coverage[arm].spent_ns += spent_ns;
	job->coverage[arm].sampled_ns += sampled_ns;
	job->coverage[arm].repetitions++;
}

bool fg_runner_has_failed(const struct fg_runner_job *job)
{
	return job->failed;
}

const struct fg_target *fg_runner_job_targets(const struct fg_runner_job *job)
{
	return job->executor.targets;
}

size_t fg_runner_job_series(const struct fg_runner_job *job, const size_t **indexes)
{
	*indexes = job->series;
	return job->series_count;
}

void fg_runner_compare_code(struct fg_runner_job *job, const struct fg_code_names *functions)
{
	const struct fg_target *targets = job->executor.targets;
	struct fg_series *series = fg_job_series(job);

	if (!job->failed && !series->identical && targets[FG_ARM_BASELINE].command &&
	    targets[FG_ARM_CANDIDATE].command)
		fg_code_facts_add_changes(&targets[FG_ARM_BASELINE], &targets[FG_ARM_CANDIDATE],
					  functions, &series->build[FG_ARM_CANDIDATE]);
}

static void fail_like(struct fg_series *series, const struct fg_series *first)
{
	free(series->failure);
	free(series->failure_tail);
	series->failure = fg_xstrdup(first->failure);
	series->failure_tail = fg_xstrdup(first->failure_tail);
	series->state = FG_NOT_MEASURED;
}

/*
 * Completes the series of a case: sets `only_in`, and copies the fields that all cases share from
 * the first series.
 */
static void complete_case(const struct fg_runner_job *job, struct fg_series *series)
{
	const struct fg_series *first = fg_job_series(job);
	bool seen[FG_ARM_COUNT] = {false, false};

	for (size_t i = 0; i < series->repetition_count; i++)
		seen[series->repetitions[i].arm] = true;
	if (job->rules.schedule != FG_SCHEDULE_STORED &&
	    seen[FG_ARM_BASELINE] != seen[FG_ARM_CANDIDATE]) {
		series->only_in[FG_ARM_BASELINE] = seen[FG_ARM_BASELINE];
		series->only_in[FG_ARM_CANDIDATE] = seen[FG_ARM_CANDIDATE];
	}
	if (series == first)
		return;
	free(series->command);
	free(series->schedule_reason);
	series->command = fg_xstrdup(first->command);
	series->schedule_reason = fg_xstrdup(first->schedule_reason);
	series->schedule = first->schedule;
	series->identical = first->identical;
	series->seconds = first->seconds;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_build_facts_release(&series->build[arm]);
		fg_build_facts_copy(&series->build[arm], &first->build[arm]);
	}
}

void fg_runner_finish(struct fg_runner_job *job)
{
	struct fg_series *first = fg_job_series(job);

	fg_job_abandon_block(job);
	/* No schedule was chosen for a benchmark that was skipped. */
	if (first->schedule == FG_SCHEDULE_AUTO)
		first->schedule = FG_SCHEDULE_ABBA;
	first->seconds /= (double)job->series_count; /* shared by the cases of a harness */
	for (size_t i = 0; i < job->series_count; i++) {
		struct fg_series *series = &job->runner->options.run->series[job->series[i]];

		if (!job->failed)
			series->state = job->interrupted ? FG_INTERRUPTED : FG_MEASURED;
		else if (series != first)
			fail_like(series, first);
		if (job->has_cases)
			complete_case(job, series);
		if (job->cost_count)
			series->sampler_cost =
				exp(fg_middle(job->cost_ratios, job->cost_count)) - 1;
	}
	fg_process_end_kept();
	fg_executor_release(&job->executor);
	fg_extractor_free(job->extractor);
	for (size_t i = 0; i < job->note_count; i++)
		free(job->notes[i]);
	free(job->cost_ratios);
	free(job->series);
	job->runner->busy = false;
	free(job);
}
