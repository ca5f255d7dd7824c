// SPDX-License-Identifier: Apache-2.0
#include "base/number.h"
#include "base/secrets.h"
#include "cli/session/plan.h"
#include "cli/session/server.h"
#include "cli/session/traces.h"

struct options {
	struct fg_option_list binaries;
	const char *output;
	const char *fetch;
	struct fg_cli_server server;
	struct fg_cli_config config;
};

static const struct fg_option options[] = {
	FG_ROW_FILE(struct options, output, "output", 'o',
		    "the archive to write (default: the name of the folder, with .tar.zst)"),
	{.name = "binaries",
	 .kind = FG_OPTION_LIST,
	 .offset = offsetof(struct options, binaries),
	 .argument = "FOLDER",
	 .complete = FG_COMPLETE_FOLDER,
	 .help = "where else to look for the binaries"},
	FG_ROW_TEXT(struct options, fetch, "fetch", 0, "RUN",
		    "instead of making one, fetch that of a run from a perfdb server"),
	FG_CLI_SERVER_OPTIONS(struct options, server),
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "TRACES",
	 .help = "a trace, or the folder that `fastgate record` wrote; fastgate-record by default",
	 .max = 1,
	 .complete = FG_COMPLETE_FILE},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate archive", "the last recording, as fastgate-record.tar.zst"},
	{"fastgate archive -o slow.tar.zst traces/ && fastgate view slow.tar.zst",
	 "the same profile there as here"},
	{"fastgate archive --fetch latest -o slow.tar.zst", "what `fastgate push --archive` sent"},
	{NULL, NULL},
};

/* A run may be called "feature/parser"; its file lies here all the same. */
static char *name_file(const char *run)
{
	char *name = fg_xasprintf("%s.tar.zst", run);

	for (char *at = strchr(name, '/'); at; at = strchr(at, '/'))
		*at = '-';
	return name;
}

static int fetch(struct fg_cli *cli, const struct options *given, const struct fg_perfdb *perfdb,
		 struct fg_error *err)
{
	struct fg_push_options push_options = {0};
	char *path = given->output ? fg_xstrdup(given->output) : name_file(given->fetch);
	char text[FG_NUMBER_TEXT_SIZE];
	uint64_t size = 0;
	int status = fg_cli_server_options(cli, &given->server, perfdb, &push_options, err);

	if (status != FG_OK)
		goto out;
	status = fg_pull_archive(&push_options, given->fetch, path, &size, err);
	if (status != FG_OK)
		goto out;
	fg_cli_say(cli, "wrote %s (%s)", path, fg_format_size((double)size, text));
out:
	free(path);
	return status;
}

static int load_and_fetch(struct fg_cli *cli, const struct options *given)
{
	struct fg_plan plan = {0};
	struct fg_error err = {0};
	int code = FG_EXIT_PASS;

	/* Whatever the command line names is the user's own choice. */
	fg_secret_take(given->server.token_env);
	code = fg_cli_load_plan(cli, &given->config, true, &plan);
	if (code != FG_EXIT_PASS)
		return code;
	if (fetch(cli, given, &plan.perfdb, &err) != FG_OK)
		code = fg_cli_fail(cli, &err);
	fg_plan_release(&plan);
	return code;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const char *traces = cli->arguments[0] ? cli->arguments[0] : FG_CLI_RECORD_FOLDER;
	struct fg_error err = {0};

	if (given->fetch && (cli->arguments[0] || given->binaries.count))
		return fg_cli_usage(
			cli, "--fetch takes an archive from a server: no TRACES, no --binaries");
	if (given->fetch)
		return load_and_fetch(cli, given);
	return fg_cli_archive_traces(cli, &given->binaries, traces, given->output, &err) == FG_OK
		       ? FG_EXIT_PASS
		       : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg_cmd_archive = {
	.name = "archive",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "pack traces with all they need into one file",
	.description =
		"Writes one .tar.zst file with the traces, the binaries that their addresses lie "
		"in, separate debug files, the maps of code made at run time, and a list of all "
		"with SHA-256 digests. Wherever a command takes a trace it takes this file, too, "
		"on any host, and shows the same byte for byte: the binaries of that host are not "
		"looked at. An archive that was changed or damaged is refused.\n\n"
		"Source files are not in it. The binaries are: give it to those who may have "
		"them.\n\n"
		"With --fetch, the archive that `fastgate push --archive` sent with a run comes "
		"back from the perfdb server, and is compared with the digest that the server "
		"names. Until it is whole, what came lies beside it as FILE.DIGEST.part, and the "
		"same command goes on there.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXIT(FG_EXIT_UPLOAD),
	.run = run,
};
