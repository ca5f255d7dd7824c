// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "binary/symbolizer.h"
#include "cli/session/session.h"
#include "cli/session/steps.h"
#include "gate/next_step.h"
#include "profile/attach/kernel_traces.h"
#include "profile/ingest.h"
#include "profile/trace_profile.h"
#include "runner/runner.h"

/* ---- repetitions ---- */

static void make_room_for_profiles(struct fg_session *session)
{
	const size_t wanted = session->result.run.series_count;

	if (wanted <= session->result.profile_count)
		return;
	session->result.profiles = fg_xreallocarray(session->result.profiles, wanted,
						    sizeof(session->result.profiles[0]));
	for (size_t i = session->result.profile_count; i < wanted; i++)
		session->result.profiles[i] = NULL;
	session->result.profile_count = wanted;
}

/* Returns the profile set of a series; makes the set for the first sample. */
static struct fg_profile_set *profile_of(struct fg_session *session, size_t series)
{
	make_room_for_profiles(session);
	if (!session->result.profiles[series]) {
		session->result.profiles[series] =
			fg_xcalloc(1, sizeof(*session->result.profiles[series]));
		fg_profile_set_init(session->result.profiles[series],
				    session->result.run.series[series].name);
	}
	return session->result.profiles[series];
}

static const struct fg_benchmark *now_measured(const struct fg_session *session)
{
	return session->request.benchmarks[session->progress.index - 1];
}

/*
 * Clears `identical` if the traces show different files. The runner compares only the files on the
 * command lines, but a rebuilt plugin may be loaded or another program started.
 */
static void check_mapped(struct fg_session *session, struct fg_series *series)
{
	const char *baseline = series->build[FG_ARM_BASELINE].mapped;
	const char *candidate = series->build[FG_ARM_CANDIDATE].mapped;

	FG_ASSERT(series);
	if (!series->identical || !baseline || !candidate || strcmp(baseline, candidate) == 0)
		return;
	series->identical = false;
	fg_progress_clear(&session->progress);
	fg_cli_say(
		session->cli,
		"%s: the program is the same on both sides, but the files that the program loads "
		"or starts differ",
		series->name);
}

/*
 * Takes the clock's name from the first profile that has one; a trace records which clock was
 * available on this host.
 */
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

	fg_kernel_naming_add(session->open.kernel, trace_folder);
	FG_TRY(fg_profile_read_traces(trace_folder, session->open.symbolizer, &profile, err));
	fg_profile_ingest_profile(profile_of(session, index), &profile, row, result);
	fg_session_name_files(session, profile_of(session, index));
	note_clock(&profile, &session->result.run.series[index].sampling);
	fg_profile_release(&profile);
	return FG_OK;
}

static void keep_mapped(struct fg_build_facts *build, const struct fg_ingest_result *result)
{
	fg_build_facts_put(&build->mapped, result->other_code);
	if (*result->other_names)
		fg_build_facts_put(&build->modules, result->other_names);
}

/* Adds the sampler's traces to the profile; the repetition itself is stored already. */
static void take_samples(struct fg_session *session, struct fg_runner_job *job, size_t index,
			 const struct fg_repetition *done, const char *trace_folder)
{
	struct fg_series *series = &session->result.run.series[index];
	struct fg_build_facts *build = &series->build[done->arm];
	struct fg_ingest_row row =
		fg_session_row(now_measured(session), (enum fg_arm)done->arm, done->pair);
	struct fg_ingest_result result = {0};
	struct fg_error why = {0};
	int status;

	row.aside = done->aside;
	if (!build->mapped)
		row.known_build = build;
	/* A repetition without samples still has valid times. */
	status = read_traces(session, index, trace_folder, &row, &result, &why);
	if (status == FG_OK) {
		if (row.known_build)
			keep_mapped(build, &result);
		check_mapped(session, series);
		fg_runner_take_sampled(
			job, (enum fg_arm)done->arm, result.total_ns,
			done->values[now_measured(session)->measure.sampler.clock == FG_SAMPLE_WALL
					     ? FG_METRIC_WALL_TIME
					     : FG_METRIC_CPU_TIME]);
	} else if (!session->warned_no_samples) {
		fg_progress_clear(&session->progress);
		fg_cli_warn(session->cli, "no profile: %s",
			    status == FG_ENOENT
				    ? "the program left no trace, perhaps because its dynamic "
				      "linker ignores LD_PRELOAD; 'fastgate record --pid' "
				      "samples it from outside"
				    : why.message);
		session->warned_no_samples = true;
	}
	fg_ingest_result_release(&result);
}

