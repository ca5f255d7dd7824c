// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of commands as completions for bash, zsh and fish.  Options, their choices, and what
 * kind of thing an argument is, are written out; names of benchmarks are asked from `fastgate
 * config --benchmarks` when they are needed.
 */
#include "cli/framework/internal.h"
#include "config/config.h"

/* The words that may stand for a value, blank-separated; "": none are known. */
static void add_words(const char *const *words, struct fg_strbuf *text)
{
	for (size_t i = 0; words && words[i]; i++)
		fg_strbuf_printf(text, "%s%s", i == 0 ? "" : " ", words[i]);
}

static void add_command_names(struct fg_strbuf *text)
{
	for (size_t i = 0; fg_cli_commands[i]; i++)
		fg_strbuf_printf(text, "%s%s", i == 0 ? "" : " ", fg_cli_commands[i]->name);
}

/* What visits every option of a command, its own, --json, and the global ones. */
static void each_option(const struct fg_cli_command *command,
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

/* A text in single quotes, for any of the three shells. */
static void add_quoted(struct fg_strbuf *text, const char *words, const char *escaped_quote)
{
	fg_strbuf_add_char(text, '\'');
	for (; *words; words++) {
		if (*words == '\'')
			fg_strbuf_add_text(text, escaped_quote);
		else
			fg_strbuf_add_char(text, *words);
	}
	fg_strbuf_add_char(text, '\'');
}

/* ---- bash ---- */

static void add_bash_action(enum fg_complete kind, const char *const *choices,
			    struct fg_strbuf *text)
{
	static const char *const actions[] = {
		[FG_COMPLETE_NOTHING] = "COMPREPLY=()",
		[FG_COMPLETE_FILE] = "_fastgate_reply -f",
		[FG_COMPLETE_FOLDER] = "_fastgate_reply -d",
		[FG_COMPLETE_PROGRAM] = "_fastgate_reply -c -f",
		[FG_COMPLETE_BENCHMARK] =
			"_fastgate_reply -W \"$(fastgate config --benchmarks 2>/dev/null)\"",
		[FG_COMPLETE_KEY] = "_fastgate_reply -W \"$_fastgate_keys\"",
		[FG_COMPLETE_COMMAND] = "_fastgate_reply -W \"$_fastgate_commands\"",
		[FG_COMPLETE_GIT_REF] = "_fastgate_reply -W \"$(git for-each-ref "
					"--format='%(refname:short)' 2>/dev/null)\"",
	};

	if (!choices) {
		fg_strbuf_add_text(text, actions[kind]);
		return;
	}
	fg_strbuf_add_text(text, "_fastgate_reply -W '");
	add_words(choices, text);
	fg_strbuf_add_char(text, '\'');
}

static void add_bash_value(const struct fg_cli_command *command, const struct fg_option *option,
			   struct fg_strbuf *text)
{
	if (option->kind == FG_OPTION_FLAG)
		return;
	fg_strbuf_printf(text, "\t%s:--%s", command->name, option->name);
	if (option->letter)
		fg_strbuf_printf(text, " | %s:-%c", command->name, option->letter);
	fg_strbuf_add_text(text, ")\n\t\t");
	add_bash_action(option->complete, option->choices, text);
	fg_strbuf_add_text(text, "\n\t\treturn\n\t\t;;\n");
}

static void add_bash_name(const struct fg_cli_command *command, const struct fg_option *option,
			  struct fg_strbuf *text)
{
	(void)command;
	fg_strbuf_printf(text, " --%s", option->name);
	if (option->letter)
		fg_strbuf_printf(text, " -%c", option->letter);
}

static void add_bash_arguments(const struct fg_cli_command *command, struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "\t%s)\n\t\tif [[ $cur == -* ]]; then\n\t\t\t_fastgate_reply -W '",
			 command->name);
	each_option(command, add_bash_name, text);
	fg_strbuf_add_text(text, "'\n\t\telse\n\t\t\t");
	if (command->arguments && command->arguments[0].name)
		add_bash_action(command->arguments[0].complete, command->arguments[0].choices,
				text);
	else
		fg_strbuf_add_text(text, "COMPREPLY=()");
	fg_strbuf_add_text(text, "\n\t\tfi\n\t\t;;\n");
}

