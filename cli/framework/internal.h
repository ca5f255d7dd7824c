/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the command-line framework share: commands themselves need command.h only. */
#ifndef FG_CLI_FRAMEWORK_INTERNAL_H
#define FG_CLI_FRAMEWORK_INTERNAL_H

#include "cli/framework/command.h"

/* What the global options fill in. */
struct fg_cli_globals {
	int color; /* enum fg_cli_color */
	bool quiet;
	bool verbose;
	bool json;
	bool help;
	bool version;
};

/* output.c: terminal, colours and sizes from the globals and the surroundings. */
void fg_cli_surroundings(struct fg_cli *cli, const struct fg_cli_globals *globals);
/* Everything printed must have arrived: FG_EIO when stdout could not take it. */
int fg_cli_close_output(struct fg_error *err);

/* help.c */
void fg_cli_overview(struct fg_strbuf *text, unsigned columns);
void fg_cli_command_help(const struct fg_cli_command *command, struct fg_strbuf *text,
			 unsigned columns);
/* "fastgate run [OPTIONS] [BENCH...]" */
void fg_cli_usage_line(const struct fg_cli_command *command, struct fg_strbuf *text);
const char *fg_cli_group_title(enum fg_cli_group group);
/* What an exit code means, for man pages and docs/exit-codes.md. */
const char *fg_cli_exit_meaning(enum fg_exit code);
/* The exit codes of a command, most ordinary first; returns how many. */
enum {
	FG_CLI_EXIT_COUNT = 8
};
size_t fg_cli_exits(const struct fg_cli_command *command, enum fg_exit exits[FG_CLI_EXIT_COUNT]);

/* man.c: the tables as manual pages */
void fg_cli_man_overview(struct fg_strbuf *page);
void fg_cli_man_command(const struct fg_cli_command *command, struct fg_strbuf *page);

/* completion.c */
enum fg_cli_shell {
	FG_CLI_BASH,
	FG_CLI_ZSH,
	FG_CLI_FISH,
	FG_CLI_SHELL_COUNT,
};
void fg_cli_completion(enum fg_cli_shell shell, struct fg_strbuf *text);

#endif