static int store(struct fg_session *session, struct fg_error *err)
{
	return session->open.store ? fg_store_progress(session->open.store, &session->result.run,
						       session->result.profiles, err)
				   : FG_OK;
}

/* Stores the repetition before processing its samples, which takes longer. */
static int take_repetition(struct fg_session *session, struct fg_runner_job *job,
			   const struct fg_runner_event *event, struct fg_error *err)
{
	const size_t series = event->series;
	const struct fg_repetition *done =
		&session->result.run.series[series].repetitions[event->repetition];
	int status = FG_OK;

	make_room_for_profiles(session);
	if (session->result.profiles[series])
		fg_profile_set_settle(session->result.profiles[series], done->pair, done->aside);
	status = store(session, err);
	if (status != FG_OK || !event->trace_folder)
		return status;
	take_samples(session, job, series, done, event->trace_folder);
	return store(session, err);
}

static size_t index_of(const struct fg_session *session, const struct fg_runner_job *job)
{
	return (size_t)(fg_session_series(session, job) - session->result.run.series);
}

static int give_up_pairs(struct fg_session *session, const struct fg_runner_job *job,
			 struct fg_error *err)
{
	const size_t index = index_of(session, job);

	make_room_for_profiles(session);
	if (session->result.profiles[index])
		fg_profile_set_give_up(session->result.profiles[index]);
	return store(session, err);
}

static void show_progress(struct fg_session *session, const struct fg_runner_job *job)
{
	struct fg_runner_progress progress;

	fg_runner_progress_of(job, &progress);
	fg_progress_show(&session->progress, &progress,
			 session->result.has_look ? &session->result.look : NULL);
}

static void show_note(struct fg_session *session, const struct fg_runner_job *job, const char *note)
{
	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli, "%s: %s", fg_session_series(session, job)->name, note);
}

static int measure_pairs(struct fg_session *session, struct fg_runner_job *job, unsigned wanted,
			 enum fg_runner_state *state, struct fg_error *err)
{
	struct fg_runner_event event;
	int status = FG_OK;

	do {
		FG_TRY(fg_runner_next(job, wanted, state, &event, err));
		if (*state == FG_RUNNER_REPEATED)
			status = take_repetition(session, job, &event, err);
		else if (*state == FG_RUNNER_RESTARTED)
			status = give_up_pairs(session, job, err);
		else if (*state == FG_RUNNER_NOTES)
			show_note(session, job, event.note);
		else
			show_progress(session, job);
	} while (status == FG_OK && !fg_runner_is_over(*state));
	return status;
}

/* ---- steps that the gate requests ---- */

static const enum fg_step_result results[] = {
	[FG_RUNNER_REACHED] = FG_STEP_DONE,       [FG_RUNNER_EXHAUSTED] = FG_STEP_EXHAUSTED,
	[FG_RUNNER_RESTARTED] = FG_STEP_GIVEN_UP, [FG_RUNNER_FAILED] = FG_STEP_ENDED,
	[FG_RUNNER_INTERRUPTED] = FG_STEP_ENDED,
};

/* Announces the next step and its reason. */
static void explain(struct fg_session *session, const struct fg_situation *now,
		    const struct fg_step *step)
{
	const char *name = now->series_count ? now->run->series[now->series[0]].name : "";

	if (!*step->text)
		return;
	if (step->is_detail) {
		fg_cli_detail(session->cli, "%s: %s", name, step->text);
		return;
	}
	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli, "%s: %s", name, step->text);
}

