// SPDX-License-Identifier: Apache-2.0

#include "base/manual.h"
#include "cli/framework/help.h"

static void add_exits(struct fg_strbuf *page, const enum fg_exit *exits, size_t count)
{
	fg_strbuf_add_text(page, ".SH EXIT STATUS\n");
	for (size_t i = 0; i < count; i++) {
		fg_strbuf_printf(page, ".TP\n\\fB%d\\fR\n", (int)exits[i]);
		fg_manual_line(page, fg_cli_exit_meaning(exits[i]));
	}
}

static void add_arguments(struct fg_strbuf *page, const struct fg_cli_argument *argument)
{
	if (!argument || !argument->name)
		return;
	fg_strbuf_add_text(page, ".SH ARGUMENTS\n");
	for (; argument->name; argument++) {
		fg_strbuf_add_text(page, ".TP\n\\fI");
		fg_manual_text(page, argument->name, false);
		fg_strbuf_add_text(page, "\\fR\n");
		fg_manual_text(page, argument->help, true);
		for (size_t i = 0; argument->choices && argument->choices[i]; i++) {
			fg_strbuf_add_text(page, i == 0 ? ": \\fB" : ", \\fB");
			fg_manual_text(page, argument->choices[i], false);
			fg_strbuf_add_text(page, "\\fR");
		}
		fg_strbuf_add_char(page, '\n');
	}
}

static void add_examples(struct fg_strbuf *page, const struct fg_cli_example *example)
{
	fg_strbuf_add_text(page, ".SH EXAMPLES\n");
	for (; example && example->line; example++)
		fg_manual_term(page, example->line, example->what);
}

void fg_cli_man_command(const struct fg_cli_command *command, struct fg_strbuf *page)
{
	enum fg_exit exits[FG_CLI_EXIT_COUNT];
	const size_t exit_count = fg_cli_exits(command, exits);
	struct fg_strbuf text = {0};

	fg_strbuf_printf(&text, "fastgate-%s", command->name);
	fg_manual_head(page, fg_strbuf_text(&text), "fastgate", command->summary);
	fg_strbuf_add_text(page, ".SH SYNOPSIS\n");
	fg_strbuf_clear(&text);
	fg_cli_usage_line(command, &text);
	fg_manual_line(page, fg_strbuf_text(&text));
	fg_strbuf_add_text(page, ".SH DESCRIPTION\n");
	fg_manual_paragraphs(page, command->description);
	add_arguments(page, command->arguments);
	fg_strbuf_add_text(page, ".SH OPTIONS\n");
	fg_manual_options(page, command->options);
	if (command->has_json)
		fg_manual_options(page, fg_cli_json_option);
	fg_manual_options(page, fg_cli_global_options);
	add_exits(page, exits, exit_count);
	add_examples(page, command->examples);
	fg_strbuf_add_text(page, ".SH SEE ALSO\n.BR fastgate (1)\n");
	fg_strbuf_release(&text);
}

/* ---- fastgate(1) ---- */

static const struct {
	const char *name;
	const char *what;
} variables[] =
	{
		{"FASTGATE_…", "a key of fastgate.yml in capitals, with underscores for dots: "
			       "FASTGATE_GATE_ALPHA=0.001"},
		{"FASTGATE_DEBUG",
		 "debug messages: a list of domains, such as runner,store:2, or all"},
		{"FASTGATE_PAGER, PAGER",
		 "the pager for long output on a terminal; `cat` or an empty value turns paging off"},
		{"NO_COLOR", "no colours, unless --color says otherwise"},
		{"CLICOLOR_FORCE", "colours even without a terminal"},
		{"COLUMNS", "the width of the output, in columns"},
		{"XDG_CACHE_HOME",
		 "the folder for caches (default: ~/.cache); symbols of libraries are stored in "
		 "its subfolder fastgate"},
},
  files[] = {
	  {"fastgate.yml", "the configuration: benchmarks, and rules of the verdict"},
	  {".fastgate/store.db", "the runs, next to fastgate.yml"},
	  {".fastgate/spool/", "uploads that no server has confirmed yet"},
};

void fg_cli_man_overview(struct fg_strbuf *page)
{
	static const enum fg_exit exits[FG_CLI_EXIT_COUNT] = {
		FG_EXIT_PASS,         FG_EXIT_REGRESSION, FG_EXIT_USAGE,    FG_EXIT_INCONCLUSIVE,
		FG_EXIT_NOT_MEASURED, FG_EXIT_UPLOAD,     FG_EXIT_INTERNAL, FG_EXIT_INTERRUPTED,
	};

	fg_manual_head(page, "fastgate", "fastgate",
		       "performance regression gate for C and C++ programs");
	fg_strbuf_add_text(page, ".SH SYNOPSIS\nfastgate [OPTIONS] COMMAND ...\n.SH DESCRIPTION\n");
	fg_manual_paragraphs(
		page, "Repeats the benchmarks of a project under a call-stack sampler, compares "
		      "them with a baseline by a statistical rule, reports which function on "
		      "which call path got slower, and ends with an exit code that a build can "
		      "rely on.");
	for (int group = 0; group < FG_CLI_GROUP_COUNT; group++) {
		fg_strbuf_printf(page, ".SS %s\n", fg_cli_group_title((enum fg_cli_group)group));
		for (size_t i = 0; fg_cli_commands[i]; i++) {
			if ((int)fg_cli_commands[i]->group != group)
				continue;
			fg_strbuf_printf(page, ".TP\n.BR fastgate\\-%s (1)\n",
					 fg_cli_commands[i]->name);
			fg_manual_line(page, fg_cli_commands[i]->summary);
		}
	}
	fg_strbuf_add_text(page, ".SH OPTIONS\n");
	fg_manual_options(page, fg_cli_global_options);
	fg_strbuf_add_text(page, ".SH ENVIRONMENT\n");
	for (size_t i = 0; i < FG_ARRAY_SIZE(variables); i++)
		fg_manual_term(page, variables[i].name, variables[i].what);
	fg_strbuf_add_text(page, ".SH FILES\n");
	for (size_t i = 0; i < FG_ARRAY_SIZE(files); i++)
		fg_manual_term(page, files[i].name, files[i].what);
	add_exits(page, exits, FG_ARRAY_SIZE(exits));
}
