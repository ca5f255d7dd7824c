// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of commands as manual pages, in the man(7) macros that groff and mandoc both read.
 * Text is escaped so that a dash stays a dash, and everything beyond ASCII is named by its code
 * point.
 */
#include "cli/framework/man.h"

#include "base/version.h"
#include "cli/framework/help.h"

#include <ctype.h>

/* ---- escaping ---- */

static size_t decode(const char *text, unsigned *code_point)
{
	const unsigned char first = (unsigned char)*text;
	const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

	*code_point = length == 1 ? first : first & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++)
		*code_point = (*code_point << 6) | ((unsigned char)text[i] & 0x3fu);
	return length;
}

/* Text in `backticks` becomes bold. The input is our own valid UTF-8. */
static void add_escaped(struct fg_strbuf *page, const char *text, bool marks)
{
	bool is_bold = false;

	if (*text == '.' || *text == '\'')
		fg_strbuf_add_text(page, "\\&");
	while (*text) {
		unsigned code_point = 0;
		const size_t length = decode(text, &code_point);

		if (*text == '`' && marks) {
			is_bold = !is_bold;
			fg_strbuf_add_text(page, is_bold ? "\\fB" : "\\fR");
		} else if (*text == '\\') {
			fg_strbuf_add_text(page, "\\e");
		} else if (*text == '-') {
			fg_strbuf_add_text(page, "\\-");
		} else if (*text == '\'' || *text == '`') {
			fg_strbuf_add_text(page, *text == '`' ? "\\(ga" : "\\(aq");
		} else if (code_point > 0x7e) {
			fg_strbuf_printf(page, "\\[u%04X]", code_point);
		} else {
			fg_strbuf_add_char(page, *text);
		}
		text += length;
	}
}

static void add_line(struct fg_strbuf *page, const char *text)
{
	add_escaped(page, text, true);
	fg_strbuf_add_char(page, '\n');
}

/* One paragraph per line; lines that begin with a blank stay as they are. */
static void add_paragraphs(struct fg_strbuf *page, const char *text)
{
	while (*text) {
		const size_t length = strcspn(text, "\n");
		char *line = fg_xstrndup(text, length);

		if (*line == ' ') {
			fg_strbuf_add_text(page, ".nf\n\\&");
			add_escaped(page, line, false);
			fg_strbuf_add_text(page, "\n.fi\n");
		} else if (*line) {
			add_line(page, line);
		} else {
			fg_strbuf_add_text(page, ".PP\n");
		}
		free(line);
		text += length + (text[length] == '\n');
	}
}

/* ---- parts of a page ---- */

static void add_head(struct fg_strbuf *page, const char *name, const char *summary)
{
	fg_strbuf_add_text(
		page, ".\\\" Made by `fastgate help --man` from the tables of commands.\n.TH ");
	for (const char *c = name; *c; c++)
		fg_strbuf_printf(page, "%s%c", *c == '-' ? "\\" : "", toupper((unsigned char)*c));
	fg_strbuf_printf(page, " 1 \"\" \"fastgate %s\" \"fastgate manual\"\n.SH NAME\n",
			 fg_version());
	add_escaped(page, name, false);
	fg_strbuf_add_text(page, " \\- ");
	add_line(page, summary);
}

