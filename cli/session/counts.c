// SPDX-License-Identifier: Apache-2.0
#include "cli/session/counts.h"

#include "base/text.h"
#include "cli/session/count_both.h"
#include "gate/exact.h"
#include "model/build_difference.h"
#include "profile/trace_profile.h"
#include "runner/extra.h"
#include "runner/preload.h"

#include <unistd.h>

enum {
	/* The pairs of exact repetitions begin at FG_EXACT_FIRST_PAIR. */
	FIRST_PAIR = FG_EXACT_FIRST_PAIR + 16
};

struct counter {
	struct fg_session *session;
	struct fg_runner_job *job;
	const struct fg_benchmark *benchmark;
	const char *library;
	char *why; /* why nothing is counted, or not as often as it should be */
};

static void explain(struct counter *counter, const char *why)
{
	free(counter->why);
	counter->why = fg_xstrdup(why);
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

static int count_once(void *context, enum fg_arm arm, struct fg_profile *profile, bool *counted,
		      struct fg_error *err)
{
	struct counter *counter = context;
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
	if (fg_profile_read_traces(folder, counter->session->symbolizer, profile, &found) == FG_OK)
		*counted = true;
	else
		explain(counter, found.message);
out:
	fg_runner_extra_remove(counter->job, folder);
	return status;
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

static void record(const struct counter *counter, struct fg_series *series, unsigned done)
{
	char *text = fg_xasprintf("events %s: %s",
				  done > 0 ? "were not counted a second time" : "are not counted",
				  counter->why);

	fg_environment_set(&series->build[FG_ARM_CANDIDATE], FG_FACT_COUNTS, text, false);
	free(text);
}

int fg_session_count_events(struct fg_session *session, struct fg_runner_job *job,
			    const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			    struct fg_error *err)
{
	const size_t *indexes = NULL;
	struct counter counter = {.session = session, .job = job, .benchmark = benchmark};
	struct fg_count_both both = {
		.benchmark = benchmark,
		.set = set,
		.first_pair = FIRST_PAIR,
		.count = count_once,
		.is_equal = is_equal,
		.context = &counter,
	};
	struct fg_series *series = NULL;
	struct fg_error found = {0};
	char *plain = NULL;
	char *library = NULL;
	unsigned done = 0;
	int status = FG_OK;

	(void)fg_runner_job_series(job, &indexes);
	series = &session->run.series[indexes[0]];
	both.has_baseline =
		session->roots[FG_ARM_BASELINE] && series->schedule != FG_SCHEDULE_STORED;
	if (is_counted_already(set))
		return FG_OK; /* a session before this one counted */
	if (fg_preload_library(&plain, &found) != FG_OK ||
	    fg_preload_counting_library(plain, &library, &found) != FG_OK)
		explain(&counter, found.message);
	counter.library = library;
	if (library)
		status = fg_session_count_both(&both, &done, err);
	if (status == FG_OK && counter.why)
		record(&counter, series, done);
	free(counter.why);
	free(library);
	free(plain);
	return status;
}
