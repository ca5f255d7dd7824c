/* SPDX-License-Identifier: Apache-2.0 */
/* Help text from the tables of commands, and helpers shared by help, manual pages and docs. */
#ifndef FG_CLI_FRAMEWORK_HELP_H
#define FG_CLI_FRAMEWORK_HELP_H

#include "cli/framework/command.h"

void fg_cli_overview(struct fg_strbuf *text, unsigned columns);
void fg_cli_command_help(const struct fg_cli_command *command, struct fg_strbuf *text,
			 unsigned columns);
/* Adds "fastgate run [OPTIONS] [BENCH...]". */
void fg_cli_usage_line(const struct fg_cli_command *command, struct fg_strbuf *text);
const char *fg_cli_group_title(enum fg_cli_group group);
/* Returns the meaning of an exit code, for man pages and docs/exit-codes.md. */
const char *fg_cli_exit_meaning(enum fg_exit code);

enum {
	FG_CLI_EXIT_COUNT = 8
};

/* Writes the exit codes of a command in ascending order; returns their number. */
size_t fg_cli_exits(const struct fg_cli_command *command, enum fg_exit exits[FG_CLI_EXIT_COUNT]);

/* ---- man.c ---- */

void fg_cli_man_overview(struct fg_strbuf *page);
void fg_cli_man_command(const struct fg_cli_command *command, struct fg_strbuf *page);

#endif
