// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/run_argument.h"

struct options {
	struct fg_option_list binaries;
	const char *output;
};

static const struct fg_option options[] = {
	FG_ROW_FILE(struct options, output, "output", 'o',
		    "the archive to write (default: the name of the folder, with .tar.zst)"),
	{.name = "binaries",
	 .kind = FG_OPTION_LIST,
	 .offset = offsetof(struct options, binaries),
	 .argument = "FOLDER",
	 .complete = FG_COMPLETE_FOLDER,
	 .help = "another folder with the binaries"},
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "TRACES",
	 .help = "a trace, or the folder that `fastgate record` wrote (default: fastgate-record)",
	 .max = 1,
	 .complete = FG_COMPLETE_FILE},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate archive", "the last recording, as fastgate-record.tar.zst"},
	{"fastgate archive -o slow.tar.zst traces/ && fastgate view slow.tar.zst",
	 "the same profile on another machine"},
	{NULL, NULL},
};

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const char *traces = cli->arguments[0] ? cli->arguments[0] : FG_CLI_RECORD_FOLDER;
	struct fg_error err = {0};

	return fg_cli_archive_traces(cli, &given->binaries, traces, given->output, &err) == FG_OK
		       ? FG_EXIT_PASS
		       : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg_cmd_archive = {
	.name = "archive",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "pack traces and everything needed to read them into one file",
	.description =
		"Writes one .tar.zst file with the traces, the binaries that their addresses "
		"refer to, separate debug files, the maps of code generated at run time, and a "
		"manifest with SHA-256 digests. Every command that accepts a trace also accepts "
		"this file, on any host, and shows exactly the same result: the other host's own "
		"binaries are not used. An archive that was changed or damaged is refused.\n"
		"\n"
		"An archive contains binaries but no source files: share it only with people who "
		"may have these binaries.",
	FG_CLI_TABLES,
	.run = run,
};
