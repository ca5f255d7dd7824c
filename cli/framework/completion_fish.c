// SPDX-License-Identifier: Apache-2.0
#include "cli/framework/completion.h"
#include "cli/framework/completion_parts.h"
#include "config/config.h"

/* Wraps text in single quotes. */
static void add_quoted(struct fg_strbuf *text, const char *words)
{
	fg_strbuf_add_char(text, '\'');
	for (; *words; words++) {
		if (*words == '\'')
			fg_strbuf_add_text(text, "\\'");
		else
			fg_strbuf_add_char(text, *words);
	}
	fg_strbuf_add_char(text, '\'');
}

static const char *const fish_kinds[] = {
	[FG_COMPLETE_NOTHING] = "-f",
	[FG_COMPLETE_FILE] = "-F",
	[FG_COMPLETE_FOLDER] = "-f -a '(__fish_complete_directories)'",
	[FG_COMPLETE_PROGRAM] = "-f -a '(__fish_complete_command)'",
	[FG_COMPLETE_BENCHMARK] = "-f -a '(fastgate config --benchmarks 2>/dev/null)'",
	[FG_COMPLETE_KEY] = "-f -a '(__fastgate_keys)'",
	[FG_COMPLETE_COMMAND] = "-f -a '(__fastgate_commands)'",
	[FG_COMPLETE_GIT_REF] =
		"-f -a '(git for-each-ref --format=\"%(refname:short)\" 2>/dev/null)'",
};

static const struct fg_completion_values fish_values = {
	.kinds = fish_kinds, .before = "-f -a '", .after = "'"};

static void add_condition(const struct fg_cli_command *command, struct fg_strbuf *text)
{
	if (command)
		fg_strbuf_printf(text, "complete -c fastgate -n '__fish_seen_subcommand_from %s'",
				 command->name);
	else
		fg_strbuf_add_text(text, "complete -c fastgate");
}

static void add_option(const struct fg_cli_command *command, const struct fg_option *option,
		       struct fg_strbuf *text)
{
	add_condition(command, text);
	fg_strbuf_printf(text, " -l %s", option->name);
	if (option->letter)
		fg_strbuf_printf(text, " -s %c", option->letter);
	if (option->kind != FG_OPTION_FLAG) {
		fg_strbuf_add_text(text, option->alone ? " " : " -r ");
		fg_completion_value(&fish_values, option->complete, option->choices, text);
	}
	fg_strbuf_add_text(text, " -d ");
	add_quoted(text, option->help);
	fg_strbuf_add_char(text, '\n');
}

static void add_command(const struct fg_cli_command *command, struct fg_strbuf *text)
{
	const struct fg_option *const tables[] = {command->options,
						  command->has_json ? fg_cli_json_option : NULL};

	fg_strbuf_printf(text, "\ncomplete -c fastgate -n __fish_use_subcommand -f -a %s -d ",
			 command->name);
	add_quoted(text, command->summary);
	fg_strbuf_add_char(text, '\n');
	for (size_t t = 0; t < FG_ARRAY_SIZE(tables); t++) {
		for (const struct fg_option *option = tables[t]; option && option->name; option++)
			add_option(command, option, text);
	}
	if (!command->arguments || !command->arguments[0].name)
		return;
	add_condition(command, text);
	fg_strbuf_add_char(text, ' ');
	fg_completion_value(&fish_values, command->arguments[0].complete,
			    command->arguments[0].choices, text);
	fg_strbuf_add_char(text, '\n');
}

void fg_completion_fish(struct fg_strbuf *text)
{
	struct fg_arena arena = {0};

	fg_strbuf_add_text(
		text,
		"# fish completion for fastgate; made by `fastgate help --completion fish`\n\n"
		"function __fastgate_commands\n\tstring split ' ' '");
	fg_completion_commands(text);
	fg_strbuf_add_text(text, "'\nend\n\nfunction __fastgate_keys\n\tstring split ' ' '");
	fg_completion_words(fg_config_keys(&arena), text);
	fg_arena_release(&arena);
	fg_strbuf_add_text(text, "'\nend\n\ncomplete -c fastgate -f\n");
	for (const struct fg_option *option = fg_cli_global_options; option->name; option++)
		add_option(NULL, option, text);
	for (size_t i = 0; fg_cli_commands[i]; i++)
		add_command(fg_cli_commands[i], text);
}
