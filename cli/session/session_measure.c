// SPDX-License-Identifier: Apache-2.0
/*
 * Measuring: the runner executes, each repetition is kept and profiled, the gate says when to stop.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "cli/session/affected.h"
#include "cli/session/counts.h"
#include "cli/session/exact.h"
#include "cli/session/hot_functions.h"
#include "cli/session/measure_times.h"
#include "cli/session/sample_outside.h"
#include "cli/session/samples.h"
#include "cli/session/session.h"
#include "cli/session/stuck.h"
#include "model/build_difference.h"
#include "outside/kernel_traces.h"
#include "profile/ingest.h"
#include "profile/trace_profile.h"
#include "runner/code_facts.h"
#include "runner/runner.h"

/* The profile set of a series, made when its first sample arrives. */
static struct fg_profile_set *profile_of(struct fg_session *session, size_t series)
{
	if (!session->profiles[series]) {
		session->profiles[series] = fg_xcalloc(1, sizeof(*session->profiles[series]));
		fg_profile_set_init(session->profiles[series], session->run.series[series].name);
	}
	return session->profiles[series];
}

static void make_room_for_profiles(struct fg_session *session)
{
	const size_t wanted = session->run.series_count;

	if (wanted <= session->profile_count)
		return;
	session->profiles =
		fg_xreallocarray(session->profiles, wanted, sizeof(session->profiles[0]));
	for (size_t i = session->profile_count; i < wanted; i++)
		session->profiles[i] = NULL;
	session->profile_count = wanted;
}

/*
 * The two commands may be different programs: the baseline's functions are filed under the
 * candidate's name, or they would never match.
 */
static struct fg_ingest_row row_of(const struct fg_session *session,
				   const struct fg_repetition *done)
{
	const struct fg_benchmark *benchmark = session->benchmarks[session->progress.index - 1];
	struct fg_ingest_row row = {.arm = done->arm, .pair = done->pair, .aside = done->aside};

	if (done->arm == FG_ARM_BASELINE && benchmark->baseline_command.argc > 0) {
		row.program = fg_fs_base_name(benchmark->baseline_command.argv[0]);
		row.called = fg_fs_base_name(benchmark->command.argv[0]);
	}
	return row;
}

/*
 * The runner found the same files on both command lines. But the traces show what was actually
 * loaded and started: a rebuilt plugin, or a program that another one runs.
 */
static void check_mapped(struct fg_session *session, struct fg_series *series)
{
	const char *baseline = fg_environment_get(&series->build[FG_ARM_BASELINE], FG_FACT_MAPPED);
	const char *candidate =
		fg_environment_get(&series->build[FG_ARM_CANDIDATE], FG_FACT_MAPPED);

	FG_ASSERT(series);
	if (!series->identical || !baseline || !candidate || strcmp(baseline, candidate) == 0)
		return;
	series->identical = false;
	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli,
		   "%s: the program is the same on both sides, but what it loads or starts is not",
		   series->name);
}

static enum fg_keep_samples keeps(const struct fg_session *session)
{
	return session->store ? session->benchmarks[session->progress.index - 1]
					->measure.sampler.keep_samples
			      : FG_KEEP_NEVER;
}

/* Stored now; the end of the run decides whether they stay. */
static void keep_samples(struct fg_session *session, size_t index, const struct fg_ingest_row *row,
			 const struct fg_profile *profile)
{
	const struct fg_samples_key key = {.store = session->store_path,
					   .run = session->run.id,
					   .series = index,
					   .arm = row->arm,
					   .pair = row->pair};
	struct fg_error why = {0};

	if (fg_samples_keep(&key, profile, &why) == FG_OK || session->told_not_kept)
		return;
	fg_progress_clear(&session->progress);
	fg_cli_warn(session->cli, "samples are not kept: %s", why.message);
	session->told_not_kept = true;
}