/* Layouts that cannot be linked are not an error; `why` has the reason. */
static int link_layouts(struct fg_runner_job *job, const struct fg_next_step *machine,
			const struct fg_step *step, enum fg_step_result *result,
			struct fg_error *why)
{
	const int status =
		step->action == FG_STEP_LAYOUTS
			? fg_runner_vary_layout(job, machine->look.metric, machine->look.ratio, why)
			: fg_runner_begin_in_layouts(job, step->only_if_cheap, why);

	*result = status == FG_OK ? FG_STEP_DONE : FG_STEP_REFUSED;
	return status == FG_EINTERRUPTED ? status : FG_OK;
}

struct doing {
	struct fg_session *session;
	struct fg_runner_job *job;
	struct fg_next_step machine;
	struct fg_step step;
	enum fg_step_result result;
	enum fg_runner_state *state;
	struct fg_error why;
};

static int do_step(struct doing *doing, struct fg_error *err)
{
	int status = FG_OK;

	doing->result = FG_STEP_DONE;
	switch (doing->step.action) {
	case FG_STEP_STOP:
	case FG_STEP_SAY:
		break;
	case FG_STEP_PAIRS:
		if (doing->step.exceeds_budget)
			fg_runner_exceed_budget(doing->job);
		status = measure_pairs(doing->session, doing->job, doing->step.pairs, doing->state,
				       err);
		doing->result = results[*doing->state];
		break;
	case FG_STEP_BEGIN_IN_LAYOUTS:
	case FG_STEP_LAYOUTS:
		status = link_layouts(doing->job, &doing->machine, &doing->step, &doing->result,
				      &doing->why);
		if (status != FG_OK)
			status = fg_error_set(err, status, "%s", doing->why.message);
		else if (doing->result == FG_STEP_DONE)
			status = give_up_pairs(doing->session, doing->job, err);
		break;
	}
	return status;
}

/* Describes the measurement so far. The cases of a harness become known only during measurement. */
static struct fg_situation situation_of(const struct fg_session *session,
					const struct fg_runner_job *job,
					const struct fg_benchmark *benchmark, const char *why)
{
	struct fg_situation now = {
		.run = &session->result.run,
		.policy = &benchmark->policy,
		.measure = &benchmark->measure,
		.has_baseline = session->open.roots[FG_ARM_BASELINE] != NULL,
		.why = why,
	};
	struct fg_runner_progress progress;

	fg_runner_progress_of(job, &progress);
	now.pairs = progress.pairs;
	now.pair_ns = progress.per_pair_ns;
	now.series_count = fg_runner_job_series(job, &now.series);
	if (now.series_count && now.series[0] < session->result.profile_count)
		now.profile = session->result.profiles[now.series[0]];
	return now;
}

/* Measures a fixed number of pairs for a caller that makes its own decision. */
static int measure_fixed(struct fg_session *session, struct fg_runner_job *job,
			 const struct fg_benchmark *benchmark, enum fg_runner_state *state,
			 struct fg_error *err)
{
	struct fg_error why = {0};
	int status = FG_OK;

	if (benchmark->measure.layouts != FG_LAYOUTS_NEVER &&
	    fg_runner_begin_in_layouts(job, benchmark->measure.layouts == FG_LAYOUTS_AUTO, &why) ==
		    FG_EINTERRUPTED)
		return fg_error_set(err, FG_EINTERRUPTED, "%s", why.message);
	do {
		status = measure_pairs(session, job, session->request.fixed_pairs, state, err);
	} while (status == FG_OK && *state == FG_RUNNER_RESTARTED);
	return status;
}

static int measure_times(struct fg_session *session, struct fg_runner_job *job,
			 const struct fg_benchmark *benchmark, enum fg_runner_state *state,
			 struct fg_error *err)
{
	struct doing doing = {.session = session, .job = job, .state = state};
	int status = measure_pairs(session, job, 0, state, err);

