// SPDX-License-Identifier: Apache-2.0
#include "cli/query_options.h"
#include "cli/run_argument.h"
#include "profile/view.h"

struct options {
	struct fg_cli_run_options run;
	struct fg_cli_query_options query;
	int view;
	unsigned rows;
	unsigned depth;
	unsigned width;
	double floor;
	const char *function;
	const char *output;
	bool all;
	bool inclusive;
	bool errors;
	bool csv;
};

/* In the order of fg_views. */
static const char *const views[] = {"flat",      "callgraph", "top-down",   "bottom-up", "lines",
				    "libraries", "classes",   "namespaces", "files",     "threads",
				    "regions",   "units",     "timeline",   "paths",     NULL};

static const struct fg_option options[] = {
	{.name = "view",
	 .letter = 'V',
	 .kind = FG_OPTION_CHOICE,
	 .offset = offsetof(struct options, view),
	 .argument = "VIEW",
	 .choices = views,
	 .initial = "flat",
	 .help = "what to show"},
	{.name = "rows",
	 .letter = 'n',
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, rows),
	 .argument = "N",
	 .minimum = 1,
	 .maximum = 1000000,
	 .help = "at most so many rows, functions, units or steps of time"},
	{.name = "all",
	 .letter = 'a',
	 .kind = FG_OPTION_FLAG,
	 .offset = offsetof(struct options, all),
	 .help = "leave nothing out"},
	{.name = "floor",
	 .kind = FG_OPTION_RATIO,
	 .offset = offsetof(struct options, floor),
	 .argument = "SHARE",
	 .minimum = 0,
	 .maximum = 1,
	 .help = "leave out what is below this share of the time: 0.5%"},
	{.name = "depth",
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, depth),
	 .argument = "N",
	 .minimum = 1,
	 .maximum = 100000,
	 .help = "levels of a tree"},
	{.name = "inclusive",
	 .letter = 'i',
	 .kind = FG_OPTION_FLAG,
	 .offset = offsetof(struct options, inclusive),
	 .help = "order lists by inclusive instead of self time"},
	{.name = "function",
	 .letter = 'f',
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, function),
	 .argument = "REGEX",
	 .help = "the functions that callgraph and paths are about"},
	{.name = "errors",
	 .letter = 'e',
	 .kind = FG_OPTION_FLAG,
	 .offset = offsetof(struct options, errors),
	 .help = "show the standard error of each figure"},
	{.name = "csv",
	 .kind = FG_OPTION_FLAG,
	 .offset = offsetof(struct options, csv),
	 .help = "write comma-separated values, nothing rounded or left out"},
	{.name = "width",
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, width),
	 .argument = "COLUMNS",
	 .minimum = 40,
	 .maximum = 100000,
	 .help = "cut names to fit (default: the terminal's width; whole names elsewhere)"},
	{.name = "output",
	 .letter = 'o',
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, output),
	 .argument = "FILE",
	 .complete = FG_COMPLETE_FILE,
	 .help = "write to a file; '-' is standard output"},
	FG_CLI_QUERY_OPTIONS(struct options, query),
	FG_CLI_RUN_OPTIONS(struct options, run),
	{.name = NULL					   },
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN",
	 .help = "a stored run, a trace, an exported run or another tool's profile; the newest when "
		 "left out", .max = 1,
	 .complete = FG_COMPLETE_FILE},
	{.name = NULL    },
};

static const struct fg_cli_example examples[] = {
	{"fastgate view",				       "where the newest run spent its time"           },
	{"fastgate view -V callgraph -f 'fit\\(' latest~1",     "who calls fit, and what it calls"              },
	{"fastgate view -V top-down --region ^reco/fit trace/",
	 "the call tree inside a marked region"								 },
	{"fastgate view -V paths -f '^log'",                    "on which paths, and in which events, log costs"},
	{"fastgate view -V timeline --from 2s --to 5s trace/",  "three seconds of a program's life"             },
	{"fastgate view --by class --csv -o classes.csv",       "a table for a spreadsheet"                     },
	{NULL,						  NULL					    },
};

static unsigned text_width(const struct fg_cli *cli, const struct options *given)
{
	if (given->width > 0)
		return given->width;
	return cli->out_is_terminal && !given->output ? cli->columns : 0;
}

static int show(struct fg_cli *cli, const struct options *given, const struct fg_view_table *table,
		struct fg_error *err)
{
	const struct fg_view_text_options text_options = {
		.columns = text_width(cli, given),
		.color = cli->color_out && !given->output,
		.errors = given->errors,
	};
	struct fg_strbuf text = {0};
	int rc = FG_OK;

	if (cli->json)
		fg_view_write_json(table, &text);
	else if (given->csv)
		fg_view_write_csv(table, &text);
	else
		fg_view_write_text(table, &text_options, &text);
	if (given->output || cli->json || given->csv)
		rc = fg_cli_write(cli, given->output, &text, err);
	else
		fg_cli_page(cli, &text);
	fg_strbuf_release(&text);
	return rc;
}

static int make(struct fg_cli *cli, const struct options *given, const struct fg_profile *profile,
		struct fg_error *err)
{
	const bool is_data = cli->json || given->csv;
	struct fg_view_options view_options = {
		.rows = given->rows,
		.all = given->all || (is_data && given->rows == 0 && !(given->floor > 0)),
		.floor = given->floor,
		.depth = given->depth,
		.by_inclusive = given->inclusive,
		.function = given->function,
	};
	struct fg_view_table table;
	int rc = fg_cli_make_query(cli, &given->query, profile, &view_options.query, err);

	if (rc == FG_OK)
		rc = fg_view_make(fg_view_find(views[given->view]), profile, &view_options, &table,
				  err);
	if (rc != FG_OK)
		return rc;
	rc = show(cli, given, &table, err);
	fg_view_table_release(&table);
	return rc;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_profile profile;
	struct fg_error err = {0};
	int rc = FG_OK;

	if (cli->json && given->csv)
		return fg_cli_usage(cli, "--json and --csv exclude each other");
	rc = fg_cli_load_profile(cli, &given->run, cli->arguments[0], &profile, &err);
	if (rc != FG_OK)
		return fg_cli_fail(cli, &err);
	fg_cli_tell_notes(cli, &profile);
	rc = make(cli, given, &profile, &err);
	fg_profile_release(&profile);
	return rc == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg__cmd_view = {
	.name = "view",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "show where a program spends its time",
	.description =
		"Shows a profile as a list, a call graph, a tree, or over time. Every figure is what was "
		"sampled; with --errors each comes with its standard error, and --json and --csv always "
		"have it. All filters combine.\n"
		"\n"
		"Views: flat (functions by self time), callgraph (each function between its callers and "
		"callees, as gprof prints it), top-down and bottom-up (trees), lines, libraries, classes, "
		"namespaces, files, threads, regions (marked ones, by branch, with their functions), units "
		"(units of work: the slowest, and statistics for each region), timeline, and paths "
		"(conditional cost: a function's time by calling path, and how it varies from unit to "
		"unit).\n"
		"\n"
		"Regular expressions are POSIX extended ones. A function is matched as 'name [library]'.",
	.options = options,
	.options_size = sizeof(struct options),
	.arguments = arguments,
	.examples = examples,
	.has_json = true,
	.run = run,
};