/* The traces say which clock could be had on this host. */
static void note_clock(const struct fg_profile *profile, struct fg_sampling *sampling)
{
	if (*sampling->clock || !profile->clock)
		return;
	(void)snprintf(sampling->clock, sizeof(sampling->clock), "%s", profile->clock);
	(void)snprintf(sampling->unseen, sizeof(sampling->unseen), "%s",
		       profile->unseen ? profile->unseen : "");
}

static int read_traces(struct fg_session *session, size_t index, const char *trace_folder,
		       const struct fg_ingest_row *row, struct fg_ingest_result *result,
		       struct fg_error *err)
{
	struct fg_profile profile;
	int status = FG_OK;

	fg_kernel_naming_add(session->kernel, trace_folder);
	status = fg_profile_read_traces(trace_folder, session->symbolizer, &profile, err);
	if (status != FG_OK)
		return status;
	fg_profile_ingest_profile(profile_of(session, index), &profile, row, result);
	note_clock(&profile, &session->run.series[index].sampling);
	if (keeps(session) != FG_KEEP_NEVER)
		keep_samples(session, index, row, &profile);
	fg_profile_release(&profile);
	return FG_OK;
}

static void keep_mapped(struct fg_environment *build, const struct fg_ingest_result *result)
{
	fg_environment_set(build, FG_FACT_MAPPED, result->other_code, false);
	if (*result->other_names)
		fg_environment_set(build, FG_FACT_MODULES, result->other_names, false);
}

static void take_samples(struct fg_session *session, size_t index, const struct fg_repetition *done,
			 const char *trace_folder)
{
	struct fg_series *series = &session->run.series[index];
	struct fg_environment *build = &series->build[done->arm];
	struct fg_ingest_row row = row_of(session, done);
	struct fg_ingest_result result = {0};
	struct fg_error why = {0};

	if (!fg_environment_get(build, FG_FACT_MAPPED))
		row.known_build = build;
	/* A repetition without samples still has its times. */
	if (read_traces(session, index, trace_folder, &row, &result, &why) == FG_OK) {
		if (row.known_build)
			keep_mapped(build, &result);
		check_mapped(session, series);
		fg_runner_tell_sampled(session->runner, (enum fg_arm)done->arm, result.total_ns,
				       done->values[FG_METRIC_CPU_TIME]);
	} else if (!session->told_no_samples) {
		fg_progress_clear(&session->progress);
		fg_cli_warn(session->cli, "no profile: %s", why.message);
		session->told_no_samples = true;
	}
	fg_ingest_result_release(&result);
}

/* Store the measurement before its samples are processed, which takes longer. */
static int on_repetition(void *context, size_t series, size_t repetition, const char *trace_folder,
			 struct fg_error *err)
{
	struct fg_session *session = context;
	const struct fg_repetition *done = &session->run.series[series].repetitions[repetition];
	int status = FG_OK;

	make_room_for_profiles(session);
	if (session->profiles[series])
		fg_profile_set_settle(session->profiles[series], done->pair, done->aside);
	if (session->store)
		status = fg_store_progress(session->store, &session->run, session->profiles, err);
	if (status != FG_OK || !trace_folder)
		return status;
	take_samples(session, series, done, trace_folder);
	if (session->store)
		status = fg_store_progress(session->store, &session->run, session->profiles, err);
	return status;
}

static int on_given_up(void *context, size_t series, struct fg_error *err)
{
	struct fg_session *session = context;

	make_room_for_profiles(session);
	if (session->profiles[series])
		fg_profile_set_give_up(session->profiles[series]);
	return session->store
		       ? fg_store_progress(session->store, &session->run, session->profiles, err)
		       : FG_OK;
}

static bool is_unaffected(void *context, struct fg_runner_job *job)
{
	struct fg_session *session = context;

	return fg_session_is_unaffected(session, job,
					session->benchmarks[session->progress.index - 1]);
}

static void on_progress(void *context, const struct fg_runner_progress *progress)
{
	struct fg_session *session = context;

	fg_progress_show(&session->progress, progress, session->has_look ? &session->look : NULL);
}

static void on_note(void *context, const struct fg_series *series, const char *note)
{
	struct fg_session *session = context;

	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli, "%s: %s", series->name, note);
}

