// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "cli/profile/query.h"
#include "gate/gate.h"
#include "profile/views/view.h"
#include "reporters/reporter.h"

struct options {
	const char *store;
	const char *project;
	const char *format;
	const char *output;
	const char *measure;
};

/*
 * Compares the candidates of both runs, even if a run also measured a baseline. The verdict has the
 * `stored` schedule and is weaker, because the runs are two sessions, perhaps on two machines.
 */
static int decide(const struct fg_stored_run *baseline, const struct fg_stored_run *candidate,
		  const char *given_measure, struct fg_verdict *verdict, struct fg_error *err)
{
	struct fg_arena arena = {0};
	struct fg_policy policy;
	struct fg_measuring measure;
	const struct fg_gate_input input = {
		.run = &candidate->run,
		.baseline = &baseline->run,
		.profiles = (const struct fg_profile_set *const *)candidate->profiles,
		.baseline_profiles = (const struct fg_profile_set *const *)baseline->profiles,
		.policy = &policy,
		.measure = &measure,
		.now_ns = fg_clock_wall_ns(),
	};
	int status = FG_OK;

	fg_report_restore_arguments(baseline->report, &baseline->run, baseline->profiles);
	fg_report_restore_arguments(candidate->report, &candidate->run, candidate->profiles);
	fg_policy_defaults(&policy);
	fg_measuring_defaults(&measure);
	if (given_measure) {
		FG_TRY_OUT(fg_policy_only_measure(&policy, given_measure, &candidate->run, &arena,
						  err));
	}
	status = fg_gate_decide(&input, verdict, err);
out:
	fg_arena_release(&arena);
	return status;
}

static int write_report(struct fg_cli *cli, const struct options *given,
			const struct fg_stored_run *candidate, const struct fg_verdict *verdict,
			struct fg_error *err)
{
	const char *format = given->format ? given->format : cli->json ? "json" : "terminal";
	const struct fg_reporter *reporter = fg_reporter_find(format, err);
	const struct fg_report report = {
		.run = &candidate->run,
		.verdict = verdict,
		.profiles = (const struct fg_profile_set *const *)candidate->profiles,
	};
	const struct fg_report_options how = {
		.verbose = cli->verbose,
		.color = cli->color_out && !given->output,
		.width = cli->out_is_terminal && !given->output ? cli->columns : 0,
	};
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (!reporter)
		return FG_EINVAL;
	reporter->write(&report, &how, &text);
	if (!given->output && strcmp(format, "terminal") == 0)
		fg_cli_print_escaped(cli, &text);
	else
		status = fg_cli_write(cli, given->output, &text, err);
	fg_strbuf_release(&text);
	return status;
}

/* ---- profiles ---- */

static int write_difference(struct fg_cli *cli, const struct options *given,
			    const struct fg_cli_difference *difference, struct fg_error *err)
{
	const char *format = given->format ? given->format : "terminal";
	const bool as_json = cli->json || strcmp(format, "json") == 0;
	const bool as_csv = !as_json && strcmp(format, "csv") == 0;
	const struct fg_view_options options = {.all = as_json || as_csv || cli->verbose};
	const struct fg_view_text_options how = {
		.columns = cli->out_is_terminal && !given->output ? cli->columns : 0,
		.color = cli->color_out && !given->output,
	};
	struct fg_view_table table;
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (!as_json && !as_csv && strcmp(format, "terminal") != 0)
		return fg_error_set(
			err, FG_EINVAL,
			"a comparison of two profiles can be written as text (terminal), "
			"json or csv, not as %.20s; `fastgate graph A B` draws the difference",
			format);
	fg_view_difference(&difference->tree, difference->titles, &options, &table);
	if (as_json)
		fg_view_write_json(&table, 1, &text);
	else if (as_csv)
		fg_view_write_csv(&table, &text);
	else
		fg_view_write_text(&table, &how, &text);
	if (given->output || as_json || as_csv)
		status = fg_cli_write(cli, given->output, &text, err);
	else
		fg_cli_print_escaped(cli, &text);
	fg_view_table_release(&table);
	fg_strbuf_release(&text);
	return status;
}

