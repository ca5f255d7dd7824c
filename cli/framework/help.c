// SPDX-License-Identifier: Apache-2.0
/* Formats the tables of commands as text for a terminal. */
#include "cli/framework/help.h"

enum {
	NAME_COLUMN = 14,
	ARGUMENT_COLUMN = 18
};

static const char *const group_titles[FG_CLI_GROUP_COUNT] = {
	[FG_CLI_GROUP_GATE] = "Gate",
	[FG_CLI_GROUP_PROFILE] = "Profiles",
	[FG_CLI_GROUP_RUNS] = "Stored runs",
	[FG_CLI_GROUP_SETUP] = "Setting up",
};

static const struct {
	enum fg_exit code;
	const char *meaning;
} exit_meanings[FG_CLI_EXIT_COUNT] = {
	{FG_EXIT_PASS, "success: nothing got worse"},
	{FG_EXIT_REGRESSION, "a regression, or placement or creep that is configured to fail"},
	{FG_EXIT_USAGE,
	 "the command line or fastgate.yml is wrong, or names something that does not exist"},
	{FG_EXIT_INCONCLUSIVE,
	 "inconclusive, if gate.inconclusive is fail; or a required baseline is missing"},
	{FG_EXIT_NOT_MEASURED,
	 "could not measure: a build failed, a program crashed or ran too long, or nothing ran"},
	{FG_EXIT_UPLOAD, "a required upload or post failed"},
	{FG_EXIT_INTERNAL, "an internal error, or the system refused to read or write"},
	{FG_EXIT_INTERRUPTED, "interrupted by the user; finished work is kept"},
};

const char *fg_cli_group_title(enum fg_cli_group group)
{
	return group_titles[group];
}

const char *fg_cli_exit_meaning(enum fg_exit code)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(exit_meanings); i++) {
		if (exit_meanings[i].code == code)
			return exit_meanings[i].meaning;
	}
	return NULL;
}

static bool ends_with(const struct fg_cli_command *command, enum fg_exit code)
{
	switch (code) {
	case FG_EXIT_PASS:
	case FG_EXIT_USAGE:
	case FG_EXIT_INTERNAL:
		return true;
	case FG_EXIT_INTERRUPTED:
		return command->stops_cleanly;
	case FG_EXIT_REGRESSION:
	case FG_EXIT_INCONCLUSIVE:
	case FG_EXIT_NOT_MEASURED:
	case FG_EXIT_UPLOAD:
		break;
	}
	return (command->exits & FG_CLI_EXIT(code)) != 0;
}

size_t fg_cli_exits(const struct fg_cli_command *command, enum fg_exit exits[FG_CLI_EXIT_COUNT])
{
	size_t count = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(exit_meanings); i++) {
		if (ends_with(command, exit_meanings[i].code))
			exits[count++] = exit_meanings[i].code;
	}
	return count;
}

static void add_argument(const struct fg_cli_argument *argument, struct fg_strbuf *text)
{
	const bool many = argument->max != 1;

	fg_strbuf_printf(text, argument->min == 0 ? " [%s%s]" : " %s%s", argument->name,
			 many ? "..." : "");
}

void fg_cli_usage_line(const struct fg_cli_command *command, struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "fastgate %s [OPTIONS]%s", command->name,
			 command->takes_command ? " [--]" : "");
	for (const struct fg_cli_argument *a = command->arguments; a && a->name; a++)
		add_argument(a, text);
}

static void add_overview_group(enum fg_cli_group group, struct fg_strbuf *text, unsigned columns)
{
	bool any = false;

	for (size_t i = 0; fg_cli_commands[i]; i++) {
		if (fg_cli_commands[i]->group != group)
			continue;
		if (!any)
			fg_strbuf_printf(text, "\n%s:\n", group_titles[group]);
		any = true;
		fg_text_two_columns(text, fg_cli_commands[i]->name, fg_cli_commands[i]->summary,
				    NAME_COLUMN, columns);
	}
}

void fg_cli_overview(struct fg_strbuf *text, unsigned columns)
{
	fg_strbuf_add_text(text,
			   "usage: fastgate [OPTIONS] COMMAND ...\n\n"
			   "A performance regression gate for C and C++ programs: measures, "
			   "decides, and reports which\nfunction on which call path got slower.\n");
	for (int group = 0; group < FG_CLI_GROUP_COUNT; group++)
		add_overview_group((enum fg_cli_group)group, text, columns);
	fg_strbuf_add_text(text, "\nOptions of every command:\n");
	fg_options_help(fg_cli_global_options, columns, text);
	fg_strbuf_add_text(text, "\n'fastgate help COMMAND' explains one command.\n");
}

/* Wraps paragraphs; a line that begins with a blank is kept as it is. */
static void add_description(const char *description, struct fg_strbuf *text, unsigned columns)
{
	while (*description) {
		const size_t length = strcspn(description, "\n");
		char *line = fg_xstrndup(description, length);

		if (*line == ' ')
			fg_strbuf_add_text(text, line);
		else
			fg_text_wrap(text, line, 0, columns);
		fg_strbuf_add_char(text, '\n');
		free(line);
		description += length;
		if (*description == '\n')
			description++;
	}
}

static void add_arguments(const struct fg_cli_argument *argument, struct fg_strbuf *text,
			  unsigned columns)
{
	if (!argument || !argument->name)
		return;
	fg_strbuf_add_text(text, "\nArguments:\n");
	for (; argument->name; argument++) {
		struct fg_strbuf what = {0};

		fg_strbuf_add_text(&what, argument->help);
		for (size_t i = 0; argument->choices && argument->choices[i]; i++)
			fg_strbuf_printf(&what, "%s%s", i == 0 ? ": " : ", ", argument->choices[i]);
		fg_text_two_columns(text, argument->name, fg_strbuf_text(&what), ARGUMENT_COLUMN,
				    columns);
		fg_strbuf_release(&what);
	}
}

static void add_examples(const struct fg_cli_example *example, struct fg_strbuf *text)
{
	if (!example || !example->line)
		return;
	fg_strbuf_add_text(text, "\nExamples:\n");
	for (; example->line; example++)
		fg_strbuf_printf(text, "  # %s\n  %s\n", example->what, example->line);
}

void fg_cli_command_help(const struct fg_cli_command *command, struct fg_strbuf *text,
			 unsigned columns)
{
	fg_strbuf_add_text(text, "usage: ");
	fg_cli_usage_line(command, text);
	fg_strbuf_add_text(text, "\n\n");
	add_description(command->description, text, columns);
	add_arguments(command->arguments, text, columns);
	if (command->options || command->has_json) {
		fg_strbuf_add_text(text, "\nOptions:\n");
		fg_options_help(command->options, columns, text);
		if (command->has_json)
			fg_options_help(fg_cli_json_option, columns, text);
	}
	fg_strbuf_add_text(text, "\nOptions of every command:\n");
	fg_options_help(fg_cli_global_options, columns, text);
	add_examples(command->examples, text);
}