static void add_option(struct fg_strbuf *page, const struct fg_option *option)
{
	struct fg_strbuf text = {0};

	fg_strbuf_add_text(page, ".TP\n\\fB");
	if (option->letter)
		fg_strbuf_printf(page, "\\-%c\\fR, \\fB", option->letter);
	fg_strbuf_add_text(&text, "--");
	fg_strbuf_add_text(&text, option->name);
	add_escaped(page, fg_strbuf_text(&text), false);
	fg_strbuf_add_text(page, "\\fR");
	if (option->argument) {
		fg_strbuf_add_text(page, option->alone ? " [\\fI" : " \\fI");
		add_escaped(page, option->argument, false);
		fg_strbuf_add_text(page, option->alone ? "\\fR]" : "\\fR");
	}
	fg_strbuf_add_char(page, '\n');
	fg_strbuf_clear(&text);
	fg_option_describe(option, &text);
	add_line(page, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
}

static void add_options(struct fg_strbuf *page, const struct fg_option *options)
{
	for (; options && options->name; options++) {
		if (options->heading) {
			fg_strbuf_add_text(page, ".SS ");
			add_line(page, options->heading);
		}
		add_option(page, options);
	}
}

static void add_exits(struct fg_strbuf *page, const enum fg_exit *exits, size_t count)
{
	fg_strbuf_add_text(page, ".SH EXIT STATUS\n");
	for (size_t i = 0; i < count; i++) {
		fg_strbuf_printf(page, ".TP\n\\fB%d\\fR\n", (int)exits[i]);
		add_line(page, fg_cli_exit_meaning(exits[i]));
	}
}

static void add_arguments(struct fg_strbuf *page, const struct fg_cli_argument *argument)
{
	if (!argument || !argument->name)
		return;
	fg_strbuf_add_text(page, ".SH ARGUMENTS\n");
	for (; argument->name; argument++) {
		fg_strbuf_add_text(page, ".TP\n\\fI");
		add_escaped(page, argument->name, false);
		fg_strbuf_add_text(page, "\\fR\n");
		add_escaped(page, argument->help, true);
		for (size_t i = 0; argument->choices && argument->choices[i]; i++) {
			fg_strbuf_add_text(page, i == 0 ? ": \\fB" : ", \\fB");
			add_escaped(page, argument->choices[i], false);
			fg_strbuf_add_text(page, "\\fR");
		}
		fg_strbuf_add_char(page, '\n');
	}
}

static void add_examples(struct fg_strbuf *page, const struct fg_cli_example *example)
{
	fg_strbuf_add_text(page, ".SH EXAMPLES\n");
	for (; example && example->line; example++) {
		fg_strbuf_add_text(page, ".TP\n\\fB");
		add_escaped(page, example->line, false);
		fg_strbuf_add_text(page, "\\fR\n");
		add_line(page, example->what);
	}
}

void fg_cli_man_command(const struct fg_cli_command *command, struct fg_strbuf *page)
{
	enum fg_exit exits[FG_CLI_EXIT_COUNT];
	const size_t exit_count = fg_cli_exits(command, exits);
	struct fg_strbuf text = {0};

	fg_strbuf_printf(&text, "fastgate-%s", command->name);
	add_head(page, fg_strbuf_text(&text), command->summary);
	fg_strbuf_add_text(page, ".SH SYNOPSIS\n");
	fg_strbuf_clear(&text);
	fg_cli_usage_line(command, &text);
	add_line(page, fg_strbuf_text(&text));
	fg_strbuf_add_text(page, ".SH DESCRIPTION\n");
	add_paragraphs(page, command->description);
	add_arguments(page, command->arguments);
	fg_strbuf_add_text(page, ".SH OPTIONS\n");
	add_options(page, command->options);
	if (command->has_json)
		add_options(page, fg_cli_json_option);
	add_options(page, fg_cli_global_options);
	add_exits(page, exits, exit_count);
	add_examples(page, command->examples);
	fg_strbuf_add_text(page, ".SH SEE ALSO\n.BR fastgate (1)\n");
	fg_strbuf_release(&text);
}

/* ---- fastgate(1) ---- */

static const struct {
	const char *name;
	const char *what;
} surroundings[] =
	{
		{"FASTGATE_…", "a key of fastgate.yml in capitals, with underscores for dots: "
			       "FASTGATE_GATE_ALPHA=0.001"},
		{"FASTGATE_DEBUG",
		 "debug messages: a list of domains, such as runner,store:2, or all"},
		{"FASTGATE_PAGER, PAGER",
		 "the pager for long text on a terminal; `cat` or nothing: no pager"},
		{"NO_COLOR", "no colours, unless --color says otherwise"},
		{"CLICOLOR_FORCE", "colours even without a terminal"},
		{"COLUMNS", "the width of text"},
		{"XDG_CACHE_HOME",
		 "symbols of libraries are cached in its folder fastgate; default ~/.cache"},
},
  files[] = {
	  {"fastgate.yml", "the configuration: what is measured, and when a difference counts"},
	  {".fastgate/store.db", "the runs, beside fastgate.yml"},
	  {".fastgate/spool/", "uploads that no server has confirmed yet"},
};

static void add_named(struct fg_strbuf *page, const char *name, const char *what)
{
	fg_strbuf_add_text(page, ".TP\n\\fB");
	add_escaped(page, name, false);
	fg_strbuf_add_text(page, "\\fR\n");
	add_line(page, what);
}

void fg_cli_man_overview(struct fg_strbuf *page)
{
	static const enum fg_exit exits[FG_CLI_EXIT_COUNT] = {
		FG_EXIT_PASS,         FG_EXIT_REGRESSION, FG_EXIT_USAGE,    FG_EXIT_INCONCLUSIVE,
		FG_EXIT_NOT_MEASURED, FG_EXIT_UPLOAD,     FG_EXIT_INTERNAL, FG_EXIT_INTERRUPTED,
	};

	add_head(page, "fastgate", "performance regression gate for C and C++ programs");
	fg_strbuf_add_text(page, ".SH SYNOPSIS\nfastgate [OPTIONS] COMMAND ...\n.SH DESCRIPTION\n");
	add_paragraphs(page, "Repeats the benchmarks of a project under a call-stack sampler, "
			     "compares them with a baseline under a statistical rule, says which "
			     "function on which call path got slower, and ends with an exit code "
			     "that a build can rely on.");
	for (int group = 0; group < FG_CLI_GROUP_COUNT; group++) {
		fg_strbuf_printf(page, ".SS %s\n", fg_cli_group_title((enum fg_cli_group)group));
		for (size_t i = 0; fg_cli_commands[i]; i++) {
			if ((int)fg_cli_commands[i]->group != group)
				continue;
			fg_strbuf_printf(page, ".TP\n.BR fastgate\\-%s (1)\n",
					 fg_cli_commands[i]->name);
			add_line(page, fg_cli_commands[i]->summary);
		}
	}
	fg_strbuf_add_text(page, ".SH OPTIONS\n");
	add_options(page, fg_cli_global_options);
	fg_strbuf_add_text(page, ".SH ENVIRONMENT\n");
	for (size_t i = 0; i < FG_ARRAY_SIZE(surroundings); i++)
		add_named(page, surroundings[i].name, surroundings[i].what);
	fg_strbuf_add_text(page, ".SH FILES\n");
	for (size_t i = 0; i < FG_ARRAY_SIZE(files); i++)
		add_named(page, files[i].name, files[i].what);
	add_exits(page, exits, FG_ARRAY_SIZE(exits));
}
