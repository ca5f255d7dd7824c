// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cli/framework/completion.h"
#include "cli/framework/help.h"
#include "model/measure.h"
#include "profile/views/view.h"

struct options {
	int shell; /* index into `shells` */
	bool man;
};

static const char *const shells[] = {"none", "bash", "zsh", "fish", NULL};
static void (*const write_completion[])(struct fg_strbuf *text) = {
	NULL,
	fg_completion_bash,
	fg_completion_zsh,
	fg_completion_fish,
};

enum {
	NAME_COLUMN = 24
};

static void write_views(unsigned columns, struct fg_strbuf *text)
{
	for (const struct fg_view *view = fg_views; view->name; view++)
		fg_text_two_columns(text, view->name, view->description, NAME_COLUMN, columns);
}

/* Lists the measures. The name of a family, which ends with a dot, is followed by NAME. */
static void write_measures(unsigned columns, struct fg_strbuf *text)
{
	const struct fg_measure_list builtin = {0};

	for (size_t i = 0; i < FG_MEASURE_BUILTIN_COUNT; i++) {
		const struct fg_measure *measure = fg_measure_at(&builtin, (uint16_t)i);
		char *name = fg_xasprintf("%s%s", measure->name,
					  fg_text_ends_with(measure->name, ".") ? "NAME" : "");

		fg_text_two_columns(text, name, measure->label, NAME_COLUMN, columns);
		free(name);
	}
}

/* Topics that are not commands; scripts/tables.py writes them into the manual. */
static const struct {
	const char *name;
	void (*write)(unsigned columns, struct fg_strbuf *text);
} topics[] = {
	{.name = "views", .write = write_views},
	{.name = "measures", .write = write_measures},
};

static bool write_topic(const char *name, unsigned columns, struct fg_strbuf *text)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(topics); i++) {
		if (name && strcmp(name, topics[i].name) == 0) {
			topics[i].write(columns, text);
			return true;
		}
	}
	return false;
}

static void write_help(const struct fg_cli *cli, const struct options *given,
		       const struct fg_cli_command *command, struct fg_strbuf *text)
{
	if (given->shell > 0)
		write_completion[given->shell](text);
	else if (given->man && command)
		fg_cli_man_command(command, text);
	else if (given->man)
		fg_cli_man_overview(text);
	else if (command)
		fg_cli_command_help(command, text, cli->columns);
	else
		fg_cli_overview(text, cli->columns);
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const char *name = cli->argument_count > 0 ? cli->arguments[0] : NULL;
	const struct fg_cli_command *command = name ? fg_cli_find_command(name) : NULL;
	struct fg_strbuf text = {0};
	struct fg_error err = {0};

	if (!write_topic(name, cli->columns, &text)) {
		if (name && !command) {
			(void)fg_cli_unknown_command(name, &err);
			return fg_cli_fail(cli, &err);
		}
		write_help(cli, given, command, &text);
	}
	fg_cli_page(cli, &text);
	fg_strbuf_release(&text);
	return FG_EXIT_PASS;
}

static const struct fg_option options[] = {
	FG_ROW_FLAG(struct options, man, "man", 0,
		    "print the manual page instead, as source for man"),
	FG_ROW_CHOICE(struct options, shell, "completion", 0, "SHELL", shells, NULL,
		      "print the completions for a shell"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "COMMAND",
	 .help = "the command to explain; or `views`, `measures`: the lists for `fastgate view`",
	 .max = 1,
	 .complete = FG_COMPLETE_COMMAND},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate help config", "explain `fastgate config` and its options"},
	{"fastgate help views", "every view of a profile, one line each"},
	{"fastgate help --man config | man -l -",
	 "the manual page of `config`, if manual pages are not installed"},
	{"source <(fastgate help --completion bash)",
	 "completions in this shell, if they are not installed"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_help = {
	.name = "help",
	.group = FG_CLI_GROUP_SETUP,
	.summary = "list the commands, or explain one",
	.description =
		"Without an argument, lists all commands in groups. With a command's name, "
		"shows its purpose, options and examples. The same text is in the manual: man "
		"fastgate-COMMAND.",
	FG_CLI_TABLES,
	.run = run,
};
