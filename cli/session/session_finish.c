// SPDX-License-Identifier: Apache-2.0
/* After measuring: decide, keep, report, upload and post. */
#include "base/beneath.h"
#include "base/clock.h"
#include "base/fs.h"
#include "cli/session/posts.h"
#include "cli/session/report_style.h"
#include "cli/session/samples.h"
#include "cli/session/samples_in_time.h"
#include "cli/session/session.h"
#include "cli/session/sources.h"
#include "cli/session/upload.h"

static bool has_passed(const struct fg_session *session, const char *benchmark)
{
	for (size_t i = 0; i < session->verdict.benchmark_count; i++) {
		const struct fg_benchmark_verdict *verdict = &session->verdict.benchmarks[i];

		if (strcmp(verdict->name, benchmark) == 0)
			return verdict->outcome < FG_OUTCOME_INCONCLUSIVE;
	}
	return false;
}

/* Removes samples that were kept in case of a failure and are not needed. */
static void drop_samples(struct fg_session *session)
{
	for (size_t i = 0; session->store && i < session->run.series_count; i++) {
		const char *name = session->run.series[i].name;
		const struct fg_benchmark *benchmark = fg_plan_find(session->plan, name);
		struct fg_error why = {0};

		if (benchmark && benchmark->measure.sampler.keep_samples == FG_KEEP_FAILED &&
		    has_passed(session, name) &&
		    fg_samples_remove_series(session->store_path, session->run.id, i, &why) !=
			    FG_OK)
			fg_cli_warn(session->cli, "samples that are not needed stay: %s",
				    why.message);
	}
}

int fg_session_decide(struct fg_session *session, struct fg_gate_input *input, struct fg_error *err)
{
	int status = FG_OK;

	input->run = &session->run;
	input->profiles = (const struct fg_profile_set *const *)session->profiles;
	input->plan = session->plan;
	input->policy = &session->plan->policy;
	input->measure = &session->plan->measure;
	input->now_ns = fg_clock_wall_ns();
	status = fg_gate_decide(input, &session->verdict, err);
	if (status != FG_OK)
		return status;
	fg_session_add_sources(session);
	return FG_OK;
}

static struct fg_report report_of(const struct fg_session *session)
{
	return (struct fg_report){
		.run = &session->run,
		.verdict = &session->verdict,
		.profiles = (const struct fg_profile_set *const *)session->profiles,
	};
}

/* The store rounds weights; from here on every reader sees the rounded ones. */
static int take_profiles_of_store(struct fg_session *session, struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	const int status = fg_store_load(session->store, session->run.id, &stored, err);

	if (status != FG_OK)
		return status;
	fg_session_take_profiles(session, &stored);
	fg_stored_run_release(&stored);
	return FG_OK;
}

int fg_session_save(struct fg_session *session, struct fg_error *err)
{
	const struct fg_reporter *json = fg_reporter_find("json", err);
	const struct fg_report report = report_of(session);
	const struct fg_report_options options = {0};
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (!session->store)
		return FG_OK;
	drop_samples(session);
	FG_ASSERT(json);
	status = json->write(&report, &options, &text, err);
	if (status != FG_OK)
		goto out;
	status = fg_store_save(session->store, &session->run, session->profiles,
			       fg_strbuf_text(&text), err);
	if (status != FG_OK)
		goto out;
	status = take_profiles_of_store(session, err);
out:
	fg_strbuf_release(&text);
	return status;
}

/* A fresh checkout has no folder for reports yet, so it is created. */
static int write_anywhere(const struct fg_reporter *reporter, const struct fg_report *report,
			  const struct fg_report_options *options, const char *path,
			  struct fg_error *err)
{
	char *folder = fg_fs_parent(path);
	int status = fg_fs_make_folders(folder, 0755, err);

	if (status == FG_OK)
		status = fg_reporter_write_file(reporter, report, options, path, err);
	free(folder);
	return status;
}

/* The checkout can come from anybody, so paths that it names must stay inside it. */
static int write_beneath(const struct fg_reporter *reporter, const struct fg_report *report,
			 const struct fg_report_options *options, const char *path,
			 struct fg_error *err)
{
	struct fg_strbuf text = {0};
	int status = reporter->write(report, options, &text, err);

	if (status == FG_OK)
		status = fg_beneath_write(".", path, fg_strbuf_text(&text), text.length, err);
	if (status != FG_OK)
		fg_error_prefix(err, "report.%s of fastgate.yml", reporter->name);
	fg_strbuf_release(&text);
	return status;
}

static int write_report(const struct fg_report_target *target, const struct fg_report *report,
			const struct fg_report_options *options, struct fg_error *err)
{
	const struct fg_reporter *reporter = fg_reporter_find(target->format, err);

	if (!reporter)
		return FG_EINVAL;
	return target->from_file && strcmp(target->path, "-") != 0
		       ? write_beneath(reporter, report, options, target->path, err)
		       : write_anywhere(reporter, report, options, target->path, err);
}

static bool has_page(const struct fg_plan *plan)
{
	for (size_t i = 0; i < plan->report_count; i++) {
		if (strcmp(plan->reports[i].format, "html") == 0)
			return true;
	}
	return false;
}

int fg_session_report(struct fg_session *session, struct fg_error *err)
{
	const struct fg_cli *cli = session->cli;
	const struct fg_reporter *speaker = fg_reporter_find(cli->json ? "json" : "terminal", err);
	struct fg_time_orders *in_time = NULL;
	struct fg_report report = report_of(session);
	const struct fg_report_options plain = fg_cli_report_style(cli, false, session->plan->root);
	const struct fg_report_options spoken = fg_cli_report_style(cli, true, session->plan->root);
	struct fg_strbuf text = {0};
	int result = FG_OK;
	int status = FG_OK;

	if (session->store && has_page(session->plan))
		in_time = fg_samples_in_time(session->store_path, report.run, report.profiles);
	report.in_time = in_time;
	for (size_t i = 0; i < session->plan->report_count; i++) {
		const struct fg_report_target *target = &session->plan->reports[i];

		status = write_report(target, &report, &plain, err);
		if (status != FG_OK)
			result = status;
		else
			fg_cli_detail(cli, "wrote %s", target->path);
	}
	fg_samples_in_time_release(in_time, report.run);
	report.in_time = NULL;
	FG_ASSERT(speaker);
	status = speaker->write(&report, cli->json ? &plain : &spoken, &text, err);
	if (status == FG_OK && cli->json)
		fg_cli_print(cli, &text);
	else if (status == FG_OK)
		fg_cli_tell(cli, &text);
	fg_strbuf_release(&text);
	return status != FG_OK ? status : result;
}

int fg_session_tell(const struct fg_session *session, bool may_send)
{
	const struct fg_report report = report_of(session);
	const int code = (int)session->verdict.exit_code;
	bool is_sent = fg_upload_run(session->cli, &session->plan->perfdb, session->state_folder,
				     session->store, session->run.id, may_send);

	if (may_send && !fg_posts_send(session->cli, session->plan, &report, NULL))
		is_sent = false;
	/* The verdict's own code comes first. */
	return code == FG_EXIT_PASS && !is_sent ? FG_EXIT_UPLOAD : code;
}