	if (status != FG_OK || *state != FG_RUNNER_REACHED)
		return status;
	if (session->request.fixed_pairs > 0)
		return measure_fixed(session, job, benchmark, state, err);

	do {
		const struct fg_situation now =
			situation_of(session, job, benchmark, doing.why.message);

		fg_next_step(&doing.machine, &now, doing.result, &doing.step);
		session->result.look = doing.machine.look;
		session->result.has_look = doing.machine.has_look;
		explain(session, &now, &doing.step);
		status = do_step(&doing, err);
	} while (status == FG_OK && doing.step.action != FG_STEP_STOP);
	if (*state == FG_RUNNER_RESTARTED)
		*state = FG_RUNNER_REACHED;
	session->result.is_open |= doing.machine.is_open;
	return status;
}

/* ---- benchmarks ---- */

/*
 * Can the benchmark be executed once more to be counted? A harness decides how often it repeats, so
 * its counts would reflect how long it ran.
 */
static bool may_be_counted(const struct fg_series *series, const struct fg_benchmark *benchmark,
			   enum fg_runner_state state)
{
	return benchmark->harness == FG_HARNESS_NONE && !series->identical && !series->failure &&
	       !series->only_in[FG_ARM_BASELINE] && !series->only_in[FG_ARM_CANDIDATE] &&
	       (state == FG_RUNNER_REACHED || state == FG_RUNNER_EXHAUSTED);
}

/*
 * Is any metric worse, judged by all pairs? The last look lacks pairs that were measured afterwards
 * to name the function.
 */
static bool has_regressed(const struct fg_series *series, const struct fg_benchmark *benchmark)
{
	for (size_t i = 0; i < series->metric_count; i++) {
		if (fg_gate_is_worse(series, &benchmark->policy, &benchmark->measure,
				     series->metrics[i].name))
			return true;
	}
	return false;
}

static bool is_exact_wanted(const struct fg_session *session, const struct fg_series *series,
			    const struct fg_benchmark *benchmark)
{
	const struct fg_measuring *measure = &benchmark->measure;

	if (measure->exact == FG_EXACT_OFF)
		return false;
	return measure->exact_only || measure->exact != FG_EXACT_AUTO ||
	       (session->result.has_look && has_regressed(series, benchmark));
}

/* Samples a static program from outside, after the pairs. */
static int sample_statics(struct fg_session *session, struct fg_runner_job *job,
			  const struct fg_benchmark *benchmark, enum fg_runner_state state,
			  struct fg_error *err)
{
	if (!may_be_counted(fg_session_series(session, job), benchmark, state) ||
	    !fg_session_samples_outside(job, benchmark))
		return FG_OK;
	FG_TRY(fg_session_sample_outside(session, job, benchmark,
					 profile_of(session, index_of(session, job)), err));
	return store(session, err);
}

/* Counts instructions and the requested events, after the pairs. */
static int count_exactly(struct fg_session *session, struct fg_runner_job *job,
			 const struct fg_benchmark *benchmark, enum fg_runner_state state,
			 struct fg_error *err)
{
	const struct fg_series *series = fg_session_series(session, job);
	struct fg_profile_set *set = NULL;
	bool exact = false;
	bool also = false;

	if (!may_be_counted(series, benchmark, state))
		return FG_OK;
	exact = is_exact_wanted(session, series, benchmark);
	also = fg_session_counts_events(session, series, benchmark);
	if (!exact && !also)
		return FG_OK;
	set = profile_of(session, index_of(session, job));
	if (exact)
		FG_TRY(fg_session_count_exactly(session, job, benchmark, set, err));
	if (also)
		FG_TRY(fg_session_count_events(session, job, benchmark, set, err));
	return store(session, err);
}

