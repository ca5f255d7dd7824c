// SPDX-License-Identifier: Apache-2.0
#include "cli/session/session.h"

#include "base/beneath.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "base/version.h"
#include "binary/symbolizer.h"
#include "cli/session/steps.h"
#include "cli/session/stored.h"
#include "profile/attach/kernel_traces.h"
#include "runner/facts/affected.h"
#include "runner/facts/host.h"
#include "runner/runner.h"

#include <math.h>
#include <strings.h>

enum {
	REDRAW_MS = 100,
	PLAIN_LINE_S = 30,
};

int fg_session_init(struct fg_session *session, struct fg_cli *cli, const struct fg_plan *plan,
		    struct fg_error *err)
{
	*session = (struct fg_session){
		.cli = cli, .request = {.plan = plan}, .progress = {.cli = cli}};
	fg_run_init(&session->result.run);
	FG_TRY(fg_random_uuid(session->result.run.id, err));
	FG_TRY(fg_random_bytes(&session->result.run.seed, sizeof(session->result.run.seed), err));
	/* JSON numbers are exact up to 2^53. */
	session->result.run.seed &= (UINT64_C(1) << 53) - 1;
	session->result.run.project = fg_xstrdup(plan->project ? plan->project : "");
	session->result.run.tool_version = fg_xstrdup(fg_version());
	session->result.run.started_ns = fg_clock_wall_ns();
	fg_host_capture("", &session->result.run.host);
	return FG_OK;
}

int fg_session_open_store(struct fg_session *session, struct fg_error *err)
{
	char *path = fg_fs_join(session->request.plan->root, session->request.plan->store_path);
	char *folder = fg_fs_parent(path);
	int status = fg_fs_make_folders(folder, 0755, err);

	if (status == FG_OK)
		status = fg_store_open(path, 0, &session->open.store, err);
	session->open.store_path = path;
	free(folder);
	return status;
}

static void release_profiles(struct fg_session *session)
{
	for (size_t i = 0; i < session->result.profile_count; i++) {
		if (session->result.profiles[i])
			fg_profile_set_release(session->result.profiles[i]);
		free(session->result.profiles[i]);
	}
	free(session->result.profiles);
	session->result.profiles = NULL;
	session->result.profile_count = 0;
}

void fg_session_release(struct fg_session *session)
{
	fg_progress_clear(&session->progress);
	release_profiles(session);
	fg_affected_free(session->open.affected);
	fg_symbolizer_free(session->open.symbolizer);
	if (session->open.kernel)
		fg_kernel_naming_release(session->open.kernel);
	free(session->open.kernel);
	free(session->open.cache_folder);
	fg_verdict_release(&session->result.verdict);
	fg_run_release(&session->result.run);
	fg_store_close(session->open.store);
	free(session->open.store_path);
	*session = (struct fg_session){0};
}

static void take_profiles(struct fg_session *session, struct fg_stored_run *stored)
{
	release_profiles(session);
	session->result.profiles = stored->profiles;
	session->result.profile_count = stored->profiles ? stored->run.series_count : 0;
	stored->profiles = NULL;
}

void fg_session_take_run(struct fg_session *session, struct fg_stored_run *stored)
{
	take_profiles(session, stored);
	fg_run_release(&session->result.run);
	session->result.run = stored->run;
	stored->run = (struct fg_run){0};
}

struct fg_series *fg_session_series(const struct fg_session *session,
				    const struct fg_runner_job *job)
{
	const size_t *indexes = NULL;

	(void)fg_runner_job_series(job, &indexes);
	return &session->result.run.series[indexes[0]];
}

struct fg_ingest_row fg_session_row(const struct fg_benchmark *benchmark, enum fg_arm arm,
				    uint32_t pair)
{
	struct fg_ingest_row row = {.arm = (uint8_t)arm, .pair = pair};

	if (arm == FG_ARM_BASELINE && benchmark->baseline_command.argc > 0) {
		row.program = fg_fs_base_name(benchmark->baseline_command.argv[0]);
		row.called = fg_fs_base_name(benchmark->command.argv[0]);
	}
	return row;
}

bool fg_session_guard(const struct fg_cli *cli, int *exit_code)
{
	struct fg_guard_end end = {0};
	struct fg_error err = {0};
	bool is_worker = true;

	if (fg_guard_split(&is_worker, &end, &err) != FG_OK) {
		fg_cli_warn(cli, "cannot start the guard process: %s", err.message);
		return true;
	}
	if (is_worker)
		return true;
	if (end.exited) {
		*exit_code = end.exit_code;
	} else {
		fg_cli_warn(
			cli,
			"stopped by signal %d (%s); finished repetitions are kept, and --resume "
			"continues with them",
			end.signal,
			sigabbrev_np(end.signal) ? sigabbrev_np(end.signal) : "unknown");
		*exit_code = FG_EXIT_INTERNAL;
	}
	return false;
}

