// SPDX-License-Identifier: Apache-2.0
#include "cli/internal.h"

static int run(struct fg_cli *cli, const void *unused)
{
	const char *name = cli->argument_count > 0 ? cli->arguments[0] : NULL;
	const struct fg_cli_command *command = name ? fg_cli_find_command(name) : NULL;
	struct fg_strbuf text = {0};
	struct fg_error err = {0};

	(void)unused;
	if (name && !command) {
		(void)fg_cli_unknown_command(name, &err);
		return fg_cli_fail(cli, &err);
	}
	if (command)
		fg__cli_command_help(command, &text, cli->columns);
	else
		fg__cli_overview(&text, cli->columns);
	fg_cli_page(cli, &text);
	fg_strbuf_release(&text);
	return FG_EXIT_PASS;
}

static const struct fg_cli_argument arguments[] = {
	{.name = "COMMAND",
	 .help = "the command to explain",
	 .max = 1,
	 .complete = FG_COMPLETE_COMMAND},
	{.name = NULL         },
};

static const struct fg_cli_example examples[] = {
	{"fastgate help run", "how to run the gate"},
	{NULL,		NULL                 },
};

const struct fg_cli_command fg__cmd_help = {
	.name = "help",
	.group = FG_CLI_GROUP_SETUP,
	.summary = "list the commands, or explain one",
	.description =
		"Without an argument: all commands in groups. With the name of a command: what it does, its "
		"options, and examples. The same text is in the manual: man fastgate-COMMAND.",
	.arguments = arguments,
	.examples = examples,
	.run = run,
};