static void write_bash(struct fg_strbuf *text)
{
	struct fg_arena arena = {0};

	fg_strbuf_add_text(
		text, "# bash completion for fastgate; made by `fastgate help --completion bash`\n"
		      "# shellcheck shell=bash\n\n_fastgate_commands='");
	add_command_names(text);
	fg_strbuf_add_text(text, "'\n_fastgate_keys='");
	add_words(fg_config_keys(&arena), text);
	fg_arena_release(&arena);
	fg_strbuf_add_text(
		text, "'\n\n"
		      "_fastgate_reply()\n{\n"
		      "\tmapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n"
		      "}\n\n"
		      "_fastgate()\n{\n"
		      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} "
		      "command='' i\n\n"
		      "\tif [[ $cur == '=' ]]; then\n\t\tcur=''\n\telif [[ $prev == '=' ]]; then\n"
		      "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
		      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		      "\t\tif [[ \" $_fastgate_commands \" == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
		      "\t\t\tcommand=${COMP_WORDS[i]}\n\t\t\tbreak\n\t\tfi\n\tdone\n"
		      "\tcase $command:$prev in\n");
	for (size_t i = 0; fg_cli_commands[i]; i++)
		each_option(fg_cli_commands[i], add_bash_value, text);
	fg_strbuf_add_text(text, "\tesac\n\tcase $command in\n");
	for (size_t i = 0; fg_cli_commands[i]; i++)
		add_bash_arguments(fg_cli_commands[i], text);
	fg_strbuf_add_text(text, "\t*)\n\t\tif [[ $cur == -* ]]; then\n\t\t\t_fastgate_reply -W '");
	for (const struct fg_option *option = fg_cli_global_options; option->name; option++)
		add_bash_name(NULL, option, text);
	fg_strbuf_add_text(text, "'\n\t\telse\n\t\t\t_fastgate_reply -W "
				 "\"$_fastgate_commands\"\n\t\tfi\n\t\t;;\n\tesac\n}\n\n"
				 "complete -o filenames -F _fastgate fastgate\n");
}

/* ---- zsh ---- */

static void add_zsh_action(enum fg_complete kind, const char *const *choices,
			   struct fg_strbuf *text)
{
	static const char *const actions[] = {
		[FG_COMPLETE_NOTHING] = " ",
		[FG_COMPLETE_FILE] = "_files",
		[FG_COMPLETE_FOLDER] = "_files -/",
		[FG_COMPLETE_PROGRAM] = "_command_names -e",
		[FG_COMPLETE_BENCHMARK] = "_fastgate_benchmarks",
		[FG_COMPLETE_KEY] = "_fastgate_keys",
		[FG_COMPLETE_COMMAND] = "_fastgate_commands",
		[FG_COMPLETE_GIT_REF] = "_fastgate_refs",
	};

	if (!choices) {
		fg_strbuf_add_text(text, actions[kind]);
		return;
	}
	fg_strbuf_add_char(text, '(');
	add_words(choices, text);
	fg_strbuf_add_char(text, ')');
}

/* Inside a specification colons and brackets are special; all of it stands in single quotes. */
static void add_zsh_text(struct fg_strbuf *text, const char *words)
{
	for (; *words; words++) {
		if (strchr(":[]\\", *words))
			fg_strbuf_printf(text, "\\%c", *words);
		else if (*words == '\'')
			fg_strbuf_add_text(text, "'\\''");
		else
			fg_strbuf_add_char(text, *words);
	}
}