/* A profile alone does not show its noise, so profiles get no verdict. */
static int compare_profiles(struct fg_cli *cli, const struct options *given, struct fg_error *err)
{
	const char *const words[] = {cli->arguments[0], cli->arguments[1]};
	const struct fg_cli_profile_options options = {
		.run = {.store = given->store, .project = given->project},
		.query.query.measure = given->measure,
	};
	struct fg_cli_difference difference;
	int status = FG_OK;

	FG_TRY(fg_cli_build_difference(cli, &options, words, &difference, err));
	status = write_difference(cli, given, &difference, err);
	fg_calltree_release(&difference.tree);
	return status;
}

static bool is_profile(const struct fg_run *run)
{
	for (size_t i = 0; i < run->series_count; i++) {
		if (!fg_series_is_profile(&run->series[i]))
			return false;
	}
	return run->series_count > 0;
}

/* ---- runs ---- */

/* Returns the verdict's exit code, or a negative status. */
static int compare_runs(struct fg_cli *cli, const struct options *given, struct fg_error *err)
{
	struct fg_stored_run baseline = {0};
	struct fg_stored_run candidate = {0};
	struct fg_verdict verdict = {0};
	int status =
		fg_cli_load_run(given->store, given->project, cli->arguments[0], &baseline, err);

	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(
		fg_cli_load_run(given->store, given->project, cli->arguments[1], &candidate, err));
	fg_cli_say_sides(cli, &baseline.run, FG_ARM_CANDIDATE, &candidate.run);
	if (is_profile(&baseline.run) || is_profile(&candidate.run)) {
		status = compare_profiles(cli, given, err);
		goto out;
	}
	FG_TRY_OUT(decide(&baseline, &candidate, given->measure, &verdict, err));
	fg_gate_note_sessions(&baseline.run, &candidate.run, &verdict);
	status = write_report(cli, given, &candidate, &verdict, err);
	if (status == FG_OK)
		status = (int)verdict.exit_code;
out:
	fg_verdict_release(&verdict);
	fg_stored_run_release(&candidate);
	fg_stored_run_release(&baseline);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const bool has_profile = fg_cli_is_profile_file(cli->arguments[0]) ||
				 fg_cli_is_profile_file(cli->arguments[1]);
	struct fg_error err = {0};
	const int status =
		has_profile ? compare_profiles(cli, given, &err) : compare_runs(cli, given, &err);

	return status < 0 ? fg_cli_fail(cli, &err) : status;
}

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	FG_ROW_TEXT(struct options, format, "format", 'f', "F",
		    "terminal, json, junit, markdown, html, csv, ..."),
	FG_ROW_TEXT(
		struct options, measure, "measure", 0, "NAME",
		"judge only by this measure of the profiles, and show which call paths changed it"),
	FG_ROW_FILE(struct options, output, "output", 'o', "write here instead of standard output"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "A",
	 .help = "the run to compare with: an id or its first digits, latest~1, a file, a "
		 "recording, or a commit (a tag, a branch, HEAD~3)",
	 .min = 1,
	 .max = 1,
	 .complete = FG_COMPLETE_FILE},
	{.name = "B",
	 .help = "the run that may be slower",
	 .min = 1,
	 .max = 1,
	 .complete = FG_COMPLETE_FILE},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate compare latest~1 latest", "the newest run against the previous one"},
	{"fastgate compare main 0192f3 --format html -o difference.html",
	 "write a page with the flame graph of the difference"},
	{"fastgate compare latest~1 latest --measure instructions",
	 "compare instruction counts, and show the functions that execute more"},
	{"fastgate compare fastgate-record.old fastgate-record",
	 "compare two recordings, function by function, without a verdict"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_compare = {
	.name = "compare",
	.group = FG_CLI_GROUP_GATE,
	.summary = "compare two stored runs: the verdict and its explanation",
	.description =
		"Compares two stored runs, metric by metric and function by function. Two runs "
		"come from two sessions, so the comparison is weaker than `run --against`: the "
		"variation between sessions widens the interval, and runs from different hosts "
		"are inconclusive at best.\n"
		"\n"
		"Two profiles (recordings, imports, another tool's profiles) are compared "
		"without a verdict: shares and times of each function before and after, and the "
		"difference.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXITS_OF_A_GATE,
	.has_json = true,
	.run = run,
};
