// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "cli/session/session.h"
#include "cli/session/steps.h"
#include "profile/attach/sampler.h"
#include "profile/ingest.h"
#include "runner/execute/extra.h"
#include "runner/target.h"

/* ---- samples of static programs ---- */

enum {
	/* number of pairs sampled for views and trends if the verdict names no function */
	PAIRS_TO_KNOW = 3,
	PAIRS_TO_BLAME = 30, /* maximum number of pairs sampled if a function may be named */
	/* attempts per sample: on a busy machine, a short program may end before it is sampled */
	TRIES = 10,
	RATE_HZ = 1000,
};

/* Share of CPU time that sampling may cost: more than during pairs, as nothing is timed here. */
static const double budget = 0.2;

struct outside {
	struct fg_session *session;
	struct fg_runner_job *job;
	const struct fg_benchmark *benchmark;
	struct fg_series *series;
	struct fg_profile_set *set;
	struct fg_outside_sampling sampling;
	struct fg_outside_result result;
	int status; /* the sampler's status */
	struct fg_error error;
	char *why; /* reason why sampling stopped; NULL if nothing failed */
	unsigned pairs;
};

/*
 * Discards the program's output, because nobody reads it during sampling. Waits for the program
 * only after sampling, because the wait would consume the sampler's events.
 */
static int observe(void *context, const struct fg_process_options *options,
		   struct fg_process_result *result, struct fg_error *err)
{
	struct outside *o = context;
	struct fg_process_options silent = *options;
	struct fg_process process;
	int status = FG_OK;

	silent.stdout_to = FG_STREAM_DISCARD;
	silent.stderr_to = FG_STREAM_DISCARD;
	FG_TRY(fg_process_start(&silent, &process, err));
	o->sampling.pid = process.pid;
	o->sampling.duration_ns = options->timeout_ns;
	o->sampling.interrupted = options->interrupted;
	o->status = fg_outside_sample(&o->sampling, &o->result, &o->error);
	status = fg_process_wait(&process, 1, result, err);
	fg_process_release(&process);
	return status;
}

static void explain(struct outside *o, const char *why)
{
	free(o->why);
	o->why = fg_xstrdup(why);
}

static int take(struct outside *o, enum fg_arm arm, uint32_t pair, const char *folder)
{
	const struct fg_ingest_row row = fg_session_row(o->benchmark, arm, pair);
	struct fg_error why = {0};

	if (fg_profile_ingest(o->set, folder, o->session->open.symbolizer, &row, NULL, &why) ==
	    FG_OK) {
		fg_session_name_files(o->session, o->set);
		return FG_OK;
	}
	explain(o, why.message);
	return FG_ECHILD;
}

/* FG_ECHILD: the execution has no sample; o->why has the reason. */
static int sample_once(struct outside *o, enum fg_arm arm, uint32_t pair, struct fg_error *err)
{
	const struct fg_extra extra = {.arm = arm,
				       .timeout_ns = o->benchmark->timeout_ns,
				       .observe = observe,
				       .context = o};
	char *folder = NULL;
	char *why = NULL;
	int status = FG_OK;

	FG_TRY(fg_runner_extra_folder(o->job, &folder, err));
	o->sampling.folder = folder;
	o->status = FG_OK;
	status = fg_runner_extra(o->job, &extra, &why, err);
	if (status != FG_OK) {
		explain(o, why ? why : "the program failed");
		goto out;
	}
	if (o->status != FG_OK) {
		explain(o, o->error.code == FG_ENOENT ? "the program ends before it can be sampled"
						      : o->error.message);
		status = FG_ECHILD;
		goto out;
	}
	status = take(o, arm, pair, folder);
out:
	free(why);
	fg_runner_extra_remove(o->job, folder);
	return status;
}

static int sample_side(struct outside *o, enum fg_arm arm, uint32_t pair, struct fg_error *err)
{
	int status = FG_OK;

	for (unsigned i = 0; i < TRIES; i++) {
		status = sample_once(o, arm, pair, err);
		if (status != FG_ECHILD || o->status == FG_OK || o->error.code != FG_ENOENT)
			break;
	}
	return status;
}

