// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cli/session/plan.h"
#include "cli/session/session.h"
#include "cli/session/stored.h"

struct options {
	const char *format;
	const char *output;
	const char *store;
	const char *project;
	const char *source_root;
	const char *post_from;
	struct fg_cli_config config;
};

static const struct fg_option options[] = {
	FG_ROW_TEXT(struct options, format, "format", 'f', "FORMAT",
		    "terminal, json, junit, markdown, comment, html, github, gitlab, csv or "
		    "csv-raw (default: by FILE's extension)"),
	FG_ROW_FILE(struct options, output, "output", 'o', "write here instead of standard output"),
	FG_ROW_NAME(
		struct options, source_root, "source-root", 0, "FOLDER", FG_COMPLETE_FOLDER,
		"the checkout: annotations name files relative to it (default: $GITHUB_WORKSPACE)"),
	FG_ROW_FILE(
		struct options, post_from, "post-from", 0,
		"post this report.json to the targets of report.post in fastgate.yml, and write "
		"nothing"),
	FG_CLI_STORED_OPTIONS(struct options),
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN", .help = FG_CLI_STORED_RUN_WORDS, .max = 1},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate report", "the newest run again, on the terminal"},
	{"fastgate report -o fastgate.html", "write the report as one HTML page"},
	{"fastgate report main --format junit -o fastgate.xml",
	 "the newest run of branch main as JUnit XML"},
	{"fastgate report --format markdown >> \"$GITHUB_STEP_SUMMARY\"",
	 "append the report to the summary of a GitHub job"},
	{"fastgate report --post-from fastgate.json",
	 "post the report of a fork's pull request, whose own job may not post"},
	{NULL, NULL},
};

/* Returns the usual format for a file name, or NULL. */
static const char *format_of_file(const char *path)
{
	static const struct {
		const char *ending;
		const char *format;
	} rows[] = {
		{.ending = ".html", .format = "html"}, {.ending = ".json", .format = "json"},
		{.ending = ".xml", .format = "junit"}, {.ending = ".md", .format = "markdown"},
		{.ending = ".csv", .format = "csv"},   {.ending = ".txt", .format = "terminal"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		if (fg_text_ends_with(path, rows[i].ending))
			return rows[i].format;
	}
	return NULL;
}

static const char *choose_format(const struct fg_cli *cli, const struct options *given)
{
	const char *by_file = given->output ? format_of_file(given->output) : NULL;

	if (given->format)
		return given->format;
	if (cli->json)
		return "json";
	return by_file ? by_file : "terminal";
}

static void print(const struct fg_cli *cli, const struct fg_reporter *reporter,
		  const struct fg_report *report, const struct fg_report_options *look)
{
	struct fg_strbuf text = {0};

	reporter->write(report, look, &text);
	if (strcmp(reporter->name, "terminal") == 0)
		fg_cli_page(cli, &text);
	else
		fg_cli_print(cli, &text);
	fg_strbuf_release(&text);
}

static int write_report(struct fg_cli *cli, const struct options *given,
			const struct fg_reporter *reporter, const struct fg_stored_run *stored,
			struct fg_error *err)
{
	const bool to_stdout = !given->output || strcmp(given->output, "-") == 0;
	const struct fg_report_options look =
		fg_cli_report_style(cli, to_stdout, given->source_root);
	struct fg_verdict verdict = {0};
	struct fg_report report = {
		.run = &stored->run,
		.verdict = &verdict,
		.profiles = (const struct fg_profile_set *const *)stored->profiles,
	};
	int status = FG_OK;

	FG_TRY(fg_stored_run_verdict(stored, &verdict, err));
	if (to_stdout)
		print(cli, reporter, &report, &look);
	else
		status = fg_reporter_write_file(reporter, &report, &look, given->output, err);
	fg_verdict_release(&verdict);
	return status;
}

/* Works without fastgate.yml, because --set report.post=... is enough. */
static int post(const struct fg_cli *cli, const struct options *given)
{
	struct fg_plan plan = {0};
	struct fg_error err = {0};
	int code = fg_cli_load_plan(cli, &given->config, true, &plan);

	if (code == FG_EXIT_PASS) {
		code = fg_posts_send_file(cli, &plan, given->post_from, &err);
		code = code < 0 ? fg_cli_fail(cli, &err) : code;
	}
	fg_plan_release(&plan);
	return code;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_stored_run stored = {0};
	struct fg_error err = {0};
	const struct fg_reporter *reporter = fg_reporter_find(choose_format(cli, given), &err);
	int status = FG_OK;

	if (given->post_from && (cli->argument_count || given->format || given->output))
		return fg_cli_usage(
			cli,
			"--post-from posts a file, and cannot be combined with RUN, --format or "
			"--output");
	if (given->post_from)
		return post(cli, given);
	if (!reporter)
		return fg_cli_usage(cli, "%s", err.message);
	status = fg_cli_load_run(given->store, given->project,
				 cli->argument_count ? cli->arguments[0] : NULL, &stored, &err);
	if (status == FG_OK)
		status = write_report(cli, given, reporter, &stored, &err);
	fg_stored_run_release(&stored);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg_cmd_report = {
	.name = "report",
	.group = FG_CLI_GROUP_GATE,
	.summary = "write the report of a stored run again, in any format",
	.description =
		"Writes the verdict of a stored run: as the summary of `fastgate run`, as JSON "
		"(docs/formats/report.md), JUnit XML, Markdown, one HTML page, GitHub "
		"annotations, a GitLab metrics report, or CSV. The same run always gives the same "
		"bytes.\n"
		"\n"
		"Without --format, FILE's extension decides: .html, .json, .xml, .md, .csv, "
		".txt.\n"
		"\n"
		"With --post-from, the report of another job is posted, for workflows whose "
		"measuring job may not post (docs/ci.md). The content comes from the file; the "
		"pull request or commit comes from this job's environment. A post that fails "
		"only causes a warning; if the post is required, the exit code is 5.\n"
		"\n"
		"The exit code reports whether the report was written, not the verdict.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXIT(FG_EXIT_UPLOAD),
	.has_json = true,
	.run = run,
};
