// SPDX-License-Identifier: Apache-2.0
/* Shell completions from the tables of commands: commands, their actions and their options. */
#include "perfdb/server/options.h"

static void add_commands(struct fg_strbuf *text)
{
	for (size_t i = 0; fg_perfdb_commands[i]; i++)
		fg_strbuf_printf(text, "%s%s", i ? " " : "", fg_perfdb_commands[i]->name);
}

static void add_actions(const struct fg_perfdb_command *command, struct fg_strbuf *text)
{
	for (const struct fg_perfdb_action *a = command->actions; a && a->name; a++)
		fg_strbuf_printf(text, "%s%s", a == command->actions ? "" : " ", a->name);
}

/* Wraps `words` in single quotes; `quote` is how the shell writes a quote inside them. */
static void add_quoted(const char *words, const char *quote, struct fg_strbuf *text)
{
	fg_strbuf_add_char(text, '\'');
	for (; *words; words++) {
		if (*words == '\'')
			fg_strbuf_add_text(text, quote);
		else
			fg_strbuf_add_char(text, *words);
	}
	fg_strbuf_add_char(text, '\'');
}

/* ---- bash; zsh reads the same with bashcompinit ---- */

static void add_bash_command(const struct fg_perfdb_command *command, struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "\t%s)\n\t\twords='", command->name);
	add_actions(command, text);
	for (const struct fg_option *option = command->options; option->name; option++)
		fg_strbuf_printf(text, " --%s", option->name);
	fg_strbuf_add_text(text, "'\n\t\t;;\n");
}

static void add_bash(struct fg_strbuf *text)
{
	fg_strbuf_add_text(
		text, "_perfdb()\n{\n"
		      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} "
		      "words=''\n\n\tCOMPREPLY=()\n\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; fg_perfdb_commands[i]; i++)
		add_bash_command(fg_perfdb_commands[i], text);
	fg_strbuf_add_text(text, "\tesac\n\tif ((COMP_CWORD == 1)); then\n\t\twords='");
	add_commands(text);
	fg_strbuf_add_text(
		text,
		"'\n\tfi\n"
		"\tif [[ $prev == --database || $prev == -d || $prev == --to || $prev == --*file || "
		"$prev == --tls-* ]]; then\n"
		"\t\twhile IFS='' read -r word; do COMPREPLY+=(\"$word\"); done < "
		"<(compgen -f -- \"$cur\")\n"
		"\telse\n"
		"\t\twhile IFS='' read -r word; do COMPREPLY+=(\"$word\"); done < "
		"<(compgen -W \"$words\" -- \"$cur\")\n"
		"\tfi\n}\n\ncomplete -o filenames -F _perfdb perfdb\n");
}

/* ---- fish ---- */

static void add_fish_command(const struct fg_perfdb_command *command, struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "\ncomplete -c perfdb -n __fish_use_subcommand -f -a %s -d ",
			 command->name);
	add_quoted(command->summary, "\\'", text);
	fg_strbuf_add_char(text, '\n');
	if (command->actions) {
		fg_strbuf_printf(text,
				 "complete -c perfdb -n '__fish_seen_subcommand_from %s' -f -a '",
				 command->name);
		add_actions(command, text);
		fg_strbuf_add_text(text, "'\n");
	}
	for (const struct fg_option *option = command->options; option->name; option++) {
		fg_strbuf_printf(
			text, "complete -c perfdb -n '__fish_seen_subcommand_from %s' -l %s%s -d ",
			command->name, option->name, option->kind == FG_OPTION_FLAG ? "" : " -r");
		add_quoted(option->help, "\\'", text);
		fg_strbuf_add_char(text, '\n');
	}
}

static void add_fish(struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, "complete -c perfdb -f\n");
	for (size_t i = 0; fg_perfdb_commands[i]; i++)
		add_fish_command(fg_perfdb_commands[i], text);
}

bool fg_perfdb_completion(const char *shell, struct fg_strbuf *text)
{
	const bool is_bash = strcmp(shell, "bash") == 0;
	const bool is_zsh = strcmp(shell, "zsh") == 0;

	if (!is_bash && !is_zsh && strcmp(shell, "fish") != 0)
		return false;
	if (is_zsh)
		fg_strbuf_add_text(
			text, "#compdef perfdb\nautoload -U +X bashcompinit && bashcompinit\n");
	fg_strbuf_printf(text,
			 "# %s completion for perfdb; made by `perfdb help --completion %s`\n",
			 shell, shell);
	if (is_bash || is_zsh)
		add_bash(text);
	else
		add_fish(text);
	return true;
}