/* ---- style of reports ---- */

/* Checks the variables of the locale in order of precedence; without them, the C locale applies. */
static bool locale_is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);
		const char *codeset = NULL;

		if (!value || !*value)
			continue;
		codeset = strchr(value, '.');
		return codeset && (strncasecmp(codeset + 1, "utf-8", 5) == 0 ||
				   strncasecmp(codeset + 1, "utf8", 4) == 0);
	}
	return false;
}

struct fg_report_options fg_cli_report_style(const struct fg_cli *cli, bool to_stdout,
					     const char *source_root)
{
	const bool to_terminal = to_stdout && cli->out_is_terminal;

	return (struct fg_report_options){
		.verbose = cli->verbose,
		.color = to_stdout && cli->color_out,
		.ascii = to_terminal && !locale_is_utf8(),
		.width = to_terminal ? cli->columns : 0,
		.source_root = source_root ? source_root : getenv("GITHUB_WORKSPACE"),
	};
}

/* ---- after measuring ---- */

int fg_session_decide(struct fg_session *session, struct fg_gate_input *input, struct fg_error *err)
{
	input->run = &session->result.run;
	input->profiles = (const struct fg_profile_set *const *)session->result.profiles;
	input->plan = session->request.plan;
	input->policy = &session->request.plan->policy;
	input->measure = &session->request.plan->measure;
	input->now_ns = fg_clock_wall_ns();
	FG_TRY(fg_gate_decide(input, &session->result.verdict, err));
	fg_session_add_creep(session, input);
	fg_session_add_sources(session);
	return FG_OK;
}

static struct fg_report report_of(const struct fg_session *session)
{
	return (struct fg_report){
		.run = &session->result.run,
		.verdict = &session->result.verdict,
		.profiles = (const struct fg_profile_set *const *)session->result.profiles,
	};
}

/*
 * Reads the profiles back: the store rounds weights, and all reports should show the same weights.
 */
static int take_profiles_of_store(struct fg_session *session, struct fg_error *err)
{
	struct fg_stored_run stored = {0};

	FG_TRY(fg_store_load(session->open.store, session->result.run.id, &stored, err));
	take_profiles(session, &stored);
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

	if (!session->open.store)
		return FG_OK;
	FG_ASSERT(json);
	json->write(&report, &options, &text);
	FG_TRY_OUT(fg_store_save(session->open.store, &session->result.run,
				 session->result.profiles, fg_strbuf_text(&text), err));
	status = take_profiles_of_store(session, err);
out:
	fg_strbuf_release(&text);
	return status;
}

/* Writes a report, and creates its folder, which a fresh checkout does not have. */
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

/* A checkout can come from anybody, so paths that it names must stay inside it. */
static int write_beneath(const struct fg_reporter *reporter, const struct fg_report *report,
			 const struct fg_report_options *options, const char *path,
			 struct fg_error *err)
{
	struct fg_strbuf text = {0};
	int status = FG_OK;