/* Samples both sides. The side that ran second runs first in the next pair. */
static int sample_pair(struct outside *o, uint32_t pair, struct fg_error *err)
{
	const struct fg_target *targets = fg_runner_job_targets(o->job);

	for (unsigned i = 0; i < FG_ARM_COUNT; i++) {
		const enum fg_arm arm = (enum fg_arm)((i + o->pairs) % FG_ARM_COUNT);

		if (!targets[arm].command)
			continue;
		FG_TRY(sample_side(o, arm, pair, err));
	}
	o->pairs++;
	return FG_OK;
}

/* Returns the numbers of the pairs that count; the caller frees them. */
static uint32_t *pairs_of(const struct fg_series *series, size_t *count)
{
	uint32_t *pairs = fg_xcalloc(series->repetition_count + 1, sizeof(pairs[0]));

	*count = 0;
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *repetition = &series->repetitions[i];

		if (repetition->aside == 0 && repetition->arm == FG_ARM_CANDIDATE &&
		    (*count == 0 || pairs[*count - 1] != repetition->pair))
			pairs[(*count)++] = repetition->pair;
	}
	return pairs;
}

/*
 * Samples PAIRS_TO_KNOW pairs, and more if a verdict may name a function, as long as sampling takes
 * less time than the pairs took.
 */
static int sample_pairs(struct outside *o, struct fg_error *err)
{
	const struct fg_session *session = o->session;
	const bool may_blame =
		session->result.has_look && session->result.look.outcome != FG_OUTCOME_PASS;
	const unsigned most = may_blame ? PAIRS_TO_BLAME : PAIRS_TO_KNOW;
	const int64_t until_ns =
		fg_clock_monotonic_ns() + (int64_t)(o->series->seconds * (double)FG_NS_PER_S);
	size_t count = 0;
	uint32_t *pairs = pairs_of(o->series, &count);
	int status = FG_OK;

	for (size_t i = 0; i < count && i < most && status == FG_OK; i++) {
		if (i >= PAIRS_TO_KNOW && fg_clock_monotonic_ns() > until_ns)
			break;
		status = sample_pair(o, pairs[i], err);
	}
	free(pairs);
	return status == FG_ECHILD ? FG_OK : status;
}

static void record(struct outside *o)
{
	struct fg_sampling *sampling = &o->series->sampling;
	char *text = o->pairs == 0
			     ? fg_xasprintf("no function is known: a static program can only be "
					    "sampled from outside, and %s",
					    o->why ? o->why : "no pair can be used")
			     : fg_xasprintf("functions are from %u more executions per side, "
					    "sampled from outside: nothing can be preloaded into a "
					    "static program",
					    o->pairs);

	fg_series_remark(o->series, FG_REMARK_OUTSIDE, text);
	if (o->pairs > 0) {
		sampling->rate_hz = (double)FG_NS_PER_S / (double)o->result.period_ns;
		sampling->expected_cost = 0; /* the pairs ran without a sampler */
		(void)snprintf(sampling->clock, sizeof(sampling->clock),
			       "from outside, after the pairs");
	}
	free(o->why);
}

bool fg_session_samples_outside(const struct fg_runner_job *job,
				const struct fg_benchmark *benchmark)
{
	return benchmark->measure.sampler.enabled && !benchmark->measure.exact_only &&
	       fg_targets_are_outside(fg_runner_job_targets(job));
}

int fg_session_sample_outside(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			      struct fg_error *err)
{
	struct outside o = {
		.session = session,
		.job = job,
		.benchmark = benchmark,
		.series = fg_session_series(session, job),
		.set = set,
		.sampling = {.period_ns = FG_NS_PER_S / RATE_HZ,
			     .elapsed = benchmark->measure.sampler.clock == FG_SAMPLE_WALL,
			     .budget = budget},
	};
	int status = FG_OK;

	if (o.series->remarks[FG_REMARK_OUTSIDE])
		return FG_OK; /* an earlier session has sampled already */
	status = sample_pairs(&o, err);
	record(&o);
	return status;
}
