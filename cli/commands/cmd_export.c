// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"
#include "cli/profile/query.h"
#include "profile/exchange/export.h"
#include "profile/select.h"

struct options {
	struct fg_cli_profile_options profile;
	int format;
	bool samples;
};

/* In the order of fg_export_formats. */
static const char *const formats[] = {"folded", "pprof", "chrome", "json",
				      "tables", "npz",   "html",   NULL};

static const struct fg_option options[] = {
	FG_ROW_CHOICE(struct options, format, "format", 'F', "FORMAT", formats, "folded",
		      "output format"),
	FG_ROW_FLAG(struct options, samples, "samples", 0,
		    "folded: count samples instead of nanoseconds"),
	FG_CLI_PROFILE_OPTIONS(struct options, profile),
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate export -F pprof -o run.pb.gz && go tool pprof -http=: run.pb.gz",
	 "open the profile in pprof"},
	{"fastgate export -F folded --region ^reco/fit --collapse-templates trace/ > fit.folded",
	 "export part of a profile, with the filters of `fastgate view`"},
	{"fastgate export -F npz -o values.npz trace/",
	 "the arguments that record --values kept, for numpy"},
	{"fastgate export | flamegraph.pl > flame.svg", "the newest run as a flame graph"},
	{NULL, NULL},
};

static int write_as(struct fg_cli *cli, const struct options *given,
		    const struct fg_profile *profile, struct fg_error *err)
{
	const struct fg_export_options export_options = {
		.samples = given->samples,
		.tool_version = fg_arena_printf(&cli->arena, "fastgate %s", fg_version()),
	};
	struct fg_strbuf text = {0};
	int status = fg_export_formats[given->format].write(profile, &export_options, &text, err);

	if (status == FG_OK)
		status = fg_cli_write(cli, given->profile.output, &text, err);
	fg_strbuf_release(&text);
	return status;
}

static int write_profile(struct fg_cli *cli, void *context, const struct fg_profile *profile,
			 const struct fg_calltree_query *query, struct fg_error *err)
{
	const struct options *given = context;
	const struct fg_export_format *format = &fg_export_formats[given->format];
	struct fg_calltree_query wanted = *query;
	struct fg_profile selected;
	int status = FG_OK;

	if (format->has_calls)
		return write_as(cli, given, profile, err);
	wanted.per_repetition = query->per_repetition && !format->has_repetitions;
	FG_TRY(fg_profile_select(profile, &wanted, &selected, err));
	status = write_as(cli, given, &selected, err);
	fg_profile_release(&selected);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	struct options given = *(const struct options *)values;
	const struct fg_export_format *format = &fg_export_formats[given.format];

	FG_ASSERT(strcmp(format->name, formats[given.format]) == 0);
	if (format->is_binary && !given.profile.output && cli->out_is_terminal)
		return fg_cli_usage(cli, "%s cannot be written to a terminal: add -o FILE%s",
				    format->name, format->extension);
	return fg_cli_run_on_profile(cli, &given.profile,
				     &(struct fg_cli_profile_use){write_profile, &given});
}

const struct fg_cli_command fg_cmd_export = {
	.name = "export",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "write a profile in another tool's format",
	.description =
		"Formats: folded (one line per stack: flame graph tools), pprof (gzipped "
		"profile.proto), chrome (regions and units of work as trace events), json "
		"(functions, stacks and samples), tables (text separated by tabs: functions "
		"with total and leaf counts, library address ranges, a summary, and samples by "
		"address), npz (the arguments that `fastgate record --values` kept, for numpy), "
		"and html (arguments and durations of calls by call path, with histograms). "
		"Filters do not apply to npz and html.\n"
		"\n"
		"Filters, renaming and grouping work as in `fastgate view`, and give the same "
		"content. Figures of a stored run are per execution (--sum adds the repetitions "
		"up); json has each repetition.",
	.options = options,
	.options_size = sizeof(struct options),
	.arguments = fg_cli_run_arguments,
	.examples = examples,
	.run = run,
};
