// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "cli/framework/command.h"
#include "cli/mcp/tools.h"

#include <stdlib.h>
#include <unistd.h>

struct options {
	bool allow_commands;
	bool allow_accept;
};

/* Changes to the folder; the caller frees its full path. */
static int enter(const char *named, char **folder, struct fg_error *err)
{
	char *path = realpath(named, NULL);

	if (!path || !fg_fs_is_folder(path)) {
		free(path);
		return fg_error_set(err, FG_ENOENT, "folder '%s' does not exist", named);
	}
	if (chdir(path) != 0) {
		free(path);
		return fg_error_errno(err, FG_EIO, "cannot enter '%s'", named);
	}
	*folder = path;
	return FG_OK;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_error err = {0};
	char *folder = NULL;
	int status = enter(cli->argument_count ? cli->arguments[0] : ".", &folder, &err);

	if (status == FG_OK) {
		const struct fg_mcp_rights rights = {.cli = cli,
						     .folder = folder,
						     .commands = given->allow_commands,
						     .accept = given->allow_accept};

		status = fg_mcp_serve(&rights, &err);
	}
	free(folder);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

static const struct fg_option options[] = {
	FG_ROW_FLAG(struct options, allow_commands, "allow-commands", 0,
		    "let the assistant measure and record any command, not only the benchmarks of "
		    "fastgate.yml"),
	FG_ROW_FLAG(struct options, allow_accept, "allow-accept", 0,
		    "let the assistant accept a known cost, in a commit"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "FOLDER",
	 .help = "the checkout to work in (default: the current folder)",
	 .max = 1,
	 .complete = FG_COMPLETE_FOLDER},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate mcp", "the command for an assistant's configuration, run in the checkout"},
	{"fastgate mcp --allow-commands ~/project", "another folder, and any command"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_mcp = {
	.name = "mcp",
	.group = FG_CLI_GROUP_SETUP,
	.summary = "serve coding assistants: the gate as tools of the Model Context Protocol",
	.description =
		"Speaks the Model Context Protocol over standard input and output, until the "
		"input ends. The tools are run, duel, explain, profile, history and bisect; each "
		"runs the fastgate command of the same name (profile: view) in FOLDER and "
		"returns what the command prints, at most 32 KiB, with its exit code.\n"
		"\n"
		"An assistant can name files only below FOLDER. It can measure the benchmarks of "
		"fastgate.yml; with --allow-commands it can also measure any command and use the "
		"tool record, and with --allow-accept the tool accept. Nothing is posted. "
		"Measurements run one after the other.",
	FG_CLI_TABLES,
	.stops_cleanly = true,
	.run = run,
};
