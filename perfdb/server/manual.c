// SPDX-License-Identifier: Apache-2.0
#include "base/manual.h"

#include "perfdb/server/options.h"

static const struct {
	const char *line;
	const char *what;
} examples[] = {
	{"perfdb serve", "a server for this machine; it prints its address and the first key"},
	{"perfdb token create --project tracker --scope upload", "a token for a CI job"},
	{"perfdb backup --to copy.db", "a copy, while the server runs"},
	{"perfdb gc --older-than 365d --keep 50", "remove old runs, from cron or a timer"},
};

static const struct {
	int code;
	const char *what;
} exits[] = {
	{FG_PERFDB_OK, "done"},
	{FG_PERFDB_FAILED, "failed: the message says why"},
	{FG_PERFDB_USAGE, "an unknown command or option"},
};

static void add_command(struct fg_strbuf *page, const struct fg_perfdb_command *command)
{
	const char *separator = " ";

	fg_strbuf_printf(page, ".SH COMMAND %s\n.B perfdb %s\n", command->name, command->name);
	for (const struct fg_perfdb_action *a = command->actions; a && a->name; a++) {
		fg_strbuf_printf(page, "%s%s%s\n", separator, a->name,
				 a->takes_word ? " \\fIWORD\\fR" : "");
		separator = "| ";
	}
	fg_strbuf_add_text(page, "[OPTIONS]\n.PP\n");
	fg_manual_line(page, command->summary);
	fg_manual_options(page, command->options);
}

void fg_perfdb_manual(struct fg_strbuf *page)
{
	char code[4];

	fg_manual_head(page, "perfdb", "perfdb", "shared history of performance measurements");
	fg_strbuf_add_text(page, ".SH SYNOPSIS\nperfdb COMMAND [OPTIONS]\n.SH DESCRIPTION\n");
	fg_manual_paragraphs(
		page,
		"Keeps the runs uploaded by `fastgate push` in one database, and serves them as "
		"pages and over an API: trends, comparisons, change points, notes.\n"
		"Commands other than `serve` work on the database directly, even while a server "
		"runs.");
	for (size_t i = 0; fg_perfdb_commands[i]; i++)
		add_command(page, fg_perfdb_commands[i]);
	fg_strbuf_add_text(page, ".SH EXIT STATUS\n");
	for (size_t i = 0; i < FG_ARRAY_SIZE(exits); i++) {
		(void)snprintf(code, sizeof(code), "%d", exits[i].code);
		fg_manual_term(page, code, exits[i].what);
	}
	fg_strbuf_add_text(page, ".SH EXAMPLES\n");
	for (size_t i = 0; i < FG_ARRAY_SIZE(examples); i++)
		fg_manual_term(page, examples[i].line, examples[i].what);
	fg_strbuf_add_text(page, ".SH SEE ALSO\n.BR fastgate (1),\n.BR fastgate\\-push (1)\n");
}
