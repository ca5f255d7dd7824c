// SPDX-License-Identifier: Apache-2.0
#include "cli/framework/command.h"
#include "gate/commit_trailers.h"
#include "runner/build/git.h"

#include <stdlib.h>

static const struct fg_cli_argument arguments[] = {
	{.name = "BENCH",
	 .help = "the benchmark",
	 .min = 1,
	 .max = 1,
	 .complete = FG_COMPLETE_BENCHMARK},
	{.name = "METRIC",
	 .help = "metric of the benchmark: cpu_time, max_rss, ...",
	 .min = 1,
	 .max = 1},
	{.name = "REASON", .help = "the reason, as one argument", .min = 1, .max = 1},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate accept parse max_rss 'the cache is larger'",
	 "accept a higher memory peak, in an empty commit"},
	{NULL, NULL},
};

/* Commits HEAD's own tree, so that staged changes are not included. */
static int commit(const struct fg_git *git, const char *message, struct fg_error *err)
{
	const char *const make[] = {"commit-tree", "HEAD^{tree}", "-p", "HEAD",
				    "-m",          message,       NULL};
	const char *update[] = {"update-ref", "-m", "fastgate accept", "HEAD", NULL, NULL};
	char *made = NULL;
	char *nothing = NULL;
	int status = FG_OK;

	FG_TRY(fg_git_output(git, make, &made, err));
	update[4] = made;
	status = fg_git_output(git, update, &nothing, err);
	free(nothing);
	free(made);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct fg_git git = {.folder = ".", .interrupted = cli->interrupted};
	const char *name = cli->arguments[0];
	struct fg_accept *accepts = NULL;
	struct fg_error err = {0};
	size_t count = 0;
	const char *message = fg_arena_printf(
		&cli->arena, "Accept the cost of %s\n\nFastgate-Accept: \"%s\" %s %s\n", name, name,
		cli->arguments[1], cli->arguments[2]);
	int status = FG_OK;

	(void)values;
	if (strpbrk(name, "\"\n") || strpbrk(cli->arguments[1], " \n") ||
	    strchr(cli->arguments[2], '\n'))
		return fg_cli_usage(cli,
				    "BENCH, METRIC and REASON must each be one line, BENCH without "
				    "double quotes and METRIC without spaces");
	status = fg_gate_accepts_of_message(message, "HEAD", &cli->arena, &accepts, &count, &err);
	if (status == FG_OK)
		status = commit(&git, message, &err);
	if (status != FG_OK)
		return fg_cli_fail(cli, &err);
	fg_cli_say(cli, "committed: a worse %s of %s is accepted (%s)", cli->arguments[1], name,
		   cli->arguments[2]);
	return FG_EXIT_PASS;
}

const struct fg_cli_command fg_cmd_accept = {
	.name = "accept",
	.group = FG_CLI_GROUP_GATE,
	.summary = "accept a known cost, in a commit with the reason",
	.description =
		"Makes an empty commit with the trailer `Fastgate-Accept: BENCH METRIC reason`. "
		"Runs against an earlier commit show the cost as accepted and do not fail "
		"because of it. Staged and unstaged changes are left alone.",
	.arguments = arguments,
	.examples = examples,
	.run = run,
};
