// SPDX-License-Identifier: Apache-2.0
/*
 * Records pairs of two programs with the project's own runner, for the calibration to replay.
 *
 *	bench_calibration_record FILE BASELINE CANDIDATE duet|abba PAIRS
 *
 * FILE gets one line per repetition: pair, arm (0 baseline), position, CPU ns, wall ns, load, steal.  A FILE that has PAIRS
 * already is left alone, one that has fewer is continued: that makes the long form resumable.
 */
#include "base/base.h"
#include "base/clock.h"
#include "base/number.h"
#include "runner/runner.h"

#include <signal.h>
#include <unistd.h>

struct recording {
	FILE *file;
	uint32_t first_pair;
	struct fg_run run;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

/* Pairs that the file has: one more than the largest pair number in it. */
static uint32_t count_pairs(const char *path)
{
	FILE *file = fopen(path, "r");
	uint32_t count = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		char *end = NULL;
		unsigned long pair = strtoul(line, &end, 10);

		if (end != line && pair < UINT32_MAX && pair + 1 > count)
			count = (uint32_t)pair + 1;
	}
	if (file)
		(void)fclose(file);
	return count;
}

static void write_pairs(struct recording *recording)
{
	const struct fg_series *series = &recording->run.series[0];
	uint32_t next = recording->first_pair;
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *r = &series->repetitions[i];

		if (r->aside)
			continue;
		if (last != UINT32_MAX && r->pair != last)
			next++;
		last = r->pair;
		(void)fprintf(recording->file, "%u %d %d %.0f %.0f %.2f %.3f\n", next, r->arm,
			      r->position, r->values[FG_METRIC_CPU_TIME],
			      r->values[FG_METRIC_WALL_TIME], (double)r->load, (double)r->steal);
	}
}

static struct fg_command command_of(char **argv)
{
	return (struct fg_command){.text = argv[0], .argv = argv, .argc = 1};
}

static int measure(struct recording *recording, char **programs, enum fg_schedule schedule,
		   unsigned pairs, struct fg_error *err)
{
	char *argv[2][2] = {
		{programs[0], NULL},
                {programs[1], NULL}
        };
	struct fg_benchmark benchmark = {.name = programs[1],
					 .command = command_of(argv[1]),
					 .baseline_command = command_of(argv[0]),
					 .timeout_ns = 120 * FG_NS_PER_S};
	struct fg_runner_options options = {
		.run = &recording->run,
		.roots = {".", "."},
		.state_folder = "build/calibration-state",
		.interrupted = &interrupted
        };
	enum fg_runner_state state = FG_RUNNER_FAILED;
	struct fg_runner_job *job = NULL;
	struct fg_runner *runner = NULL;
	int status;

	fg_measure_defaults(&benchmark.measure);
	fg_policy_defaults(&benchmark.policy);
	benchmark.measure.schedule = schedule;
	benchmark.measure.sampler.enabled = false;
	benchmark.measure.max_pairs = pairs;
	benchmark.measure.budget_ns = 3600 * FG_NS_PER_S;
	recording->run.seed = (uint64_t)fg_clock_wall_ns();
	status = fg_runner_create(&options, &runner, err);
	if (status == FG_OK)
		status = fg_runner_start(runner, &benchmark, &job, err);
	if (status == FG_OK) {
		status = fg_runner_measure(job, pairs, &state, err);
		fg_runner_finish(job);
	}
	if (status == FG_OK && state == FG_RUNNER_FAILED)
		status = fg_error_set(err, FG_ECHILD, "%s: %s", programs[1],
				      recording->run.series[0].failure);
	fg_runner_free(runner);
	return status;
}

int main(int argc, char **argv)
{
	struct recording recording = {0};
	enum fg_schedule schedule = FG_SCHEDULE_AUTO;
	struct fg_error err = {0};
	int64_t pairs = 0;
	int status = FG_OK;

	if (argc != 6 || !fg_schedule_parse(argv[4], &schedule) ||
	    (schedule != FG_SCHEDULE_DUET && schedule != FG_SCHEDULE_ABBA) ||
	    fg_parse_int64(argv[5], &pairs, &err) != FG_OK || pairs < 1 || pairs > 100000) {
		(void)fprintf(stderr, "usage: %s FILE BASELINE CANDIDATE duet|abba PAIRS\n",
			      argv[0]);
		return 2;
	}
	(void)signal(SIGINT, on_signal);
	(void)signal(SIGTERM, on_signal);
	recording.first_pair = count_pairs(argv[1]);
	if (recording.first_pair >= (uint32_t)pairs)
		return 0;
	recording.file = fopen(argv[1], "a");
	if (!recording.file) {
		perror(argv[1]);
		return 1;
	}
	fg_run_init(&recording.run);
	status = measure(&recording, argv + 2, schedule, (unsigned)pairs - recording.first_pair,
			 &err);
	if (recording.run.series_count > 0)
		write_pairs(&recording);
	fg_run_release(&recording.run);
	if (fclose(recording.file) != 0 || status != FG_OK)
		(void)fprintf(stderr, "%s: %s\n", argv[0],
			      status != FG_OK ? err.message : "cannot write the recording");
	return status == FG_OK && !interrupted ? 0 : 1;
}
