// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "cli/profile/query.h"
#include "profile/views/view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct fg_cli_profile_options profile;
	int view;
	unsigned rows;
	unsigned depth;
	unsigned trace;
	const char *dumps;
	unsigned width;
	double floor;
	const char *function;
	bool all;
	bool inclusive;
	bool errors;
	bool csv;
	bool facts;
};

/* In the order of fg_views. */
static const char *const views[] = {
	"flat",     "callgraph",  "top-down",     "bottom-up", "lines",   "libraries",
	"classes",  "namespaces", "files",        "threads",   "regions", "units",
	"timeline", "paths",      "memory",       "leaks",     "growth",  "resident",
	"domains",  "times",      "instructions", NULL};

static const struct fg_option options[] = {
	FG_ROW_CHOICE(struct options, view, "view", 'V', "VIEW", views, "flat", "the view to show"),
	FG_ROW_COUNT(struct options, rows, "rows", 'n', 1000000, NULL,
		     "show at most this many rows, functions, units or time steps"),
	FG_ROW_FLAG(struct options, all, "all", 'a', "leave nothing out"),
	FG_ROW_SHARE(struct options, floor, "floor", NULL,
		     "leave out rows below this share of the time: 0.5%"),
	FG_ROW_COUNT(struct options, depth, "depth", 0, 100000, NULL,
		     "show this many levels of a tree"),
	FG_ROW_FLAG(struct options, inclusive, "inclusive", 'i',
		    "order lists by inclusive instead of self time"),
	FG_ROW_TEXT(struct options, function, "function", 'f', "REGEX",
		    "the functions to show in callgraph, paths, domains, times and instructions"),
	FG_ROW_COUNT(struct options, trace, "trace", 0, UINT32_MAX, NULL,
		     "the call path that domains and times show in full, by its number"),
	FG_ROW_TEXT(struct options, dumps, "dumps", 0, "FROM:TO",
		    "the two dumps that growth compares, by their numbers; TO may be 'end' "
		    "(default: first to last dump; with a single dump, that dump to the end)"),
	FG_ROW_FLAG(struct options, errors, "errors", 'e',
		    "show the standard error of each figure"),
	FG_ROW_FLAG(struct options, csv, "csv", 0,
		    "write comma-separated values: nothing is rounded, and rows are left out only "
		    "with --rows or --floor"),
	FG_ROW_FLAG(struct options, facts, "facts", 0,
		    "show how the profile was recorded: clock, blind spots, rate, cost"),
	{.name = "width",
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, width),
	 .argument = "COLUMNS",
	 .minimum = 40,
	 .maximum = 100000,
	 .help = "cut names to fit, but not below 16 columns (default: the terminal's width; "
		 "without a terminal, whole names)"},
	FG_CLI_PROFILE_OPTIONS(struct options, profile),
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate view", "where the newest run spent its time"},
	{"fastgate view -V callgraph -f 'fit\\(' latest~1", "the callers and callees of fit"},
	{"fastgate view -V top-down --region ^reco/fit trace/",
	 "the call tree inside a marked region"},
	{"fastgate view -V paths -f '^log'",
	 "the call paths on which log takes time, with their units of work"},
	{"fastgate view -V timeline --from 2s --to 5s trace/", "three seconds of the timeline"},
	{"fastgate view -V domains -f '^log$' trace/",
	 "the call paths, counts and arguments of the calls to log"},
	{"fastgate view -V instructions -f 'fit\\(' trace/",
	 "the instructions where fit spends its time"},
	{"fastgate view -V growth --dumps 1:2 trace/",
	 "the call paths that hold more memory at the second dump than at the first"},
	{"fastgate view --facts trace/", "the clock, the number of samples, and their cost"},
	{"fastgate view --by class --csv -o classes.csv", "a table for a spreadsheet"},
	{NULL, NULL},
};

/* Reads "1:2" or "1:end". Returns false for any other text. */
static bool read_dumps(const char *text, struct fg_view_options *to)
{
	char *end = NULL;
	unsigned long from = 0;
	unsigned long until = 0;

	if (!text)
		return true;
	if (!isdigit((unsigned char)*text))
		return false;
	from = strtoul(text, &end, 10);
	if (*end++ != ':' || from == 0 || from >= FG_VIEW_AT_END)
		return false;
	to->dump_from = (unsigned)from;
	to->dump_to = FG_VIEW_AT_END;
	if (strcmp(end, "end") == 0)
		return true;
	if (!isdigit((unsigned char)*end))
		return false;
	until = strtoul(end, &end, 10);
	to->dump_to = (unsigned)until;
	return *end == '\0' && until > 0 && until < FG_VIEW_AT_END;
}

static unsigned text_width(const struct fg_cli *cli, const struct options *given)
{
	if (given->width > 0)
		return given->width;
	return cli->out_is_terminal && !given->profile.output ? cli->columns : 0;
}

