// SPDX-License-Identifier: Apache-2.0
#include "cli/session/counts.h"

#include "base/fs.h"
#include "base/text.h"
#include "gate/exact.h"
#include "model/build_difference.h"
#include "profile/ingest.h"
#include "profile/trace_profile.h"
#include "runner/extra.h"
#include "runner/preload.h"

#include <unistd.h>

enum {
	REPETITIONS_MAX = 2,
	/* The pairs of exact repetitions begin at FG_EXACT_FIRST_PAIR. */
	FIRST_PAIR = FG_EXACT_FIRST_PAIR + 16
};

struct counter {
	struct fg_session *session;
	struct fg_runner_job *job;
	const struct fg_benchmark *benchmark;
	struct fg_profile_set *set;
	const char *library;
	bool has_baseline; /* it runs here, not in a stored run */
	char *why;         /* why nothing is counted */
};

static void explain(struct counter *counter, const char *why)
{
	free(counter->why);
	counter->why = fg_xstrdup(why);
}

static void take(struct counter *counter, const struct fg_profile *profile, enum fg_arm arm,
		 unsigned repetition)
{
	const struct fg_benchmark *benchmark = counter->benchmark;
	struct fg_ingest_row row = {.arm = (uint8_t)arm, .pair = FIRST_PAIR + repetition};

	if (arm == FG_ARM_BASELINE && benchmark->baseline_command.argc > 0) {
		row.program = fg_fs_base_name(benchmark->baseline_command.argv[0]);
		row.called = fg_fs_base_name(benchmark->command.argv[0]);
	}
	fg_profile_ingest_profile(counter->set, profile, &row, NULL);
}

/* With the counting library in it, and without a clock: nothing is sampled. */
static int run_counted(struct counter *counter, enum fg_arm arm, const char *folder,
		       struct fg_error *err)
{
	char *counters = fg_text_join(counter->benchmark->measure.also, ",");
	const struct fg_preload preload = {
		.library = counter->library,
		.counters = counters,
		.trace_folder = folder,
		.clock = FG_SAMPLE_NOTHING,
		.follow_children = true,
	};
	char *variables[FG_PRELOAD_VARIABLES_MAX];
	const size_t count = fg_preload_variables(&preload, environ, variables);
	const char **words = fg_xcalloc(count + 2, sizeof(words[0]));
	const struct fg_extra extra = {
		.arm = arm, .before = words, .timeout_ns = counter->benchmark->timeout_ns};
	char *why = NULL;
	int status = FG_OK;

	/* `env` becomes the command: it is not counted itself. */
	words[0] = "env";
	for (size_t i = 0; i < count; i++)
		words[i + 1] = variables[i];
	status = fg_runner_extra(counter->job, &extra, &why, err);
	if (status == FG_ECHILD)
		explain(counter, why ? why : "the program failed");
	free(why);
	free(words);
	free(counters);
	for (size_t i = 0; i < count; i++)
		free(variables[i]);
	return status;
}

/* *counted false: there is no count of this side, and counter->why says why. */
static int count_once(struct counter *counter, enum fg_arm arm, unsigned repetition, bool *counted,
		      struct fg_error *err)
{
	struct fg_profile profile;
	struct fg_error found = {0};
	char *folder = NULL;
	int status = fg_runner_extra_folder(counter->job, &folder, err);

	*counted = false;
	if (status != FG_OK)
		return status;
	status = run_counted(counter, arm, folder, err);
	if (status == FG_ECHILD) {
		status = FG_OK;
		goto out;
	}
	if (status != FG_OK)
		goto out;
	if (fg_profile_read_traces(folder, counter->session->symbolizer, &profile, &found) !=
	    FG_OK) {
		explain(counter, found.message);
		goto out;
	}
	take(counter, &profile, arm, repetition);
	fg_profile_release(&profile);
	*counted = true;
out:
	fg_runner_extra_remove(counter->job, folder);
	return status;
}

static int count_both(struct counter *counter, unsigned repetition, bool *counted,
		      struct fg_error *err)
{
	*counted = true;
	for (unsigned arm = 0; arm < FG_ARM_COUNT && *counted; arm++) {
		int status = FG_OK;

		if (arm == FG_ARM_BASELINE && !counter->has_baseline)
			continue;
		status = count_once(counter, (enum fg_arm)arm, repetition, counted, err);
		if (status != FG_OK)
			return status;
	}
	return FG_OK;
}

static const struct fg_profile_row *row_of(const struct fg_profile_set *set, uint8_t arm,
					   uint16_t measure)
{
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		if (row->arm == arm && row->measure == measure && row->pair == FIRST_PAIR)
			return row;
	}
	return NULL;
}

/* Does the first repetition of both sides agree in every total? */
static bool is_equal(const struct fg_profile_set *set)
{
	for (size_t id = 0; id < fg_measure_count(&set->measures); id++) {
		const struct fg_profile_row *before = row_of(set, FG_ARM_BASELINE, (uint16_t)id);
		const struct fg_profile_row *after = row_of(set, FG_ARM_CANDIDATE, (uint16_t)id);

		if (!before != !after)
			return false;
		if (before && (before->total < after->total || before->total > after->total))
			return false;
	}
	return true;
}

static bool is_counted_already(const struct fg_profile_set *set)
{
	for (size_t i = 0; i < set->row_count; i++) {
		if (set->rows[i].arm == FG_ARM_CANDIDATE && set->rows[i].pair >= FIRST_PAIR)
			return true;
	}
	return false;
}

static int count(struct counter *counter, struct fg_error *err)
{
	bool counted = true;

	for (unsigned i = 0; i < REPETITIONS_MAX && counted; i++) {
		const int status = count_both(counter, i, &counted, err);

		if (status != FG_OK)
			return status;
		if (i == 0 && counter->has_baseline && is_equal(counter->set))
			break;
	}
	return FG_OK;
}

int fg_session_count_events(struct fg_session *session, struct fg_runner_job *job,
			    const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			    struct fg_error *err)
{
	const size_t *indexes = NULL;
	struct counter counter = {
		.session = session, .job = job, .benchmark = benchmark, .set = set};
	struct fg_series *series = NULL;
	struct fg_error found = {0};
	char *plain = NULL;
	char *library = NULL;
	int status = FG_OK;

	(void)fg_runner_job_series(job, &indexes);
	series = &session->run.series[indexes[0]];
	counter.has_baseline =
		session->roots[FG_ARM_BASELINE] && series->schedule != FG_SCHEDULE_STORED;
	if (is_counted_already(set))
		return FG_OK; /* a session before this one counted */
	if (fg_preload_library(&plain, &found) != FG_OK ||
	    fg_preload_counting_library(plain, &library, &found) != FG_OK)
		explain(&counter, found.message);
	counter.library = library;
	if (library)
		status = count(&counter, err);
	if (status == FG_OK && counter.why) {
		char *text = fg_xasprintf("events are not counted: %s", counter.why);

		fg_environment_set(&series->build[FG_ARM_CANDIDATE], FG_FACT_COUNTS, text, false);
		free(text);
	}
	free(counter.why);
	free(library);
	free(plain);
	return status;
}
