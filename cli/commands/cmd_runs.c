// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/session/stored.h"
#include "reporters/card.h"
#include "reporters/reporter.h"

struct options {
	const char *store;
	const char *project;
	const char *branch;
	const char *commit;
	const char *tag;
	const char *benchmark;
	const char *outcome;
	const char *fact;
	const char *output;
	unsigned limit;
	bool complete;
};

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	FG_ROW_TEXT(struct options, branch, "branch", 0, "NAME", "only runs of this git branch"),
	FG_ROW_TEXT(struct options, commit, "commit", 0, "HASH",
		    "only runs of this commit (at least 4 digits)"),
	FG_ROW_TEXT(struct options, tag, "tag", 0, "NAME", "only runs of this git tag"),
	FG_ROW_NAME(struct options, benchmark, "benchmark", 0, "NAME", FG_COMPLETE_BENCHMARK,
		    "only runs that measured this benchmark"),
	FG_ROW_TEXT(struct options, outcome, "outcome", 0, "WORD",
		    "only runs with this outcome: pass, regression, ..."),
	FG_ROW_TEXT(struct options, fact, "fact", 0, "KEY[=VALUE]",
		    "only runs with this build or host condition"),
	FG_ROW_FLAG(struct options, complete, "complete", 0, "leave interrupted runs out"),
	FG_ROW_COUNT(struct options, limit, "limit", 'n', 1000, "20", "number of runs to list"),
	FG_ROW_FILE(struct options, output, "output", 'o',
		    "file for `export` to write instead of <id>.fgrun"),
	{.name = NULL},
};

static const char *const actions[] = {"list", "export", "import", NULL};

static const struct fg_cli_argument arguments[] = {
	{.name = "ACTION", .help = "what to do (default: list)", .max = 1, .choices = actions},
	{.name = "WHAT", .help = "the run to export, or the files to import"},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate runs", "the newest runs of this project's store"},
	{"fastgate runs --branch main --outcome regression", "runs of a branch that regressed"},
	{"fastgate runs export latest -o today.fgrun", "the newest run as one file"},
	{"fastgate runs import today.fgrun", "put that run into another store"},
	{NULL, NULL},
};

static void add_cell(struct fg_strbuf *text, const char *value, size_t width)
{
	const size_t used = value ? fg_text_width(value) : 0;

	fg_text_add_clean(text, value ? value : "", value ? strlen(value) : 0, SIZE_MAX);
	fg_strbuf_add_repeated(text, ' ', used < width ? width - used + 2 : 2);
}

enum {
	ID_COLUMNS = 36,
	TIME_COLUMNS = 16,
	VERDICT_COLUMNS = 12,
	COMMIT_COLUMNS = 11,
	BRANCH_COLUMNS = 16,
	COUNT_COLUMNS = 10,
};

static void add_header(struct fg_strbuf *text)
{
	add_cell(text, "run", ID_COLUMNS);
	add_cell(text, "started (UTC)", TIME_COLUMNS);
	add_cell(text, "verdict", VERDICT_COLUMNS);
	add_cell(text, "commit", COMMIT_COLUMNS);
	add_cell(text, "branch", BRANCH_COLUMNS);
	add_cell(text, "benchmarks", COUNT_COLUMNS);
	fg_strbuf_add_text(text, "project\n");
}

/* Adds the cause of a run's change, on one line below its row. */
static void add_cause(struct fg_strbuf *text, const char *report)
{
	struct fg_verdict verdict = {0};
	struct fg_error err = {0};

	if (!report || fg_report_read(report, strlen(report), &verdict, &err) != FG_OK)
		return;
	if (verdict.outcome != FG_OUTCOME_PASS && verdict.outcome != FG_OUTCOME_NEW) {
		fg_strbuf_add_text(text, "  ");
		fg_card_add_run_sentence(text, &verdict, NULL);
		fg_strbuf_add_char(text, '\n');
	}
	fg_verdict_release(&verdict);
}

static void add_row(struct fg_strbuf *text, const struct fg_run_summary *run)
{
	char time[FG_TIME_TEXT_SIZE];
	char *commit =
		run->commit ? fg_xasprintf("%.10s%s", run->commit, run->dirty ? "+" : "") : NULL;
	char count[24];

	fg_time_format_utc(run->started_ns, time);
	time[16] = '\0';
	time[10] = ' ';
	(void)snprintf(count, sizeof(count), "%zu", run->benchmark_count);
	add_cell(text, run->id, ID_COLUMNS);
	add_cell(text, time, TIME_COLUMNS);
	add_cell(text, run->complete ? (run->outcome ? run->outcome : "-") : "interrupted",
		 VERDICT_COLUMNS);
	add_cell(text, commit ? commit : "-", COMMIT_COLUMNS);
	add_cell(text, run->branch ? run->branch : "-", BRANCH_COLUMNS);
	add_cell(text, count, COUNT_COLUMNS);
	fg_text_add_clean(text, run->project, strlen(run->project), SIZE_MAX);
	fg_strbuf_add_char(text, '\n');
	free(commit);
}

