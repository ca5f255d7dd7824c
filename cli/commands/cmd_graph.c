// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cli/profile/query.h"
#include "profile/views/graph.h"

struct options {
	struct fg_cli_profile_options profile;
	int format;
	const char *function;
	unsigned nodes;
	unsigned depth;
	double floor;
	double edge_floor;
	int64_t timeout_ns;
	bool all;
	bool color_by_self;
	bool left_to_right;
};

enum {
	FORMAT_BY_NAME,
	FORMAT_DOT
};

static const char *const formats[] = {"by-name", "dot", "svg", "png", "pdf", NULL};

static const struct fg_option options[] = {
	FG_ROW_CHOICE(struct options, format, "format", 'F', "FORMAT", formats, "by-name",
		      "output format (default: by FILE's extension, DOT text on standard output)"),
	FG_ROW_TEXT(struct options, function, "function", 'f', "REGEX",
		    "show only these functions with their callers and callees"),
	FG_ROW_COUNT(
		struct options, depth, "depth", 0, 100000, NULL,
		"show functions up to this many calls away from the functions of --function, or "
		"from the program's start"),
	FG_ROW_COUNT(struct options, nodes, "nodes", 'n', 100000, "80",
		     "show at most this many functions, the largest by inclusive time"),
	FG_ROW_SHARE(struct options, floor, "floor", "0.5%",
		     "leave out functions below this share of the time"),
	FG_ROW_SHARE(struct options, edge_floor, "edge-floor", "0.1%",
		     "leave out calls below this share of the time"),
	FG_ROW_FLAG(struct options, all, "all", 'a', "leave nothing out"),
	FG_ROW_FLAG(
		struct options, color_by_self, "color-by-self", 0,
		"colour boxes by self time and size them by inclusive time, instead of the other "
		"way round"),
	FG_ROW_FLAG(struct options, left_to_right, "left-to-right", 0,
		    "draw calls from left to right"),
	FG_ROW_DURATION(struct options, timeout_ns, "timeout", "60s", "time limit for Graphviz"),
	FG_CLI_PROFILE_OPTIONS(struct options, profile),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN",
	 .help = "a run as for `fastgate view` (default: the newest), or two runs, before and "
		 "after, to draw their difference",
	 .max = 2,
	 .complete = FG_COMPLETE_FILE},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate graph -o calls.svg", "the newest run as a picture"},
	{"fastgate graph -f 'fit\\(' --depth 3 -o fit.pdf", "three calls up and down from fit"},
	{"fastgate graph latest~1 latest -o change.svg",
	 "functions that became slower (red) and faster (blue)"},
	{"fastgate graph --by library -o libraries.png trace/", "which libraries call each other"},
	{NULL, NULL},
};

/* Returns an index into `formats`, chosen by --format or else by the output's file name. */
static int wanted_format(const struct options *given)
{
	if (given->format != FORMAT_BY_NAME)
		return given->format;
	for (int i = FORMAT_DOT; given->profile.output && formats[i]; i++) {
		char *ending = fg_xasprintf(".%s", formats[i]);
		const bool matches = fg_text_ends_with(given->profile.output, ending);

		free(ending);
		if (matches)
			return i;
	}
	return FORMAT_DOT;
}

/* Builds one run's tree, or the difference of two runs. */
static int build_all(struct fg_cli *cli, const struct options *given, struct fg_cli_tree *built,
		     struct fg_error *err)
{
	const char *const words[] = {cli->arguments[0],
				     cli->argument_count > 1 ? cli->arguments[1] : NULL};
	struct fg_cli_difference difference = {0};

	if (cli->argument_count < 2)
		return fg_cli_build_tree(cli, &given->profile, words[0], built, err);
	FG_TRY(fg_cli_build_difference(cli, &given->profile, words, &difference, err));
	built->tree = difference.tree;
	built->title =
		fg_arena_printf(&cli->arena, "%s → %s", difference.titles[0], difference.titles[1]);
	return FG_OK;
}