static int show(struct fg_cli *cli, const struct options *given, const struct fg_view_table *tables,
		size_t count, struct fg_error *err)
{
	const struct fg_view_text_options text_options = {
		.columns = text_width(cli, given),
		.color = cli->color_out && !given->profile.output,
		.errors = given->errors,
	};
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (cli->json)
		fg_view_write_json(tables, count, &text);
	else if (given->csv)
		fg_view_write_csv(tables, &text);
	else
		fg_view_write_text(tables, &text_options, &text);
	if (given->profile.output || cli->json || given->csv)
		status = fg_cli_write(cli, given->profile.output, &text, err);
	else
		fg_cli_page(cli, &text);
	fg_strbuf_release(&text);
	return status;
}

/* Renders the view for other measures that it supports; returns their number. */
static size_t make_others(const struct fg_view *view, const struct fg_profile *profile,
			  const struct fg_view_options *first, struct fg_view_table *tables)
{
	struct fg_view_options other = *first;
	size_t count = 0;

	for (size_t i = 1; i < profile->measure_count; i++) {
		other.query.measure = profile->measures[i].is.name;
		if (fg_view_make(view, profile, &other, &tables[count], NULL) == FG_OK)
			count++;
	}
	return count;
}

static int show_facts(struct fg_cli *cli, const struct options *given,
		      const struct fg_profile *profile, struct fg_error *err)
{
	struct fg_strbuf text = {0};
	int status = FG_OK;

	fg_view_write_facts(profile, &text);
	status = fg_cli_write(cli, given->profile.output, &text, err);
	fg_strbuf_release(&text);
	return status;
}

static int make(struct fg_cli *cli, void *context, const struct fg_profile *profile,
		const struct fg_calltree_query *query, struct fg_error *err)
{
	const struct options *given = context;
	const bool is_data = cli->json || given->csv;
	struct fg_view_options view_options = {
		.query = *query,
		.rows = given->rows,
		.all = given->all || (is_data && given->rows == 0 && !(given->floor > 0)),
		.floor = given->floor,
		.depth = given->depth,
		.trace = given->trace,
		.by_inclusive = given->inclusive,
		.function = given->function,
	};
	const struct fg_view *view = fg_view_find(views[given->view]);
	struct fg_view_table *tables = NULL;
	size_t count = 0;
	int status = FG_OK;

	(void)read_dumps(given->dumps, &view_options);
	if (given->facts)
		return show_facts(cli, given, profile, err);
	tables = fg_xcalloc(profile->measure_count, sizeof(tables[0]));
	FG_TRY_OUT(fg_view_make(view, profile, &view_options, &tables[0], err));
	count = 1;
	if (cli->json && !query->measure && !view->measure && !view->has_no_measure)
		count += make_others(view, profile, &view_options, tables + 1);
	status = show(cli, given, tables, count, err);
out:
	for (size_t i = 0; i < count; i++)
		fg_view_table_release(&tables[i]);
	free(tables);
	return status;
}

/* Shows each benchmark of a stored run; --json, --csv and --output take a single benchmark. */
static int show_each(struct fg_cli *cli, struct options *given)
{
	const struct fg_cli_profile_use use = {make, given};
	char **names = NULL;
	size_t count = 0;
	int code = FG_EXIT_PASS;

	if (!cli->json && !given->csv && !given->profile.output)
		fg_cli_list_choices(&given->profile.run, cli->arguments[0], &names, &count);
	if (count < 2)
		code = fg_cli_run_on_profile(cli, &given->profile, &use);
	for (size_t i = 0; count > 1 && i < count && code == FG_EXIT_PASS; i++) {
		given->profile.run.benchmark = names[i];
		code = fg_cli_run_on_profile(cli, &given->profile, &use);
	}
	fg_fs_list_free(names, count);
	return code;
}

static int run(struct fg_cli *cli, const void *values)
{
	struct options given = *(const struct options *)values;

	if (cli->json && given.csv)
		return fg_cli_usage(cli, "--json and --csv cannot be combined");
	if (given.facts && (cli->json || given.csv))
		return fg_cli_usage(cli, "--facts cannot be combined with --json or --csv");
	if (!read_dumps(given.dumps, &(struct fg_view_options){0}))
		return fg_cli_usage(
			cli,
			"--dumps: expected FROM:TO, the numbers of two dumps (TO may be 'end'), "
			"got '%s'",
			given.dumps);
	given.profile.run.wants_code = fg_view_find(views[given.view])->needs_code;
	return show_each(cli, &given);
}

const struct fg_cli_command fg_cmd_view = {
	.name = "view",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "show where a program spends its time",
	.description =
		"Shows a profile as a list, a call graph, a tree, or over time. Figures from "
		"samples are estimates; --errors shows their standard errors, which --json and "
		"--csv always include. All filters can be combined.\n"
		"\n"
		"`fastgate help views` and `fastgate help measures` list the values of -V and "
		"--measure.\n"
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
