// SPDX-License-Identifier: Apache-2.0
/*
 * Measuring: the runner executes, each repetition is kept and profiled, the gate says when to stop.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "binary/symbolizer.h"
#include "cli/session/affected.h"
#include "cli/session/counts.h"
#include "cli/session/exact.h"
#include "cli/session/hot_functions.h"
#include "cli/session/measure_times.h"
#include "cli/session/repetitions.h"
#include "cli/session/sample_outside.h"
#include "cli/session/session.h"
#include "cli/session/stuck.h"
#include "profile/attach/kernel_traces.h"
#include "runner/facts/code_facts.h"
#include "runner/runner.h"

/* Compares the code of the functions that use most of the time, because a verdict may name them. */
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
 * Can it be executed once more to be counted? A harness decides itself how often it repeats, so its
 * counts would reflect how long it ran.
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
	if (!may_be_counted(&session->run.series[indexes[0]], benchmark, state) ||
	    !fg_session_samples_outside(job, benchmark))
		return FG_OK;
	status = fg_session_sample_outside(session, job, benchmark,
					   fg_session_profile_of(session, indexes[0]), err);
	if (status != FG_OK || !session->store)
		return status;
	return fg_store_progress(session->store, &session->run, session->profiles, err);
}

/* After the pairs: instructions, and the requested events. */
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
	if (!may_be_counted(series, benchmark, state))
		return FG_OK;
	also = fg_session_counts_events(session, series, benchmark);
	if (!exact && !also)
		return FG_OK;
	set = fg_session_profile_of(session, indexes[0]);
	if (exact)
		status = fg_session_count_exactly(session, job, benchmark, set, err);
	if (status == FG_OK && also)
		status = fg_session_count_events(session, job, benchmark, set, err);
	if (status != FG_OK || !session->store)
		return status;
	return fg_store_progress(session->store, &session->run, session->profiles, err);
}

/* Warns before measuring if so few pairs cannot decide. */
static void warn_of_too_few_pairs(const struct fg_session *session,
				  const struct fg_benchmark *benchmark)
{
	const struct fg_measuring *measure = &benchmark->measure;
	unsigned least = 0;

	if (!session->roots[FG_ARM_BASELINE] || measure->exact_only || measure->until_sure)
		return;
	least = fg_gate_least_pairs(&benchmark->policy);
	if (measure->max_pairs < least)
		fg_cli_warn(
			session->cli,
			"%s: %u pairs cannot decide at this alpha (%g), even if all of them are "
			"slower: at least %u can",
			benchmark->name, measure->max_pairs, benchmark->policy.alpha, least);
}

/* A set-up may take long, so it is shown before the runner knows a series. */
static void show_set_up(struct fg_session *session, const struct fg_benchmark *benchmark)
{
	const struct fg_series series = {.name = (char *)(uintptr_t)benchmark->name};
	const struct fg_runner_progress progress = {.series = &series, .phase = FG_RUNNER_SETUP};

	fg_progress_show(&session->progress, &progress, NULL);
}

static int measure_benchmark(struct fg_session *session, struct fg_runner *runner,
			     const struct fg_benchmark *benchmark, struct fg_error *err)
{
	struct fg_runner_job *job = NULL;
	enum fg_runner_state state = FG_RUNNER_REACHED;
	int status = FG_OK;

	show_set_up(session, benchmark);
	status = fg_runner_start(runner, benchmark, &job, err);
	if (status != FG_OK)
		return status;
	fg_session_make_room_for_profiles(session);
	if (!fg_runner_has_failed(job) && fg_session_is_unaffected(session, job, benchmark))
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
		.on_stuck = fg_session_explain_stuck,
		.on_crash = fg_session_explain_crash,
	};
	struct fg_runner *runner = NULL;
	int status = fg_runner_create(&options, &runner, err);

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
	session->run.ended_ns = fg_clock_wall_ns();
	session->run.complete = status == FG_OK && !session->is_open;
	if (status == FG_EINTERRUPTED && session->store)
		status = fg_store_progress(session->store, &session->run, session->profiles, err) ==
					 FG_OK
				 ? fg_error_set(err, FG_EINTERRUPTED, "interrupted")
				 : status;
	return status;
}
