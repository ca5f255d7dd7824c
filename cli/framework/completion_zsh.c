// SPDX-License-Identifier: Apache-2.0
#include "cli/framework/completion.h"
#include "cli/framework/completion_parts.h"
#include "config/config.h"

static const char *const zsh_kinds[] = {
	[FG_COMPLETE_NOTHING] = " ",
	[FG_COMPLETE_FILE] = "_files",
	[FG_COMPLETE_FOLDER] = "_files -/",
	[FG_COMPLETE_PROGRAM] = "_command_names -e",
	[FG_COMPLETE_BENCHMARK] = "_fastgate_benchmarks",
	[FG_COMPLETE_KEY] = "_fastgate_keys",
	[FG_COMPLETE_COMMAND] = "_fastgate_commands",
	[FG_COMPLETE_GIT_REF] = "_fastgate_refs",
};

static const struct fg_completion_values zsh_values = {
	.kinds = zsh_kinds, .before = "(", .after = ")"};

/*
 * Escapes colons and brackets, which are special in a specification. The whole specification is in
 * single quotes.
 */
static void add_text(struct fg_strbuf *text, const char *words)
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

static void add_spelling(const struct fg_option *option, const char *spelling,
			 struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "\t\t\t'%s%s[", option->kind == FG_OPTION_LIST ? "*" : "", spelling);
	add_text(text, option->help);
	fg_strbuf_add_char(text, ']');
	if (option->kind != FG_OPTION_FLAG) {
		fg_strbuf_add_text(text, option->alone ? "::" : ":");
		add_text(text, option->argument);
		fg_strbuf_add_char(text, ':');
		fg_completion_value(&zsh_values, option->complete, option->choices, text);
	}
	fg_strbuf_add_text(text, "' \\\n");
}

static void add_option(const struct fg_cli_command *command, const struct fg_option *option,
		       struct fg_strbuf *text)
{
	char spelling[64] = "";

	(void)command;
	(void)snprintf(spelling, sizeof(spelling), "--%s%s", option->name,
		       option->kind == FG_OPTION_FLAG ? "" : "=");
	add_spelling(option, spelling, text);
	if (!option->letter)
		return;
	(void)snprintf(spelling, sizeof(spelling), "-%c%s", option->letter,
		       option->kind == FG_OPTION_FLAG ? "" : "+");
	add_spelling(option, spelling, text);
}

static void add_command(const struct fg_cli_command *command, struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "\t\t%s)\n\t\t_arguments -s -S \\\n", command->name);
	fg_completion_options(command, add_option, text);
	for (const struct fg_cli_argument *a = command->arguments; a && a->name; a++) {
		const bool many = a->max != 1;

		fg_strbuf_printf(text, "\t\t\t'%s:", many ? "*" : a->min == 0 ? ":" : "");
		add_text(text, a->name);
		fg_strbuf_add_char(text, ':');
		if (command->takes_command && many)
			fg_strbuf_add_text(text, "_normal");
		else
			fg_completion_value(&zsh_values, a->complete, a->choices, text);
		fg_strbuf_add_text(text, "' \\\n");
	}
	fg_strbuf_add_text(text, "\t\t\t&& ret=0\n\t\t;;\n");
}

void fg_completion_zsh(struct fg_strbuf *text)
{
	struct fg_arena arena = {0};

	fg_strbuf_add_text(text, "#compdef fastgate\n# made by `fastgate help --completion zsh`\n\n"
				 "_fastgate_commands()\n{\n\tlocal -a list=(\n");
	for (size_t i = 0; fg_cli_commands[i]; i++) {
		fg_strbuf_printf(text, "\t\t'%s:", fg_cli_commands[i]->name);
		add_text(text, fg_cli_commands[i]->summary);
		fg_strbuf_add_text(text, "'\n");
	}
	fg_strbuf_add_text(text, "\t)\n\t_describe command list\n}\n\n"
				 "_fastgate_keys()\n{\n\tlocal -a list=(");
	fg_completion_words(fg_config_keys(&arena), text);
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
		add_option(NULL, option, text);
	fg_strbuf_add_text(text, "\t\t\t'1:command:_fastgate_commands' "
				 "\\\n\t\t\t'*::argument:->arguments' && ret=0\n"
				 "\tif [[ $state == arguments ]]; then\n\t\tcase $words[1] in\n");
	for (size_t i = 0; fg_cli_commands[i]; i++)
		add_command(fg_cli_commands[i], text);
	fg_strbuf_add_text(text, "\t\tesac\n\tfi\n\treturn ret\n}\n\n_fastgate \"$@\"\n");
}
