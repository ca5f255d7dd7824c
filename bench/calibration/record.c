// SPDX-License-Identifier: Apache-2.0
/*
 * Records pairs of two programs with the project's own runner, for the card to replay.
 *
 *	bench_calibration_record FILE BASELINE CANDIDATE duet|abba|sampled PAIRS [MILLISECONDS]
 *
 * duet, abba: FILE gets one line per repetition: pair, arm (0 baseline), position, CPU ns, wall ns,
 * load, steal. sampled: duet pairs under the sampler, see profile_file.h. A complete FILE is left
 * alone; an incomplete one is continued for at most MILLISECONDS and at least one pair, so
 * recording can be stopped and resumed at any time.
 */
#include "base/base.h"
#include "base/clock.h"
#include "base/number.h"
#include "bench/calibration/profile_file.h"
#include "profile/ingest.h"
#include "runner/runner.h"

#include <signal.h>
#include <unistd.h>

/* The functions benchmark is short, so it is sampled at a fixed, high rate. */
#define RATE_HZ 4000

struct recorder {
	const char *path;
	struct fg_run run;
	struct fg_symbolizer *symbolizer; /* NULL: not sampled */
	struct profile_file profiles;
	size_t old_rows;
	size_t *repetition_of_row; /* for rows beyond old_rows */
	size_t capacity;
	int64_t budget_ns;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

/* Returns the number of pairs in a file of times: one more than the largest pair number. */
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

static int append_times(const struct recorder *recorder, uint32_t next, struct fg_error *err)
{
	const struct fg_series *series = &recorder->run.series[0];
	FILE *file = fopen(recorder->path, "a");
	uint32_t last = UINT32_MAX;

	if (!file)
		return fg_error_errno(err, FG_EIO, "cannot write '%s'", recorder->path);
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *r = &series->repetitions[i];

		if (r->aside)
			continue;
		if (last != UINT32_MAX && r->pair != last)
			next++;
		last = r->pair;
		(void)fprintf(file, "%u %d %d %.0f %.0f %.2f %.3f\n", next, r->arm, r->position,
			      r->values[FG_METRIC_CPU_TIME], r->values[FG_METRIC_WALL_TIME],
			      (double)r->load, (double)r->steal);
	}
	return fclose(file) == 0 ? FG_OK
				 : fg_error_errno(err, FG_EIO, "cannot write '%s'", recorder->path);
}

static int take_repetition(struct recorder *recorder, const struct fg_runner_event *event,
			   struct fg_error *err)
{
	const struct fg_repetition *r =
		&recorder->run.series[event->series].repetitions[event->repetition];
	const struct fg_ingest_row row = {.arm = r->arm, .pair = r->pair};
	size_t fresh = recorder->profiles.set.row_count - recorder->old_rows;

	/* adopt_rows() checks later that the repetition's block is complete. */
	if (!event->trace_folder || (r->aside & (uint16_t)~FG_ASIDE_UNPAIRED))
		return FG_OK;
	recorder->repetition_of_row = fg_grow(recorder->repetition_of_row, &recorder->capacity,
					      fresh + 1, sizeof(recorder->repetition_of_row[0]));
	recorder->repetition_of_row[fresh] = event->repetition;
	return fg_profile_ingest(&recorder->profiles.set, event->trace_folder, recorder->symbolizer,
				 &row, NULL, err);
}

/*
 * Keeps the new rows whose repetitions count in the end, with pair numbers that continue the old
 * ones.
 */