static void add_zsh_spelling(const struct fg_option *option, const char *spelling,
			     struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "\t\t\t'%s%s[", option->kind == FG_OPTION_LIST ? "*" : "", spelling);
	add_zsh_text(text, option->help);
	fg_strbuf_add_char(text, ']');
	if (option->kind != FG_OPTION_FLAG) {
		fg_strbuf_add_char(text, ':');
		add_zsh_text(text, option->argument);
		fg_strbuf_add_char(text, ':');
		add_zsh_action(option->complete, option->choices, text);
	}
	fg_strbuf_add_text(text, "' \\\n");
}

static void add_zsh_option(const struct fg_cli_command *command, const struct fg_option *option,
			   struct fg_strbuf *text)
{
	char spelling[64] = "";

	(void)command;
	(void)snprintf(spelling, sizeof(spelling), "--%s%s", option->name,
		       option->kind == FG_OPTION_FLAG ? "" : "=");
	add_zsh_spelling(option, spelling, text);
	if (!option->letter)
		return;
	(void)snprintf(spelling, sizeof(spelling), "-%c%s", option->letter,
		       option->kind == FG_OPTION_FLAG ? "" : "+");
	add_zsh_spelling(option, spelling, text);
}

static void add_zsh_command(const struct fg_cli_command *command, struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "\t\t%s)\n\t\t_arguments -s -S \\\n", command->name);
	each_option(command, add_zsh_option, text);
	for (const struct fg_cli_argument *a = command->arguments; a && a->name; a++) {
		const bool many = a->max != 1;

		fg_strbuf_printf(text, "\t\t\t'%s:", many ? "*" : a->min == 0 ? ":" : "");
		add_zsh_text(text, a->name);
		fg_strbuf_add_char(text, ':');
		if (command->takes_command && many)
			fg_strbuf_add_text(text, "_normal");
		else
			add_zsh_action(a->complete, a->choices, text);
		fg_strbuf_add_text(text, "' \\\n");
	}
	fg_strbuf_add_text(text, "\t\t\t&& ret=0\n\t\t;;\n");
}

static void write_zsh(struct fg_strbuf *text)
{
	struct fg_arena arena = {0};

	fg_strbuf_add_text(text, "#compdef fastgate\n# made by `fastgate help --completion zsh`\n\n"
				 "_fastgate_commands()\n{\n\tlocal -a list=(\n");
	for (size_t i = 0; fg_cli_commands[i]; i++) {
		fg_strbuf_printf(text, "\t\t'%s:", fg_cli_commands[i]->name);
		add_zsh_text(text, fg_cli_commands[i]->summary);
		fg_strbuf_add_text(text, "'\n");
	}
	fg_strbuf_add_text(text, "\t)\n\t_describe command list\n}\n\n"
				 "_fastgate_keys()\n{\n\tlocal -a list=(");
	add_words(fg_config_keys(&arena), text);
	fg_arena_release(&arena);
	fg_strbuf_add_text(text, ")\n\tcompadd -S '' -a list\n}\n\n"
				 "_fastgate_benchmarks()\n{\n"
				 "\tlocal -a list=(${(f)\"$(fastgate config --benchmarks "
				 "2>/dev/null)\"})\n\tcompadd -a list\n}\n\n"
				 "_fastgate_refs()\n{\n"
				 "\tlocal -a list=(${(f)\"$(git for-each-ref "
				 "--format='%(refname:short)' 2>/dev/null)\"})\n"
				 "\tcompadd -a list\n}\n\n"
				 "_fastgate()\n{\n\tlocal curcontext=$curcontext state line "
				 "ret=1\n\n\t_arguments -C -s \\\n");
	for (const struct fg_option *option = fg_cli_global_options; option->name; option++)
		add_zsh_option(NULL, option, text);
	fg_strbuf_add_text(text, "\t\t\t'1:command:_fastgate_commands' "
				 "\\\n\t\t\t'*::argument:->arguments' && ret=0\n"
				 "\tif [[ $state == arguments ]]; then\n\t\tcase $words[1] in\n");
	for (size_t i = 0; fg_cli_commands[i]; i++)
		add_zsh_command(fg_cli_commands[i], text);
	fg_strbuf_add_text(text, "\t\tesac\n\tfi\n\treturn ret\n}\n\n_fastgate \"$@\"\n");
}

