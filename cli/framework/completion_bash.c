// SPDX-License-Identifier: Apache-2.0
#include "cli/framework/completion.h"
#include "cli/framework/completion_parts.h"
#include "config/config.h"

static const char *const bash_kinds[] = {
	[FG_COMPLETE_NOTHING] = "COMPREPLY=()",
	[FG_COMPLETE_FILE] = "_fastgate_reply -f",
	[FG_COMPLETE_FOLDER] = "_fastgate_reply -d",
	[FG_COMPLETE_PROGRAM] = "_fastgate_reply -c -f",
	[FG_COMPLETE_BENCHMARK] =
		"_fastgate_reply -W \"$(fastgate config --benchmarks 2>/dev/null)\"",
	[FG_COMPLETE_KEY] = "_fastgate_reply -W \"$_fastgate_keys\"",
	[FG_COMPLETE_COMMAND] = "_fastgate_reply -W \"$_fastgate_commands\"",
	[FG_COMPLETE_GIT_REF] = ("_fastgate_reply -W \"$(git for-each-ref "
				 "--format='%(refname:short)' 2>/dev/null)\""),
};

static const struct fg_completion_values bash_values = {
	.kinds = bash_kinds, .before = "_fastgate_reply -W '", .after = "'"};

static void add_value(const struct fg_cli_command *command, const struct fg_option *option,
		      struct fg_strbuf *text)
{
	if (option->kind == FG_OPTION_FLAG)
		return;
	fg_strbuf_printf(text, "\t%s:--%s", command->name, option->name);
	if (option->letter)
		fg_strbuf_printf(text, " | %s:-%c", command->name, option->letter);
	fg_strbuf_add_text(text, ")\n\t\t");
	fg_completion_value(&bash_values, option->complete, option->choices, text);
	fg_strbuf_add_text(text, "\n\t\treturn\n\t\t;;\n");
}

static void add_name(const struct fg_cli_command *command, const struct fg_option *option,
		     struct fg_strbuf *text)
{
	(void)command;
	fg_strbuf_printf(text, " --%s", option->name);
	if (option->letter)
		fg_strbuf_printf(text, " -%c", option->letter);
}

static void add_arguments(const struct fg_cli_command *command, struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "\t%s)\n\t\tif [[ $cur == -* ]]; then\n\t\t\t_fastgate_reply -W '",
			 command->name);
	fg_completion_options(command, add_name, text);
	fg_strbuf_add_text(text, "'\n\t\telse\n\t\t\t");
	if (command->arguments && command->arguments[0].name)
		fg_completion_value(&bash_values, command->arguments[0].complete,
				    command->arguments[0].choices, text);
	else
		fg_strbuf_add_text(text, "COMPREPLY=()");
	fg_strbuf_add_text(text, "\n\t\tfi\n\t\t;;\n");
}

void fg_completion_bash(struct fg_strbuf *text)
{
	struct fg_arena arena = {0};

	fg_strbuf_add_text(
		text, "# bash completion for fastgate; made by `fastgate help --completion bash`\n"
		      "# shellcheck shell=bash\n\n_fastgate_commands='");
	fg_completion_commands(text);
	fg_strbuf_add_text(text, "'\n_fastgate_keys='");
	fg_completion_words(fg_config_keys(&arena), text);
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
		fg_completion_options(fg_cli_commands[i], add_value, text);
	fg_strbuf_add_text(text, "\tesac\n\tcase $command in\n");
	for (size_t i = 0; fg_cli_commands[i]; i++)
		add_arguments(fg_cli_commands[i], text);
	fg_strbuf_add_text(text, "\t*)\n\t\tif [[ $cur == -* ]]; then\n\t\t\t_fastgate_reply -W '");
	for (const struct fg_option *option = fg_cli_global_options; option->name; option++)
		add_name(NULL, option, text);
	fg_strbuf_add_text(text, "'\n\t\telse\n\t\t\t_fastgate_reply -W "
				 "\"$_fastgate_commands\"\n\t\tfi\n\t\t;;\n\tesac\n}\n\n"
				 "complete -o filenames -F _fastgate fastgate\n");
}