/* Warns before measuring if the pairs are too few to decide. */
static void warn_of_too_few_pairs(const struct fg_session *session,
				  const struct fg_benchmark *benchmark)
{
	const struct fg_measuring *measure = &benchmark->measure;
	unsigned least = 0;

	if (!session->open.roots[FG_ARM_BASELINE] || measure->exact_only || measure->until_sure)
		return;
	least = fg_gate_min_pairs(&benchmark->policy);
	if (measure->max_pairs < least)
		fg_cli_warn(
			session->cli,
			"%s: %u pairs cannot decide at this alpha (%g), even if the candidate is "
			"slower in all of them: at least %u are needed",
			benchmark->name, measure->max_pairs, benchmark->policy.alpha, least);
}

/* A set-up may take long, so it is shown before the runner has a series. */
static void show_set_up(struct fg_session *session, const struct fg_benchmark *benchmark)
{
	const struct fg_series series = {.name = (char *)(uintptr_t)benchmark->name};
	const struct fg_runner_progress progress = {.series = &series, .phase = FG_RUNNER_SETUP};

	fg_progress_show(&session->progress, &progress, NULL);
}

static bool is_known(const struct fg_session *session, const struct fg_runner_job *job)
{
	return session->request.is_known &&
	       session->request.is_known(session->request.context, fg_session_series(session, job));
}

static int measure_benchmark(struct fg_session *session, struct fg_runner *runner,
			     const struct fg_benchmark *benchmark, struct fg_error *err)
{
	struct fg_runner_job *job = NULL;
	enum fg_runner_state state = FG_RUNNER_REACHED;
	int status = FG_OK;

	show_set_up(session, benchmark);
	fg_session_give_set_up(session, benchmark);
	FG_TRY(fg_runner_start(runner, benchmark, &job, err));
	make_room_for_profiles(session);
	if (!fg_runner_has_failed(job) &&
	    (fg_session_is_unaffected(session, job, benchmark) || is_known(session, job)))
		goto out;
	status = measure_times(session, job, benchmark, &state, err);
	if (status == FG_OK)
		status = sample_statics(session, job, benchmark, state, err);
	fg_session_compare_code(session, job);
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
		.run = &session->result.run,
		.roots = {session->open.roots[FG_ARM_BASELINE],
			  session->open.roots[FG_ARM_CANDIDATE]},
		.checkouts = {session->open.checkouts[FG_ARM_BASELINE],
			      session->open.checkouts[FG_ARM_CANDIDATE]},
		.state_folder = session->request.state_folder,
		.keep_traces = session->request.keep_traces,
		.interrupted = session->cli->interrupted,
		.context = session,
		.on_set_up = fg_session_give_inputs,
	};
	struct fg_runner *runner = NULL;
	int status = fg_runner_create(&options, &runner, err);

	session->open.cache_folder = fg_fs_cache_folder();
	session->open.symbolizer = fg_symbolizer_new(
		&(struct fg_symbolizer_options){.cache_folder = session->open.cache_folder});
	session->open.kernel = fg_xcalloc(1, sizeof(*session->open.kernel));
	session->result.run.has_baseline = session->open.roots[FG_ARM_BASELINE] != NULL;
	session->progress.total = session->request.benchmark_count;
	session->progress.is_part = session->request.fixed_pairs > 0 || session->request.apart;
	for (size_t i = 0; status == FG_OK && i < session->request.benchmark_count; i++) {
		const struct fg_benchmark *benchmark = session->request.benchmarks[i];

		session->progress.index = i + 1;
		session->progress.measure = &benchmark->measure;
		session->progress.is_paired = session->result.run.has_baseline;
		session->result.has_look = false;
		warn_of_too_few_pairs(session, benchmark);
		fg_progress_begin(&session->progress, benchmark->name);
		status = measure_benchmark(session, runner, benchmark, err);
	}
	fg_progress_clear(&session->progress);
	fg_runner_free(runner);
	session->result.run.ended_ns = fg_clock_wall_ns();
	session->result.run.complete = status == FG_OK && !session->result.is_open;
	if (status == FG_EINTERRUPTED && session->open.store)
		status = fg_store_progress(session->open.store, &session->result.run,
					   session->result.profiles, err) == FG_OK
				 ? fg_error_set(err, FG_EINTERRUPTED, "interrupted")
				 : status;
	return status;
}
