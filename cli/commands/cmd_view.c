// SPDX-License-Identifier: Apache-2.0
#include "cli/session/profile_command.h"
#include "views/view.h"

struct options {
	struct fg_cli_profile_options profile;
	int view;
	unsigned rows;
	unsigned depth;
	unsigned width;
	double floor;
	const char *function;
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
	FG_CLI_CHOICE(struct options, view, "view", 'V', "VIEW", views, "flat", "what to show"),
	FG_CLI_COUNT(struct options, rows, "rows", 'n', 1000000, NULL,
		     "at most so many rows, functions, units or steps of time"),
	FG_CLI_FLAG(struct options, all, "all", 'a', "leave nothing out"),
	FG_CLI_SHARE(struct options, floor, "floor", NULL,
		     "leave out what is below this share of the time: 0.5%"),
	FG_CLI_COUNT(struct options, depth, "depth", 0, 100000, NULL, "levels of a tree"),
	FG_CLI_FLAG(struct options, inclusive, "inclusive", 'i',
		    "order lists by inclusive instead of self time"),
	FG_CLI_TEXT(struct options, function, "function", 'f', "REGEX",
		    "the functions that callgraph and paths are about"),
	FG_CLI_FLAG(struct options, errors, "errors", 'e',
		    "show the standard error of each figure"),
	FG_CLI_FLAG(struct options, csv, "csv", 0,
		    "write comma-separated values, nothing rounded or left out"),
	{.name = "width",
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, width),
	 .argument = "COLUMNS",
	 .minimum = 40,
	 .maximum = 100000,
	 .help = "cut names to fit (default: the terminal's width; whole names elsewhere)"},
	FG_CLI_PROFILE_OPTIONS(struct options, profile),
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate view", "where the newest run spent its time"},
	{"fastgate view -V callgraph -f 'fit\\(' latest~1", "who calls fit, and what it calls"},
	{"fastgate view -V top-down --region ^reco/fit trace/",
	 "the call tree inside a marked region"},
	{"fastgate view -V paths -f '^log'", "on which paths, and in which events, log costs"},
	{"fastgate view -V timeline --from 2s --to 5s trace/", "three seconds of a program's life"},
	{"fastgate view --by class --csv -o classes.csv", "a table for a spreadsheet"},
	{NULL, NULL},
};

static unsigned text_width(const struct fg_cli *cli, const struct options *given)
{
	if (given->width > 0)
		return given->width;
	return cli->out_is_terminal && !given->profile.output ? cli->columns : 0;
}

static int show(struct fg_cli *cli, const struct options *given, const struct fg_view_table *table,
		struct fg_error *err)
{
	const struct fg_view_text_options text_options = {
		.columns = text_width(cli, given),
		.color = cli->color_out && !given->profile.output,
		.errors = given->errors,
	};
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (cli->json)
		fg_view_write_json(table, &text);
	else if (given->csv)
		fg_view_write_csv(table, &text);
	else
		fg_view_write_text(table, &text_options, &text);
	if (given->profile.output || cli->json || given->csv)
		status = fg_cli_write(cli, given->profile.output, &text, err);
	else
		fg_cli_page(cli, &text);
	fg_strbuf_release(&text);
	return status;
}

static int make(struct fg_cli *cli, void *context, const struct fg_profile *profile,
		const struct fg_calltree_query *query, struct fg_error *err)
{
	const struct options *given = context;
	const bool is_data = cli->json || given->csv;
	const struct fg_view_options view_options = {
		.query = *query,
		.rows = given->rows,
		.all = given->all || (is_data && given->rows == 0 && !(given->floor > 0)),
		.floor = given->floor,
		.depth = given->depth,
		.by_inclusive = given->inclusive,
		.function = given->function,
	};
	struct fg_view_table table;
	int status =
		fg_view_make(fg_view_find(views[given->view]), profile, &view_options, &table, err);

	if (status != FG_OK)
		return status;
	status = show(cli, given, &table, err);
	fg_view_table_release(&table);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	struct options given = *(const struct options *)values;

	if (cli->json && given.csv)
		return fg_cli_usage(cli, "--json and --csv exclude each other");
	given.profile.run.prefers_samples = fg_view_find(views[given.view])->needs_samples;
	return fg_cli_run_on_profile(cli, &given.profile,
				     &(struct fg_cli_profile_use){make, &given});
}

const struct fg_cli_command fg_cmd_view = {
	.name = "view",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "show where a program spends its time",
	.description =
		"Shows a profile as a list, a call graph, a tree, or over time. Every figure is "
		"what was sampled; with --errors each comes with its standard error, and --json "
		"and --csv always have it. All filters combine.\n"
		"\n"
		"Views: flat (functions by self time), callgraph (each function between its "
		"callers and callees, as gprof prints it), top-down and bottom-up (trees), lines, "
		"libraries, classes, namespaces, files, threads, regions (marked ones, by branch, "
		"with their functions), units (units of work: the slowest, and statistics for each "
		"region), timeline, and paths (conditional cost: a function's time by calling "
		"path, and how it varies from unit to unit).\n"
		"\n"
		"Regular expressions are POSIX extended ones. They are matched against a "
		"function's name, and against 'name [library]'.",
	.options = options,
	.options_size = sizeof(struct options),
	.arguments = fg_cli_run_arguments,
	.examples = examples,
	.has_json = true,
	.run = run,
};
