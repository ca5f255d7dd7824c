// SPDX-License-Identifier: Apache-2.0
#include "cli/session/stored.h"
#include "reporters/explain.h"

struct options {
	const char *store;
	const char *project;
};

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN", .help = FG_CLI_STORED_RUN_WORDS, .max = 1},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate explain", "why the newest run ended as it did"},
	{"fastgate explain --json", "the same for a program or an assistant, at most 32 KiB"},
	{NULL, NULL},
};

static int explain(const struct fg_cli *cli, const struct fg_stored_run *stored,
		   struct fg_error *err)
{
	struct fg_verdict verdict = {0};
	const struct fg_report report = {.run = &stored->run, .verdict = &verdict};
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (!stored->report)
		return fg_error_set(err, FG_ENOENT, "run %s has no verdict: it %s", stored->run.id,
				    stored->run.complete ? "was recorded, not compared"
							 : "was interrupted");
	status = fg_report_read(stored->report, strlen(stored->report), &verdict, err);
	if (status != FG_OK)
		return status;
	if (cli->json) {
		fg_explain_json(&report, &text);
		fg_cli_print(cli, &text);
	} else {
		fg_explain_text(&report, &text);
		fg_cli_page(cli, &text);
	}
	fg_strbuf_release(&text);
	fg_verdict_release(&verdict);
	return FG_OK;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_stored_run stored = {0};
	struct fg_error err = {0};
	int status = fg_cli_load_run(given->store, given->project,
				     cli->argument_count ? cli->arguments[0] : NULL, &stored, &err);

	if (status == FG_OK)
		status = explain(cli, &stored, &err);
	fg_stored_run_release(&stored);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg_cmd_explain = {
	.name = "explain",
	.group = FG_CLI_GROUP_GATE,
	.summary = "why a run ended as it did, with the evidence",
	.description =
		"Prints the answer of a stored run, then the evidence for its leading benchmark: "
		"the rule and its numbers, counted work, what else could have caused it and was "
		"ruled out, commands that reproduce it, the functions and who calls them, and the "
		"lines and instructions of the first one, with their costs on both sides.\n\n"
		"The document is at most 32 KiB, for a reviewer or a coding assistant "
		"(docs/formats/report.md). It holds no values of the environment and no output of "
		"the program.\n\n"
		"The exit code says whether it could be printed, not what the verdict was.",
	FG_CLI_TABLES,
	.has_json = true,
	.run = run,
};