/* The functions that spend most of the time are those that a verdict may name. */
static void compare_code(const struct fg_session *session, struct fg_runner_job *job)
{
	const size_t *indexes = NULL;
	const size_t count = fg_runner_job_series(job, &indexes);
	const struct fg_profile_set *set =
		count && indexes[0] < session->profile_count ? session->profiles[indexes[0]] : NULL;
	struct fg_code_names names = {0};

	if (!session->roots[FG_ARM_BASELINE])
		return;
	if (set)
		fg_session_hot_functions(set, &names);
	fg_runner_compare_code(job, &names);
	free(names.items);
}

/*
 * May it be executed once more, to be counted?  A harness decides by itself how often it repeats:
 * its counts would say how long it ran.
 */
static bool may_be_counted(const struct fg_series *series, const struct fg_benchmark *benchmark,
			   enum fg_runner_state state)
{
	return benchmark->harness == FG_HARNESS_NONE && !series->identical && !series->failure &&
	       !series->only_in[FG_ARM_BASELINE] && !series->only_in[FG_ARM_CANDIDATE] &&
	       (state == FG_RUNNER_REACHED || state == FG_RUNNER_EXHAUSTED);
}

static bool is_exact_wanted(const struct fg_session *session, const struct fg_benchmark *benchmark)
{
	const struct fg_measuring *measure = &benchmark->measure;

	if (measure->exact == FG_EXACT_OFF)
		return false;
	return measure->exact_only || measure->exact != FG_EXACT_AUTO ||
	       (session->has_look && session->look.outcome == FG_OUTCOME_REGRESSION);
}

/* A static program is sampled from outside, after the pairs. */
static int sample_statics(struct fg_session *session, struct fg_runner_job *job,
			  const struct fg_benchmark *benchmark, enum fg_runner_state state,
			  struct fg_error *err)
{
	const size_t *indexes = NULL;
	int status = FG_OK;

	(void)fg_runner_job_series(job, &indexes);
	make_room_for_profiles(session);
	if (!may_be_counted(&session->run.series[indexes[0]], benchmark, state) ||
	    !fg_session_samples_outside(job, benchmark))
		return FG_OK;
	status = fg_session_sample_outside(session, job, benchmark, profile_of(session, indexes[0]),
					   err);
	if (status != FG_OK || !session->store)
		return status;
	return fg_store_progress(session->store, &session->run, session->profiles, err);
}

/* After the pairs: instructions, and the events that were asked for. */
static int count_exactly(struct fg_session *session, struct fg_runner_job *job,
			 const struct fg_benchmark *benchmark, enum fg_runner_state state,
			 struct fg_error *err)
{
	const bool exact = is_exact_wanted(session, benchmark);
	const struct fg_series *series = NULL;
	struct fg_profile_set *set = NULL;
	const size_t *indexes = NULL;
	bool also = false;
	int status = FG_OK;

	(void)fg_runner_job_series(job, &indexes);
	series = &session->run.series[indexes[0]];
	make_room_for_profiles(session);
	if (!may_be_counted(series, benchmark, state))
		return FG_OK;
	also = fg_session_counts_events(session, series, benchmark);
	if (!exact && !also)
		return FG_OK;
	set = profile_of(session, indexes[0]);
	if (exact)
		status = fg_session_count_exactly(session, job, benchmark, set, err);
	if (status == FG_OK && also)
		status = fg_session_count_events(session, job, benchmark, set, err);
	if (status != FG_OK || !session->store)
		return status;
	return fg_store_progress(session->store, &session->run, session->profiles, err);
}

/* Whatever is measured then ends without a verdict: worth knowing before it is measured. */
static void warn_of_too_few_pairs(const struct fg_session *session,
				  const struct fg_benchmark *benchmark)
{
	const struct fg_measuring *measure = &benchmark->measure;
	unsigned least = 0;

	if (!session->roots[FG_ARM_BASELINE] || measure->exact_only || measure->until_sure)
		return;
	least = fg_gate_least_pairs(&benchmark->policy, measure);
	if (measure->max_pairs < least)
		fg_cli_warn(
			session->cli,
			"%s: %u pairs hardly ever decide at this alpha (%g): a slowdown of four "
			"times their scatter takes %u",
			benchmark->name, measure->max_pairs, benchmark->policy.alpha, least);
}

