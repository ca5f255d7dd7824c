// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"
#include "cli/run_argument.h"
#include "profile/export.h"

struct options {
	struct fg_cli_run_options run;
	int format;
	const char *output;
	bool samples;
};

/* In the order of fg_export_formats. */
static const char *const formats[] = {"folded", "pprof", "speedscope", "callgrind", "chrome",
				      "json",   "csv",   "tables",     NULL};

static const struct fg_option options[] = {
	{.name = "format",
	 .letter = 'F',
	 .kind = FG_OPTION_CHOICE,
	 .offset = offsetof(struct options, format),
	 .argument = "FORMAT",
	 .choices = formats,
	 .initial = "folded",
	 .help = "what to write"},
	{.name = "output",
	 .letter = 'o',
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct options, output),
	 .argument = "FILE",
	 .complete = FG_COMPLETE_FILE,
	 .help = "write to a file; '-' is standard output"},
	{.name = "samples",
	 .kind = FG_OPTION_FLAG,
	 .offset = offsetof(struct options, samples),
	 .help = "folded: count samples instead of nanoseconds"},
	FG_CLI_RUN_OPTIONS(struct options, run),
	{.name = NULL      },
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN",
	 .help = "a stored run, a trace, an exported run or another tool's profile; the newest when "
		 "left out", .max = 1,
	 .complete = FG_COMPLETE_FILE},
	{.name = NULL    },
};

static const struct fg_cli_example examples[] = {
	{"fastgate export -F pprof -o run.pb.gz && go tool pprof -http=: run.pb.gz",
	 "look at it in pprof"											  },
	{"fastgate export -F speedscope -o run.json trace/",
	 "a trace for speedscope, thread by thread"								     },
	{"fastgate export -F callgrind -o callgrind.out && kcachegrind callgrind.out",
	 "a stored run in KCachegrind"										  },
	{"fastgate export | flamegraph.pl > flame.svg",                                "the newest run as a flame graph"},
	{NULL,									 NULL			     },
};

static int write_profile(struct fg_cli *cli, const struct options *given,
			 const struct fg_profile *profile, struct fg_error *err)
{
	const struct fg_export_format *format = &fg_export_formats[given->format];
	const struct fg_export_options export_options = {
		.samples = given->samples,
		.tool_version = fg_arena_printf(&cli->arena, "fastgate %s", fg_version()),
	};
	struct fg_strbuf text = {0};
	int rc = fg_export_write(format, profile, &export_options, &text, err);

	if (rc == FG_OK)
		rc = fg_cli_write(cli, given->output, &text, err);
	fg_strbuf_release(&text);
	return rc;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const struct fg_export_format *format = &fg_export_formats[given->format];
	struct fg_profile profile;
	struct fg_error err = {0};
	int rc = FG_OK;

	FG_ASSERT(strcmp(format->name, formats[given->format]) == 0);
	if (format->is_binary && !given->output && cli->out_is_terminal)
		return fg_cli_usage(cli, "%s is not for a terminal: add -o FILE%s", format->name,
				    format->extension);
	rc = fg_cli_load_profile(cli, &given->run, cli->arguments[0], &profile, &err);
	if (rc != FG_OK)
		return fg_cli_fail(cli, &err);
	fg_cli_tell_notes(cli, &profile);
	rc = write_profile(cli, given, &profile, &err);
	fg_profile_release(&profile);
	return rc == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg__cmd_export = {
	.name = "export",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "write a profile in another tool's format",
	.description =
		"Formats: folded (one line a stack: flame graph tools), pprof (profile.proto packed by gzip), "
		"speedscope (a timeline for each thread), callgrind (KCachegrind), chrome (regions and units of "
		"work as trace events), json (everything that is known), csv (one line a call path) and tables "
		"(functions with total and leaf counts, library address ranges, a summary, separated by tabs).",
	.options = options,
	.options_size = sizeof(struct options),
	.arguments = arguments,
	.examples = examples,
	.run = run,
};
