// SPDX-License-Identifier: Apache-2.0
#include "cli/framework/completion_parts.h"

void fg_completion_words(const char *const *words, struct fg_strbuf *text)
{
	for (size_t i = 0; words && words[i]; i++)
		fg_strbuf_printf(text, "%s%s", i == 0 ? "" : " ", words[i]);
}

void fg_completion_value(const struct fg_completion_values *values, enum fg_complete kind,
			 const char *const *choices, struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, choices ? values->before : values->kinds[kind]);
	if (!choices)
		return;
	fg_completion_words(choices, text);
	fg_strbuf_add_text(text, values->after);
}

void fg_completion_commands(struct fg_strbuf *text)
{
	for (size_t i = 0; fg_cli_commands[i]; i++)
		fg_strbuf_printf(text, "%s%s", i == 0 ? "" : " ", fg_cli_commands[i]->name);
}

void fg_completion_options(const struct fg_cli_command *command,
			   void (*visit)(const struct fg_cli_command *command,
					 const struct fg_option *option, struct fg_strbuf *text),
			   struct fg_strbuf *text)
{
	const struct fg_option *const tables[] = {command->options,
						  command->has_json ? fg_cli_json_option : NULL,
						  fg_cli_global_options};

	for (size_t t = 0; t < FG_ARRAY_SIZE(tables); t++) {
		for (const struct fg_option *option = tables[t]; option && option->name; option++)
			visit(command, option, text);
	}
}