/* A run that cannot be read still has a row. */
static void add_cause_of(struct fg_strbuf *text, struct fg_store *store,
			 const struct fg_run_summary *run)
{
	struct fg_stored_run stored = {0};
	struct fg_error err = {0};

	if (!run->outcome || strcmp(run->outcome, "pass") == 0 || strcmp(run->outcome, "new") == 0)
		return;
	if (fg_store_load_run(store, run->id, &stored, &err) == FG_OK)
		add_cause(text, stored.report);
	fg_stored_run_release(&stored);
}

static void print_list(struct fg_cli *cli, struct fg_store *store, const struct fg_run_list *list)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	if (cli->json) {
		fg_json_writer_init(&w, &text, 2);
		fg_json_begin_object(&w, NULL);
		fg_json_begin_array(&w, "runs");
		for (size_t i = 0; i < list->count; i++)
			fg_run_summary_write(&w, NULL, &list->items[i]);
		fg_json_end(&w);
		fg_json_bool(&w, "more", list->more);
		fg_json_end(&w);
		fg_strbuf_add_char(&text, '\n');
		fg_cli_print(cli, &text);
	} else {
		if (list->count > 0)
			add_header(&text);
		for (size_t i = 0; i < list->count; i++) {
			add_row(&text, &list->items[i]);
			add_cause_of(&text, store, &list->items[i]);
		}
		fg_cli_page(cli, &text);
		if (list->count == 0)
			fg_cli_say(cli, "no run matches");
		else if (list->more)
			fg_cli_say(cli, "there are older runs: --limit shows more");
	}
	fg_strbuf_release(&text);
}

static int list_runs(struct fg_cli *cli, const struct options *given)
{
	struct fg_run_filter filter = {
		.project = given->project,
		.branch = given->branch,
		.commit = given->commit,
		.tag = given->tag,
		.benchmark = given->benchmark,
		.outcome = given->outcome,
		.complete_only = given->complete,
		.limit = given->limit,
	};
	struct fg_store *store = NULL;
	struct fg_run_list list = {0};
	struct fg_error err = {0};
	int status = fg_cli_open_store(given->store, FG_STORE_READ_ONLY, &store, &err);

	if (given->fact) {
		char *key = fg_arena_strdup(&cli->arena, given->fact);
		char *value = strchr(key, '=');

		if (value)
			*value++ = '\0';
		filter.fact_key = key;
		filter.fact_value = value;
	}
	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(fg_store_list(store, &filter, &list, &err));
	print_list(cli, store, &list);
out:
	fg_run_list_release(&list);
	fg_store_close(store);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

static int export_run(struct fg_cli *cli, const struct options *given)
{
	const char *words = cli->argument_count > 1 ? cli->arguments[1] : NULL;
	struct fg_stored_run stored = {0};
	struct fg_error err = {0};
	int status = FG_OK;

	if (cli->argument_count > 2)
		return fg_cli_usage(cli, "export needs exactly one run");
	status = fg_cli_load_run(given->store, given->project, words, &stored, &err);
	if (status == FG_OK)
		status = fg_cli_export_run(
			cli, &stored,
			given->output ? given->output
				      : fg_arena_printf(&cli->arena, "%s.fgrun", stored.run.id),
			&err);
	fg_stored_run_release(&stored);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

static int import_run(struct fg_cli *cli, struct fg_store *store, const char *path,
		      struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	int status = FG_OK;

	FG_TRY(fg_cli_run_from_file(path, &stored, err));
	FG_TRY_OUT(fg_store_save(store, &stored.run, stored.profiles, stored.report, err));
	fg_cli_say(cli, "imported run %s of project %s", stored.run.id, stored.run.project);
out:
	fg_stored_run_release(&stored);
	return status;
}

static int import_runs(struct fg_cli *cli, const struct options *given)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = FG_OK;

	if (cli->argument_count < 2)
		return fg_cli_usage(cli, "import needs at least one file");
	status = fg_cli_open_store(given->store, 0, &store, &err);
	for (size_t i = 1; i < cli->argument_count && status == FG_OK; i++)
		status = import_run(cli, store, cli->arguments[i], &err);
	fg_store_close(store);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

static int run(struct fg_cli *cli, const void *values)
{
	const char *action = cli->argument_count ? cli->arguments[0] : "list";

	if (strcmp(action, "export") == 0)
		return export_run(cli, values);
	if (strcmp(action, "import") == 0)
		return import_runs(cli, values);
	if (cli->argument_count > 1)
		return fg_cli_usage(
			cli, "list accepts no further arguments: use --branch, --commit, --tag, "
			     "...");
	return list_runs(cli, values);
}

const struct fg_cli_command fg_cmd_runs = {
	.name = "runs",
	.group = FG_CLI_GROUP_RUNS,
	.summary = "list stored runs, or export and import them as files",
	.description =
		"Lists the runs in the store, newest first. Options narrow the list: a run must "
		"match all of them.\n"
		"\n"
		"`export` writes one run with everything that belongs to it (values, profiles, "
		"conditions, verdict) as one file; `import` puts such files into a store. A "
		"perfdb server accepts the same files.",
	FG_CLI_TABLES,
	.has_json = true,
	.run = run,
};
