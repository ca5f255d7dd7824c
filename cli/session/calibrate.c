// SPDX-License-Identifier: Apache-2.0
#include "cli/session/calibrate.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/random.h"
#include "cli/framework/command.h"
#include "gate/gate.h"
#include "runner/runner.h"

#include <math.h>

static const enum fg_schedule schedules[FG_CALIBRATION_ROWS] = {FG_SCHEDULE_DUET, FG_SCHEDULE_ABBA};

/* Long enough for the resolution of the kernel's clock, short enough for many pairs. */
static char loop_shell[] = "/bin/sh";
static char loop_option[] = "-c";
static char loop_text[] = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
static char *loop_argv[] = {loop_shell, loop_option, loop_text, NULL};

struct calibrating {
	struct fg_cli *cli;
	struct fg_run run;
	struct fg_runner *runner;
	struct fg_benchmark benchmarks[FG_CALIBRATION_ROWS];
	char *names[FG_CALIBRATION_ROWS];
};

static void show_progress(const struct calibrating *c, const struct fg_runner_job *job)
{
	struct fg_runner_progress progress;

	fg_runner_progress_of(job, &progress);
	if (c->cli->err_is_terminal && !c->cli->quiet)
		(void)fprintf(stderr, "\r\033[K%s: pair %u of %u", progress.series->name,
			      progress.pairs, progress.wanted);
}

static void make_benchmarks(struct calibrating *c, const struct fg_calibrate_options *options)
{
	struct fg_benchmark base = {.name = "shell loop",
				    .command = {.text = loop_text, .argv = loop_argv, .argc = 3},
				    .timeout_ns = 60 * FG_NS_PER_S};

	if (options->benchmark)
		base = *options->benchmark;
	else
		fg_policy_defaults(&base.policy);
	fg_measuring_defaults(&base.measure);
	base.measure.sampler.enabled = false;
	base.measure.min_pairs = options->pairs;
	base.measure.max_pairs = options->pairs;
	base.measure.budget_ns = options->budget_ns;
	for (size_t i = 0; i < FG_CALIBRATION_ROWS; i++) {
		c->names[i] = fg_xasprintf("%s, %s", base.name, fg_schedule_name(schedules[i]));
		c->benchmarks[i] = base;
		c->benchmarks[i].name = c->names[i];
		c->benchmarks[i].measure.schedule = schedules[i];
	}
}

static int measure_row(struct calibrating *c, size_t row, unsigned pairs, struct fg_error *err)
{
	enum fg_runner_state state = FG_RUNNER_FAILED;
	struct fg_runner_event event;
	struct fg_runner_job *job = NULL;
	int status = fg_runner_start(c->runner, &c->benchmarks[row], &job, err);

	if (status != FG_OK)
		return status;
	do {
		status = fg_runner_next(job, pairs, &state, &event, err);
		show_progress(c, job);
	} while (status == FG_OK && !fg_runner_is_over(state));
	fg_runner_finish(job);
	if (status != FG_OK)
		return status;
	if (state == FG_RUNNER_INTERRUPTED)
		status = fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	return status;
}

static void take_metric(const struct fg_metric_verdict *metric, struct fg_calibration_row *row)
{
	if (strcmp(metric->name, "cpu_time") == 0) {
		row->smallest_cpu_time = metric->smallest_detectable;
		row->pairs = metric->pairs;
	} else if (strcmp(metric->name, "wall_time") == 0 && metric->decided) {
		row->smallest_wall_time = metric->smallest_detectable;
	}
}

static unsigned count_aside(const struct fg_series *series)
{
	unsigned count = 0;

	for (size_t i = 0; i < series->repetition_count; i++)
		count += series->repetitions[i].aside == FG_ASIDE_OVERLAP;
	return count;
}

/* Asks the gate's own rule for the smallest change it could have detected. */
static int ask_the_gate(struct calibrating *c, struct fg_calibration *calibration,
			struct fg_error *err)
{
	struct fg_plan plan = {.benchmarks = c->benchmarks, .benchmark_count = FG_CALIBRATION_ROWS};
	struct fg_verdict verdict = {0};
	int status = FG_OK;

	for (size_t i = 0; i < c->run.series_count; i++)
		c->run.series[i].identical =
			false; /* otherwise identical programs would pass unmeasured */
	status = fg_gate_decide(&(struct fg_gate_input){.run = &c->run,
							.plan = &plan,
							.policy = &c->benchmarks[0].policy,
							.measure = &c->benchmarks[0].measure,
							.now_ns = fg_clock_wall_ns()},
				&verdict, err);
	for (size_t i = 0; status == FG_OK && i < c->run.series_count && i < FG_CALIBRATION_ROWS;
	     i++) {
		struct fg_calibration_row *row = &calibration->rows[i];

		*row = (struct fg_calibration_row){.schedule = schedules[i],
						   .seconds = c->run.series[i].seconds,
						   .aside = count_aside(&c->run.series[i]),
						   .smallest_cpu_time = (double)NAN,
						   .smallest_wall_time = (double)NAN,
						   .failure = fg_xstrdup(c->run.series[i].failure)};
		for (size_t k = 0;
		     i < verdict.benchmark_count && k < verdict.benchmarks[i].metric_count; k++)
			take_metric(&verdict.benchmarks[i].metrics[k], row);
	}
	fg_verdict_release(&verdict);
	return status;
}

int fg_calibrate(struct fg_cli *cli, const struct fg_calibrate_options *options,
		 struct fg_calibration *calibration, struct fg_error *err)
{
	struct calibrating c = {.cli = cli};
	const char *parent = getenv("TMPDIR");
	char *state = NULL;
	int status = fg_fs_temporary_folder(parent && *parent ? parent : "/tmp", "fastgate-doctor",
					    &state, err);

	*calibration = (struct fg_calibration){.benchmark = "a loop of the shell"};
	if (options->benchmark)
		calibration->benchmark = options->benchmark->name;
	fg_run_init(&c.run);
	c.run.has_baseline = true;
	make_benchmarks(&c, options);
	if (status != FG_OK)
		goto out;
	status = fg_random_bytes(&c.run.seed, sizeof(c.run.seed), err);
	if (status != FG_OK)
		goto out;
	status = fg_runner_create(
		&(struct fg_runner_options){.run = &c.run,
					    .roots = {options->root, options->root},
					    .state_folder = state,
					    .interrupted = cli->interrupted},
		&c.runner, err);
	for (size_t i = 0; i < FG_CALIBRATION_ROWS && status == FG_OK; i++)
		status = measure_row(&c, i, options->pairs, err);
	if (cli->err_is_terminal && !cli->quiet)
		(void)fputs("\r\033[K", stderr);
	if (status != FG_OK)
		goto out;
	status = ask_the_gate(&c, calibration, err);
out:
	fg_runner_free(c.runner);
	fg_run_release(&c.run);
	for (size_t i = 0; i < FG_CALIBRATION_ROWS; i++)
		free(c.names[i]);
	if (state && fg_fs_remove_tree(state, NULL) != FG_OK)
		fg_cli_warn(cli, "cannot remove %s", state);
	free(state);
	return status;
}

void fg_calibration_release(struct fg_calibration *calibration)
{
	for (size_t i = 0; i < FG_CALIBRATION_ROWS; i++)
		free(calibration->rows[i].failure);
	*calibration = (struct fg_calibration){0};
}