static bool is_left_out(const struct fg_session *session, const struct fg_runner_job *job)
{
	const size_t *indexes = NULL;

	(void)fg_runner_job_series(job, &indexes);
	return session->run.series[indexes[0]].unaffected;
}

static int measure_benchmark(struct fg_session *session, struct fg_runner *runner,
			     const struct fg_benchmark *benchmark, struct fg_error *err)
{
	struct fg_runner_job *job = NULL;
	enum fg_runner_state state = FG_RUNNER_REACHED;
	int status = fg_runner_start(runner, benchmark, &job, err);

	if (status != FG_OK)
		return status;
	make_room_for_profiles(session);
	if (is_left_out(session, job))
		goto out;
	status = fg_session_measure_times(session, job, benchmark, &state, err);
	if (status == FG_OK)
		status = sample_statics(session, job, benchmark, state, err);
	compare_code(session, job);
	if (status != FG_OK)
		goto out;
	status = count_exactly(session, job, benchmark, state, err);
	if (status != FG_OK || state == FG_RUNNER_FAILED || state == FG_RUNNER_INTERRUPTED)
		goto out;
	status = fg_session_find_executed(session, job, benchmark, err);
out:
	fg_runner_finish(job);
	if (status != FG_OK)
		return status;
	if (state == FG_RUNNER_INTERRUPTED)
		status = fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	return status;
}

int fg_session_measure(struct fg_session *session, struct fg_error *err)
{
	const struct fg_runner_options options = {
		.run = &session->run,
		.roots = {session->roots[FG_ARM_BASELINE], session->roots[FG_ARM_CANDIDATE]},
		.checkouts = {session->checkouts[FG_ARM_BASELINE],
			      session->checkouts[FG_ARM_CANDIDATE]},
		.state_folder = session->state_folder,
		.build = &session->plan->build,
		.keep_traces = session->keep_traces,
		.interrupted = session->cli->interrupted,
		.context = session,
		.on_repetition = on_repetition,
		.on_progress = on_progress,
		.on_given_up = on_given_up,
		.is_unaffected = is_unaffected,
		.on_note = on_note,
		.on_stuck = fg_session_explain_stuck,
		.on_crash = fg_session_explain_crash,
	};
	struct fg_runner *runner = NULL;
	int status = fg_runner_create(&options, &runner, err);

	session->runner = runner;
	session->cache_folder = fg_fs_cache_folder();
	session->symbolizer = fg_symbolizer_new(
		&(struct fg_symbolizer_options){.cache_folder = session->cache_folder});
	session->kernel = fg_xcalloc(1, sizeof(*session->kernel));
	session->run.has_baseline = session->roots[FG_ARM_BASELINE] != NULL;
	session->progress.total = session->benchmark_count;
	for (size_t i = 0; status == FG_OK && i < session->benchmark_count; i++) {
		const struct fg_benchmark *benchmark = session->benchmarks[i];

		session->progress.index = i + 1;
		session->progress.measure = &benchmark->measure;
		session->progress.is_paired = session->run.has_baseline;
		session->has_look = false;
		warn_of_too_few_pairs(session, benchmark);
		fg_progress_begin(&session->progress, benchmark->name);
		status = measure_benchmark(session, runner, benchmark, err);
	}
	fg_progress_clear(&session->progress);
	fg_runner_free(runner);
	session->runner = NULL;
	session->run.ended_ns = fg_clock_wall_ns();
	session->run.complete = status == FG_OK && !session->is_open;
	if (status == FG_EINTERRUPTED && session->store)
		status = fg_store_progress(session->store, &session->run, session->profiles, err) ==
					 FG_OK
				 ? fg_error_set(err, FG_EINTERRUPTED, "interrupted")
				 : status;
	return status;
}
