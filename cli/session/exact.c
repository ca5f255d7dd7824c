// SPDX-License-Identifier: Apache-2.0
#include "cli/session/exact.h"

#include "base/clock.h"
#include "cli/session/affected.h"
#include "cli/session/count_both.h"
#include "gate/exact.h"
#include "model/build_difference.h"
#include "profile/exchange/import.h"
#include "runner/execute/exact.h"

struct meter {
	struct fg_session *session;
	const struct fg_benchmark *benchmark;
	struct fg_runner_job *job;
	int64_t until_ns; /* monotonic: the end of its budget */
	const char *used; /* the meter used on both sides */
	char *why;        /* why no meter, or no better one, was used */
};

/* Only the program's total, because its functions are unknown. */
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

static int count_once(void *context, enum fg_arm arm, struct fg_profile *profile, bool *counted,
		      struct fg_error *err)
{
	struct meter *meter = context;
	const struct fg_exact_request request = {
		.arm = arm, .timeout_ns = meter->until_ns - fg_clock_monotonic_ns()};
	struct fg_exact_reading reading = {0};
	struct fg_error found = {0};
	int status = FG_OK;

	*counted = false;
	if (request.timeout_ns <= 0) {
		free(meter->why);
		meter->why = fg_xstrdup("measure.exact_budget is used up");
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
	if (profile_of(&reading, profile, &found) != FG_OK) {
		free(meter->why);
		meter->why = fg_xstrdup(found.message);
		goto out;
	}
	if (meter->benchmark->measure.affected == FG_AFFECTED_ALWAYS)
		fg_session_keep_executed(meter->session, meter->job, &request, &reading);
	meter->used = reading.meter;
	*counted = true;
out:
	fg_exact_reading_release(&reading);
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

static bool is_equal(const struct fg_profile_set *set, uint32_t first_pair)
{
	(void)first_pair; /* instructions have no other pairs */
	return fg_exact_is_equal(set);
}

int fg_session_count_exactly(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			     struct fg_error *err)
{
	const size_t *indexes = NULL;
	struct meter meter = {
		.session = session,
		.benchmark = benchmark,
		.job = job,
		.until_ns = fg_clock_monotonic_ns() + benchmark->measure.exact_budget_ns,
	};
	struct fg_count_both both = {
		.benchmark = benchmark,
		.set = set,
		.first_pair = FG_EXACT_FIRST_PAIR,
		.count = count_once,
		.is_equal = is_equal,
		.context = &meter,
	};
	unsigned done = 0;
	int status = FG_OK;

	(void)fg_runner_job_series(job, &indexes);
	both.has_baseline = session->roots[FG_ARM_BASELINE] &&
			    session->run.series[indexes[0]].schedule != FG_SCHEDULE_STORED;
	if (fg_exact_has(set, FG_ARM_CANDIDATE))
		return FG_OK; /* an earlier session already counted */
	status = fg_session_count_both(&both, &done, err);
	if (status == FG_OK)
		record(&meter, &session->run.series[indexes[0]], done > 0);
	free(meter.why);
	return status;
}