/* If the image cannot be drawn, saves the DOT text as FILE.dot, so that the work is not lost. */
static int keep_dot(struct fg_cli *cli, const char *output, const struct fg_strbuf *dot,
		    struct fg_error *err)
{
	struct fg_error other = {0};
	char *path = NULL;

	if (!output || strcmp(output, "-") == 0)
		return fg_cli_fail(cli, err);
	path = fg_xasprintf("%s.dot", output);
	if (fg_cli_write(cli, path, dot, &other) == FG_OK)
		fg_cli_say(cli, "the graph was written as DOT text to %s", path);
	free(path);
	return fg_cli_fail(cli, err);
}

static int draw(struct fg_cli *cli, const struct options *given, const struct fg_strbuf *dot)
{
	const int format = wanted_format(given);
	const struct fg_graph_render_options render = {
		.format = formats[format],
		.timeout_ns = given->timeout_ns,
		.interrupted = cli->interrupted,
	};
	struct fg_strbuf picture = {0};
	struct fg_error err = {0};
	int status = FG_OK;

	if (format == FORMAT_DOT) {
		status = fg_cli_write(cli, given->profile.output, dot, &err);
		return fg_cli_end(cli, status, &err);
	}
	status = fg_graph_render(dot, &render, &picture, &err);
	if (status == FG_OK) {
		status = fg_cli_write(cli, given->profile.output, &picture, &err);
		status = fg_cli_end(cli, status, &err);
	} else {
		status = keep_dot(cli, given->profile.output, dot, &err);
	}
	fg_strbuf_release(&picture);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_graph_options graph = {
		.focus = given->function,
		.nodes = given->nodes,
		.node_floor = given->floor,
		.edge_floor = given->edge_floor,
		.depth = given->depth,
		.color_by_self = given->color_by_self,
		.left_to_right = given->left_to_right,
		.all = given->all,
	};
	struct fg_graph_summary summary = {0};
	struct fg_strbuf dot = {0};
	struct fg_cli_tree built = {0};
	struct fg_error err = {0};
	int status = FG_OK;

	if (wanted_format(given) > FORMAT_DOT && !given->profile.output && cli->out_is_terminal)
		return fg_cli_usage(cli, "a picture cannot be written to a terminal: add -o FILE");
	status = build_all(cli, given, &built, &err);
	if (status != FG_OK)
		return fg_cli_fail(cli, &err);
	graph.title = built.title;
	status = fg_graph_write_dot(&built.tree, &graph, &dot, &summary, &err);
	fg_calltree_release(&built.tree);
	if (status == FG_OK && summary.nodes_left_out > 0)
		fg_cli_say(
			cli,
			"%zu functions are shown; the %zu left out have %.1f %% of the self time "
			"(--nodes, --floor, --all)",
			summary.nodes, summary.nodes_left_out, 100 * summary.self_left_out);
	status = status == FG_OK ? draw(cli, given, &dot) : fg_cli_fail(cli, &err);
	fg_strbuf_release(&dot);
	return status;
}

const struct fg_cli_command fg_cmd_graph = {
	.name = "graph",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "draw the call graph, or the difference between two runs",
	.description =
		"Writes the call graph as DOT text, or draws it with Graphviz as SVG, PNG or "
		"PDF. A box is a function: its letters grow with its self time, and its colour "
		"deepens with its inclusive time. An arrow is a call: its width grows with the "
		"time spent below the call; a dashed arrow skips functions that were left out. "
		"The picture reports what was left out.\n"
		"\n"
		"With two runs the picture shows their difference: red is slower, and blue "
		"is faster.\n"
		"\n"
		"If Graphviz is not installed, the DOT text is kept as FILE.dot.",
	FG_CLI_TABLES,
	.stops_cleanly = true,
	.run = run,
};
