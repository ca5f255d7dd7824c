// SPDX-License-Identifier: Apache-2.0
#include "cli/session/repetitions.h"

#include "base/fs.h"
#include "cli/session/samples.h"
#include "model/build_difference.h"
#include "profile/attach/kernel_traces.h"
#include "profile/ingest.h"
#include "profile/trace_profile.h"
#include "runner/facts/code_facts.h"

void fg_session_make_room_for_profiles(struct fg_session *session)
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

/* The profile set of a series, made when its first sample arrives. */
struct fg_profile_set *fg_session_profile_of(struct fg_session *session, size_t series)
{
	fg_session_make_room_for_profiles(session);
	if (!session->profiles[series]) {
		session->profiles[series] = fg_xcalloc(1, sizeof(*session->profiles[series]));
		fg_profile_set_init(session->profiles[series], session->run.series[series].name);
	}
	return session->profiles[series];
}

/*
 * The two commands may run different programs: the baseline's functions are filed under the
 * candidate's program name, otherwise they would never match.
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
 * loaded and started: a rebuilt plugin, or a program started by another one.
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

/* Stored now; at its end the run decides whether they are kept. */
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

/* The traces record which clock was available on this host. */
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
	fg_profile_ingest_profile(fg_session_profile_of(session, index), &profile, row, result);
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

/* Adds the sampler's traces to the profile; the repetition itself is already stored. */
static void take_samples(struct fg_session *session, struct fg_runner_job *job, size_t index,
			 const struct fg_repetition *done, const char *trace_folder)
{
	struct fg_series *series = &session->run.series[index];
	struct fg_environment *build = &series->build[done->arm];
	struct fg_ingest_row row = row_of(session, done);
	struct fg_ingest_result result = {0};
	struct fg_error why = {0};

	if (!fg_environment_get(build, FG_FACT_MAPPED))
		row.known_build = build;
	/* A repetition without samples still has valid times. */
	if (read_traces(session, index, trace_folder, &row, &result, &why) == FG_OK) {
		if (row.known_build)
			keep_mapped(build, &result);
		check_mapped(session, series);
		fg_runner_take_sampled(job, (enum fg_arm)done->arm, result.total_ns,
				       done->values[FG_METRIC_CPU_TIME]);
	} else if (!session->told_no_samples) {
		fg_progress_clear(&session->progress);
		fg_cli_warn(session->cli, "no profile: %s", why.message);
		session->told_no_samples = true;
	}
	fg_ingest_result_release(&result);
}

static int store(struct fg_session *session, struct fg_error *err)
{
	return session->store
		       ? fg_store_progress(session->store, &session->run, session->profiles, err)
		       : FG_OK;
}

/* Stores the measurement before its samples are processed, which takes longer. */
static int take_repetition(struct fg_session *session, struct fg_runner_job *job,
			   const struct fg_runner_event *event, struct fg_error *err)
{
	const size_t series = event->series;
	const struct fg_repetition *done =
		&session->run.series[series].repetitions[event->repetition];
	int status = FG_OK;

	fg_session_make_room_for_profiles(session);
	if (session->profiles[series])
		fg_profile_set_settle(session->profiles[series], done->pair, done->aside);
	status = store(session, err);
	if (status != FG_OK || !event->trace_folder)
		return status;
	take_samples(session, job, series, done, event->trace_folder);
	return store(session, err);
}

int fg_session_give_up_pairs(struct fg_session *session, const struct fg_runner_job *job,
			     struct fg_error *err)
{
	const size_t *indexes = NULL;

	(void)fg_runner_job_series(job, &indexes);
	fg_session_make_room_for_profiles(session);
	if (session->profiles[indexes[0]])
		fg_profile_set_give_up(session->profiles[indexes[0]]);
	return store(session, err);
}

static void show_progress(struct fg_session *session, const struct fg_runner_job *job)
{
	struct fg_runner_progress progress;

	fg_runner_progress_of(job, &progress);
	fg_progress_show(&session->progress, &progress, session->has_look ? &session->look : NULL);
}

static void show_note(struct fg_session *session, const struct fg_runner_job *job, const char *note)
{
	const size_t *indexes = NULL;

	(void)fg_runner_job_series(job, &indexes);
	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli, "%s: %s", session->run.series[indexes[0]].name, note);
}

int fg_session_measure_pairs(struct fg_session *session, struct fg_runner_job *job, unsigned wanted,
			     enum fg_runner_state *state, struct fg_error *err)
{
	struct fg_runner_event event;
	int status = FG_OK;

	do {
		status = fg_runner_next(job, wanted, state, &event, err);
		if (status != FG_OK)
			return status;
		if (*state == FG_RUNNER_REPEATED)
			status = take_repetition(session, job, &event, err);
		else if (*state == FG_RUNNER_ANEW)
			status = fg_session_give_up_pairs(session, job, err);
		else if (*state == FG_RUNNER_NOTES)
			show_note(session, job, event.note);
		else
			show_progress(session, job);
	} while (status == FG_OK && !fg_runner_is_over(*state));
	return status;
}