/* ---- fish ---- */

static void add_fish_action(enum fg_complete kind, const char *const *choices,
			    struct fg_strbuf *text)
{
	static const char *const actions[] = {
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

	if (!choices) {
		fg_strbuf_add_text(text, actions[kind]);
		return;
	}
	fg_strbuf_add_text(text, "-f -a '");
	add_words(choices, text);
	fg_strbuf_add_char(text, '\'');
}

static void add_fish_condition(const struct fg_cli_command *command, struct fg_strbuf *text)
{
	if (command)
		fg_strbuf_printf(text, "complete -c fastgate -n '__fish_seen_subcommand_from %s'",
				 command->name);
	else
		fg_strbuf_add_text(text, "complete -c fastgate");
}

static void add_fish_option(const struct fg_cli_command *command, const struct fg_option *option,
			    struct fg_strbuf *text)
{
	add_fish_condition(command, text);
	fg_strbuf_printf(text, " -l %s", option->name);
	if (option->letter)
		fg_strbuf_printf(text, " -s %c", option->letter);
	if (option->kind != FG_OPTION_FLAG) {
		fg_strbuf_add_text(text, " -r ");
		add_fish_action(option->complete, option->choices, text);
	}
	fg_strbuf_add_text(text, " -d ");
	add_quoted(text, option->help, "\\'");
	fg_strbuf_add_char(text, '\n');
}

static void add_fish_command(const struct fg_cli_command *command, struct fg_strbuf *text)
{
	const struct fg_option *const tables[] = {command->options,
						  command->has_json ? fg_cli_json_option : NULL};

	fg_strbuf_printf(text, "\ncomplete -c fastgate -n __fish_use_subcommand -f -a %s -d ",
			 command->name);
	add_quoted(text, command->summary, "\\'");
	fg_strbuf_add_char(text, '\n');
	for (size_t t = 0; t < FG_ARRAY_SIZE(tables); t++) {
		for (const struct fg_option *option = tables[t]; option && option->name; option++)
			add_fish_option(command, option, text);
	}
	if (!command->arguments || !command->arguments[0].name)
		return;
	add_fish_condition(command, text);
	fg_strbuf_add_char(text, ' ');
	add_fish_action(command->arguments[0].complete, command->arguments[0].choices, text);
	fg_strbuf_add_char(text, '\n');
}

static void write_fish(struct fg_strbuf *text)
{
	struct fg_arena arena = {0};

	fg_strbuf_add_text(
		text,
		"# fish completion for fastgate; made by `fastgate help --completion fish`\n\n"
		"function __fastgate_commands\n\tstring split ' ' '");
	add_command_names(text);
	fg_strbuf_add_text(text, "'\nend\n\nfunction __fastgate_keys\n\tstring split ' ' '");
	add_words(fg_config_keys(&arena), text);
	fg_arena_release(&arena);
	fg_strbuf_add_text(text, "'\nend\n\ncomplete -c fastgate -f\n");
	for (const struct fg_option *option = fg_cli_global_options; option->name; option++)
		add_fish_option(NULL, option, text);
	for (size_t i = 0; fg_cli_commands[i]; i++)
		add_fish_command(fg_cli_commands[i], text);
}

void fg_cli_completion(enum fg_cli_shell shell, struct fg_strbuf *text)
{
	static void (*const writers[FG_CLI_SHELL_COUNT])(struct fg_strbuf * text) = {
		[FG_CLI_BASH] = write_bash,
		[FG_CLI_ZSH] = write_zsh,
		[FG_CLI_FISH] = write_fish,
	};

	writers[shell](text);
}