static void adopt_rows(struct recorder *recorder, uint32_t next)
{
	struct fg_series *kept = &recorder->profiles.run.series[0];
	const struct fg_series *series = &recorder->run.series[0];
	struct fg_profile_set *set = &recorder->profiles.set;
	size_t used = recorder->old_rows;
	uint32_t last = UINT32_MAX;

	for (int arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_copy(&kept->build[arm], &series->build[arm]);
	for (size_t i = recorder->old_rows; i < set->row_count; i++) {
		size_t at = recorder->repetition_of_row[i - recorder->old_rows];
		const struct fg_repetition *r = &series->repetitions[at];
		struct fg_repetition *copy;

		if (r->aside)
			continue;
		if (last != UINT32_MAX && r->pair != last)
			next++;
		last = r->pair;
		set->rows[used] = set->rows[i];
		set->rows[used++].pair = next;
		copy = fg_series_add_repetition(kept);
		copy->pair = next;
		copy->arm = r->arm;
		copy->load = r->load;
		copy->values[FG_METRIC_CPU_TIME] = r->values[FG_METRIC_CPU_TIME];
	}
	set->row_count = used;
}

static struct fg_command command_of(char **argv)
{
	return (struct fg_command){.text = argv[0], .argv = argv, .argc = 1};
}

static int measure(struct recorder *recorder, char **programs, enum fg_schedule schedule,
		   uint32_t pairs, struct fg_error *err)
{
	char *argv[2][2] = {{programs[0], NULL}, {programs[1], NULL}};
	struct fg_benchmark benchmark = {.name = programs[1],
					 .command = command_of(argv[1]),
					 .baseline_command = command_of(argv[0]),
					 .timeout_ns = 120 * FG_NS_PER_S};
	struct fg_runner_options options = {.run = &recorder->run,
					    .roots = {".", "."},
					    .state_folder = "build/calibration-state",
					    .interrupted = &interrupted};
	enum fg_runner_state state = FG_RUNNER_FAILED;
	struct fg_runner_event event;
	struct fg_runner_job *job = NULL;
	struct fg_runner *runner = NULL;
	int status;

	fg_measuring_defaults(&benchmark.measure);
	fg_policy_defaults(&benchmark.policy);
	benchmark.measure.schedule = schedule;
	benchmark.measure.sampler.enabled = recorder->symbolizer != NULL;
	benchmark.measure.sampler.rate_hz = RATE_HZ;
	benchmark.measure.sampler.unsampled_share = 0.0;
	benchmark.measure.max_pairs = pairs;
	benchmark.measure.budget_ns = recorder->budget_ns;
	recorder->run.seed = (uint64_t)fg_clock_wall_ns();
	status = fg_runner_create(&options, &runner, err);
	if (status != FG_OK)
		goto out;
	status = fg_runner_start(runner, &benchmark, &job, err);
	if (status != FG_OK)
		goto out;
	do {
		status = fg_runner_next(job, pairs, &state, &event, err);
		if (status == FG_OK && state == FG_RUNNER_REPEATED)
			status = take_repetition(recorder, &event, err);
	} while (status == FG_OK && !fg_runner_is_over(state));
	fg_runner_finish(job);
	if (status != FG_OK)
		goto out;
	if (state == FG_RUNNER_FAILED)
		status = fg_error_set(err, FG_ECHILD, "%s: %s", programs[1],
				      recorder->run.series[0].failure);
out:
	fg_runner_free(runner);
	return status;
}

static int record_times(struct recorder *recorder, char **programs, enum fg_schedule schedule,
			uint32_t pairs, struct fg_error *err)
{
	uint32_t first = count_pairs(recorder->path);

	if (first >= pairs)
		return FG_OK;
	FG_TRY(measure(recorder, programs, schedule, pairs - first, err));
	return append_times(recorder, first, err);
}

static int record_profiles(struct recorder *recorder, char **programs, uint32_t pairs,
			   struct fg_error *err)
{
	int status = profile_file_load(&recorder->profiles, recorder->path, err);
	uint32_t first = profile_file_pairs(&recorder->profiles);

	if (status != FG_OK && status != FG_ENOENT)
		return status;
	if (first >= pairs)
		return FG_OK;
	recorder->old_rows = recorder->profiles.set.row_count;
	recorder->symbolizer = fg_symbolizer_new(&(struct fg_symbolizer_options){0});
	status = measure(recorder, programs, FG_SCHEDULE_DUET, pairs - first, err);
	if (status == FG_OK) {
		adopt_rows(recorder, first);
		status = profile_file_save(&recorder->profiles, recorder->path, err);
	}
	fg_symbolizer_free(recorder->symbolizer);
	free(recorder->repetition_of_row);
	return status;
}

struct request {
	enum fg_schedule schedule;
	bool sampled;
	int64_t pairs;
	int64_t milliseconds;
};

static bool parse_request(int argc, char **argv, struct request *request)
{
	*request = (struct request){.schedule = FG_SCHEDULE_DUET, .milliseconds = INT64_C(3600000)};
	if (argc < 6 || argc > 7)
		return false;
	request->sampled = strcmp(argv[4], "sampled") == 0;
	if (!request->sampled &&
	    (!fg_schedule_parse(argv[4], &request->schedule) ||
	     request->schedule == FG_SCHEDULE_STORED || request->schedule == FG_SCHEDULE_AUTO))
		return false;
	if (argc == 7 && (fg_parse_int64(argv[6], &request->milliseconds, NULL) != FG_OK ||
			  request->milliseconds < 0 || request->milliseconds > 1000000000))
		return false;
	return fg_parse_int64(argv[5], &request->pairs, NULL) == FG_OK && request->pairs >= 0 &&
	       request->pairs <= 100000;
}

int main(int argc, char **argv)
{
	struct recorder recorder = {0};
	struct fg_error err = {0};
	struct request request;
	uint32_t pairs;
	int status;

	if (!parse_request(argc, argv, &request)) {
		(void)fprintf(stderr,
			      "usage: %s FILE BASELINE CANDIDATE duet|abba|sampled PAIRS "
			      "[MILLISECONDS]\n",
			      argv[0]);
		return 2;
	}
	(void)signal(SIGINT, on_signal);
	(void)signal(SIGTERM, on_signal);
	pairs = (uint32_t)request.pairs;
	recorder.path = argv[1];
	recorder.budget_ns = (1 + request.milliseconds) * (FG_NS_PER_S / 1000);
	fg_run_init(&recorder.run);
	profile_file_init(&recorder.profiles);
	if (request.sampled)
		status = record_profiles(&recorder, argv + 2, pairs, &err);
	else
		status = record_times(&recorder, argv + 2, request.schedule, pairs, &err);
	profile_file_release(&recorder.profiles);
	fg_run_release(&recorder.run);
	if (status != FG_OK)
		(void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
	return status == FG_OK && !interrupted ? 0 : 1;
}
