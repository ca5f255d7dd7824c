// SPDX-License-Identifier: Apache-2.0
#include "cli/session/stored.h"
#include "reporters/explain.h"

struct options {
	const char *store;
	const char *project;
	const char *benchmark;
};

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	FG_ROW_NAME(struct options, benchmark, "bench", 0, "NAME", FG_COMPLETE_BENCHMARK,
		    "explain this benchmark instead of the most urgent one"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN", .help = FG_CLI_STORED_RUN_WORDS, .max = 1},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate explain", "explain the newest run's verdict"},
	{"fastgate explain --bench parse", "one of several benchmarks that failed"},
	{"fastgate explain --json", "the same as JSON, at most 32 KiB"},
	{NULL, NULL},
};

/*
 * Finds the benchmark by name. If `wanted` is NULL, sets NULL, which means the leading benchmark.
 */
static int choose(const struct fg_verdict *verdict, const char *wanted,
		  const struct fg_benchmark_verdict **benchmark, struct fg_error *err)
{
	*benchmark = NULL;
	for (size_t i = 0; wanted && i < verdict->benchmark_count && !*benchmark; i++) {
		if (strcmp(verdict->benchmarks[i].name, wanted) == 0)
			*benchmark = &verdict->benchmarks[i];
	}
	if (wanted && !*benchmark)
		return fg_error_set(err, FG_ENOENT, "the run has no benchmark '%s'", wanted);
	return FG_OK;
}

static int explain(const struct fg_cli *cli, const struct fg_stored_run *stored, const char *wanted,
		   struct fg_error *err)
{
	struct fg_verdict verdict = {0};
	const struct fg_report report = {.run = &stored->run, .verdict = &verdict};
	const struct fg_benchmark_verdict *benchmark = NULL;
	struct fg_strbuf text = {0};
	int status = FG_OK;

	FG_TRY(fg_stored_run_verdict(stored, &verdict, err));
	status = choose(&verdict, wanted, &benchmark, err);
	if (status == FG_OK && cli->json) {
		fg_explain_json(&report, benchmark, &text);
		fg_cli_print(cli, &text);
	} else if (status == FG_OK) {
		fg_explain_text(&report, benchmark, &text);
		fg_cli_page(cli, &text);
	}
	fg_strbuf_release(&text);
	fg_verdict_release(&verdict);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_stored_run stored = {0};
	struct fg_error err = {0};
	int status = fg_cli_load_run(given->store, given->project,
				     cli->argument_count ? cli->arguments[0] : NULL, &stored, &err);

	if (status == FG_OK)
		status = explain(cli, &stored, given->benchmark, &err);
	fg_stored_run_release(&stored);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg_cmd_explain = {
	.name = "explain",
	.group = FG_CLI_GROUP_GATE,
	.summary = "explain a run's verdict, with the evidence",
	.description =
		"Prints a stored run's verdict, then the evidence for its most urgent "
		"benchmark, or for the benchmark that --bench names: the rule and its numbers, "
		"counted work, other causes and whether they are ruled out, commands that "
		"reproduce the run, the functions and their callers, and the lines and "
		"instructions of the first function, with their costs on both sides. Up to "
		"ten other benchmarks that did not pass get one line each.\n"
		"\n"
		"The document is at most 32 KiB, for a reviewer or a coding assistant "
		"(docs/formats/report.md). It contains neither values of environment variables "
		"nor output of the program.\n"
		"\n"
		"The exit code reports whether the document was printed, not the verdict.",
	FG_CLI_TABLES,
	.has_json = true,
	.run = run,
};