	reporter->write(report, options, &text);
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

int fg_session_report(struct fg_session *session, struct fg_error *err)
{
	const struct fg_cli *cli = session->cli;
	const struct fg_reporter *speaker = fg_reporter_find(cli->json ? "json" : "terminal", err);
	struct fg_report report = report_of(session);
	const struct fg_report_options plain =
		fg_cli_report_style(cli, false, session->request.plan->root);
	const struct fg_report_options spoken =
		fg_cli_report_style(cli, true, session->request.plan->root);
	struct fg_strbuf text = {0};
	int result = FG_OK;
	int status = FG_OK;

	for (size_t i = 0; i < session->request.plan->report_count; i++) {
		const struct fg_report_target *target = &session->request.plan->reports[i];

		status = write_report(target, &report, &plain, err);
		if (status != FG_OK)
			result = status;
		else
			fg_cli_detail(cli, "wrote %s", target->path);
	}
	FG_ASSERT(speaker);
	speaker->write(&report, cli->json ? &plain : &spoken, &text);
	if (cli->json)
		fg_cli_print(cli, &text);
	else
		fg_cli_print_escaped(cli, &text);
	fg_strbuf_release(&text);
	return result;
}

int fg_session_publish(const struct fg_session *session, bool may_send)
{
	const struct fg_report report = report_of(session);
	const int code = (int)session->result.verdict.exit_code;
	bool is_sent = fg_upload_run(session->cli, &session->request.plan->perfdb,
				     session->request.state_folder, session->open.store,
				     session->result.run.id, may_send);

	if (may_send && !fg_posts_send(session->cli, session->request.plan, &report, NULL))
		is_sent = false;
	return code == FG_EXIT_PASS && !is_sent ? FG_EXIT_UPLOAD : code;
}

/* ---- progress ---- */

static const char *const phase_words[] = {
	[FG_RUNNER_SETUP] = "set-up",
	[FG_RUNNER_WARMUP] = "warm-up",
	[FG_RUNNER_TRIAL] = "finding the schedule",
	[FG_RUNNER_MEASURE] = NULL,
};

/* Returns the limit on pairs; 0: unlimited. */
static unsigned pair_limit(const struct fg_progress *progress,
			   const struct fg_runner_progress *runner)
{
	if (!progress->is_paired)
		return runner->wanted;
	return progress->measure->until_sure ? 0 : progress->measure->max_pairs;
}

/*
 * Returns an upper bound of the remaining time: the time for all pairs or the rest of the budget,
 * whichever is shorter; 0 if unknown.
 */
static double max_ns_left(const struct fg_progress *progress,
			  const struct fg_runner_progress *runner)
{
	const unsigned most = pair_limit(progress, runner);
	const double budget_ns = (double)progress->measure->budget_ns;
	const double by_budget = fmax(budget_ns - (double)runner->spent_ns, 0.0);
	const double by_pairs =
		most > runner->pairs ? (double)runner->per_pair_ns * (most - runner->pairs) : 0.0;

	if (most == 0)
		return by_budget;
	return budget_ns > 0 ? fmin(by_budget, by_pairs) : by_pairs;
}

static void describe(const struct fg_progress *progress, const struct fg_runner_progress *runner,
		     const struct fg_gate_progress *gate, struct fg_strbuf *line)
{
	char change[FG_NUMBER_TEXT_SIZE];
	char low[FG_NUMBER_TEXT_SIZE];
	char high[FG_NUMBER_TEXT_SIZE];
	char left[FG_NUMBER_TEXT_SIZE];
	const unsigned most = pair_limit(progress, runner);
	const double left_ns = max_ns_left(progress, runner);

	if (progress->total > 1)
		fg_strbuf_printf(line, "[%zu/%zu] ", progress->index, progress->total);
	fg_text_add_clean(line, runner->series->name, strlen(runner->series->name), 60);
	if (phase_words[runner->phase]) {
		fg_strbuf_printf(line, "  %s", phase_words[runner->phase]);
		return;
	}
	fg_strbuf_printf(line, "  pair %u", runner->pairs);
	if (most > 0)
		fg_strbuf_printf(line, " of at most %u", most);
	if (gate && isfinite(gate->ratio) && isfinite(gate->low) && isfinite(gate->high))
		fg_strbuf_printf(line, "  %s [%s, %s]", fg_format_change(gate->ratio - 1.0, change),
				 fg_format_change(gate->low - 1.0, low),
				 fg_format_change(gate->high - 1.0, high));
	if (runner->per_pair_ns > 0 && left_ns >= (double)FG_NS_PER_S)
		fg_strbuf_printf(line, "  at most %s left", fg_format_duration(left_ns, left));
}

void fg_progress_begin(struct fg_progress *progress, const char *benchmark)
{
	const struct fg_cli *cli = progress->cli;
	struct fg_strbuf name = {0};

	progress->drawn_ns = fg_clock_monotonic_ns();
	if (cli->quiet || cli->err_is_terminal || progress->is_part)
		return;
	fg_text_add_clean(&name, benchmark, strlen(benchmark), 60);
	fg_cli_say(cli, "measuring %s (%zu of %zu)", fg_strbuf_text(&name), progress->index,
		   progress->total);
	fg_strbuf_release(&name);
}

void fg_progress_show(struct fg_progress *progress, const struct fg_runner_progress *runner,
		      const struct fg_gate_progress *gate)
{
	const struct fg_cli *cli = progress->cli;
	const int64_t now = fg_clock_monotonic_ns();
	const int64_t wait_ns =
		cli->err_is_terminal ? REDRAW_MS * FG_NS_PER_MS : PLAIN_LINE_S * FG_NS_PER_S;
	struct fg_strbuf line = {0};

	if (cli->quiet ||
	    (now - progress->drawn_ns < wait_ns && (progress->is_drawn || !cli->err_is_terminal)))
		return;
	describe(progress, runner, gate, &line);
	if (cli->err_is_terminal) {
		/*
		 * A character has at least one byte per column, so text cut by bytes is never too
		 * wide. The cut does not split characters.
		 */
		struct fg_strbuf cut = {0};

		fg_text_add_clean(&cut, fg_strbuf_text(&line), line.length,
				  cli->columns > 1 ? cli->columns - 1 : 1);
		(void)fprintf(stderr, "\r\033[K%s", fg_strbuf_text(&cut));
		(void)fflush(stderr);
		fg_strbuf_release(&cut);
		progress->is_drawn = true;
	} else {
		fg_cli_say(cli, "%s", fg_strbuf_text(&line));
	}
	progress->drawn_ns = now;
	fg_strbuf_release(&line);
}

void fg_progress_clear(struct fg_progress *progress)
{
	if (!progress->is_drawn)
		return;
	(void)fprintf(stderr, "\r\033[K");
	(void)fflush(stderr);
	progress->is_drawn = false;
}
