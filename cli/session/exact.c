// SPDX-License-Identifier: Apache-2.0
#include "cli/session/exact.h"

#include "base/clock.h"
#include "base/fs.h"
#include "exchange/import.h"
#include "gate/exact.h"
#include "model/build_difference.h"
#include "profile/ingest.h"
#include "runner/exact.h"

enum {
	REPETITIONS_MAX = 2,
};

struct meter {
	struct fg_runner_job *job;
	const struct fg_benchmark *benchmark;
	struct fg_profile_set *set;
	bool has_baseline; /* it runs here, not in a stored run */
	int64_t until_ns;  /* monotonic: the end of its budget */
	const char *used;  /* meter of both sides */
	char *why;         /* why not a better one, or none */
};

/* The whole program's count, where nothing tells its functions. */
static void make_profile(double instructions, struct fg_profile *profile)
{
	const struct fg_measure measure = fg_measure_describe("instructions", NULL);
	struct fg_sample *sample = NULL;

	fg_profile_init(profile);
	fg_profile_set_first_measure(profile, &measure);
	sample = fg_profile_add_sample(profile);
	sample->value = instructions;
	sample->count = 1;
	sample->kind = FG_TIME_BOTH;
	fg_profile_add_up(profile, sample);
}

static int profile_of(const struct fg_exact_reading *reading, struct fg_profile *profile,
		      struct fg_error *err)
{
	const struct fg_import_options options = {0};

	if (reading->callgrind)
		return fg_import_read(fg_import_find("callgrind"), reading->callgrind,
				      reading->callgrind_size, &options, profile, err);
	make_profile(reading->instructions, profile);
	return FG_OK;
}

static void take(struct meter *meter, const struct fg_profile *profile, enum fg_arm arm,
		 unsigned repetition)
{
	const struct fg_benchmark *benchmark = meter->benchmark;
	struct fg_ingest_row row = {.arm = (uint8_t)arm, .pair = FG_EXACT_FIRST_PAIR + repetition};

	if (arm == FG_ARM_BASELINE && benchmark->baseline_command.argc > 0) {
		row.program = fg_fs_base_name(benchmark->baseline_command.argv[0]);
		row.called = fg_fs_base_name(benchmark->command.argv[0]);
	}
	fg_profile_ingest_profile(meter->set, profile, &row, NULL);
}

/* False: there is no count of this side. */
static int count_once(struct meter *meter, enum fg_arm arm, unsigned repetition, bool *counted,
		      struct fg_error *err)
{
	const struct fg_exact_request request = {
		.arm = arm, .timeout_ns = meter->until_ns - fg_clock_monotonic_ns()};
	struct fg_exact_reading reading = {0};
	struct fg_profile profile;
	struct fg_error found = {0};
	int status = FG_OK;

	*counted = false;
	if (request.timeout_ns <= 0) {
		free(meter->why);
		meter->why = fg_xstrdup("measure.exact.budget is used up");
		return FG_OK;
	}
	status = fg_runner_exact(meter->job, &request, &reading, err);
	if (status != FG_OK)
		return status;
	free(meter->why);
	meter->why = reading.why;
	reading.why = NULL;
	if (!reading.meter)
		goto out;
	if (profile_of(&reading, &profile, &found) != FG_OK) {
		free(meter->why);
		meter->why = fg_xstrdup(found.message);
		goto out;
	}
	take(meter, &profile, arm, repetition);
	fg_profile_release(&profile);
	meter->used = reading.meter;
	*counted = true;
out:
	fg_exact_reading_release(&reading);
	return FG_OK;
}

static int count_both(struct meter *meter, unsigned repetition, bool *counted, struct fg_error *err)
{
	*counted = true;
	for (unsigned arm = 0; arm < FG_ARM_COUNT && *counted; arm++) {
		int status = FG_OK;

		if (arm == FG_ARM_BASELINE && !meter->has_baseline)
			continue;
		status = count_once(meter, (enum fg_arm)arm, repetition, counted, err);
		if (status != FG_OK)
			return status;
	}
	return FG_OK;
}

static void record(const struct meter *meter, struct fg_series *series, bool counted)
{
	char *text = NULL;

	if (counted)
		text = fg_xasprintf("instructions counted by %s%s%s", meter->used,
				    meter->why ? "; " : "", meter->why ? meter->why : "");
	else
		text = fg_xasprintf("instructions are not counted: %s",
				    meter->why ? meter->why : "no meter is allowed");
	fg_environment_set(&series->build[FG_ARM_CANDIDATE], FG_FACT_EXACT, text, false);
	free(text);
}

int fg_session_count_exactly(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			     struct fg_error *err)
{
	const size_t *indexes = NULL;
	struct meter meter = {
		.job = job,
		.benchmark = benchmark,
		.set = set,
		.until_ns = fg_clock_monotonic_ns() + benchmark->measure.exact_budget_ns,
	};
	bool counted = true;
	int status = FG_OK;

	(void)fg_runner_job_series(job, &indexes);
	meter.has_baseline = session->roots[FG_ARM_BASELINE] &&
			     session->run.series[indexes[0]].schedule != FG_SCHEDULE_STORED;
	if (fg_exact_has(set, FG_ARM_CANDIDATE))
		return FG_OK; /* a session before this one counted */
	for (unsigned i = 0; i < REPETITIONS_MAX && counted; i++) {
		status = count_both(&meter, i, &counted, err);
		if (status != FG_OK)
			goto out;
		/* A first count stands without a second one. */
		counted |= i > 0;
		if (i == 0 && meter.has_baseline && fg_exact_is_equal(set))
			break;
	}
	record(&meter, &session->run.series[indexes[0]], counted);
out:
	free(meter.why);
	return status;
}
