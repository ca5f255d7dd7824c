/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the commands that show a profile (view, graph, export) and the one that imports one:
 * the rows of their option tables, and the steps from RUN to a profile and a query.
 */
#ifndef FG_CLI_SESSION_PROFILE_COMMAND_H
#define FG_CLI_SESSION_PROFILE_COMMAND_H

#include "cli/session/query_options.h"
#include "cli/session/run_argument.h"

struct fg_cli_profile_options {
	struct fg_cli_run_options run;
	struct fg_cli_query_options query;
	const char *output;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot be put into parentheses. */
/* The rows for an options struct whose member `member` is a struct fg_cli_profile_options. */
#define FG_CLI_PROFILE_OPTIONS(type, member)                                                 \
 FG_ROW_FILE(type, member.output, "output", 'o', "write to a file; '-' is standard output"), \
	 FG_CLI_QUERY_OPTIONS(type, member.query), FG_CLI_RUN_OPTIONS(type, member.run)
#define FG_CLI_RUN_WORDS                                                  \
 "a stored run, a trace, an exported run or another tool's profile; the " \
 "newest when left out"
/* NOLINTEND(bugprone-macro-parentheses) */

/* RUN alone. */
extern const struct fg_cli_argument fg_cli_run_arguments[];

/* The command's own work on a profile; the query has been checked against the profile. */
struct fg_cli_profile_use {
	int (*run)(struct fg_cli *cli, void *context, const struct fg_profile *profile,
		   const struct fg_calltree_query *query, struct fg_error *err);
	void *context;
};

/* Loads RUN, makes the query and calls `use`. `words` may be NULL: the newest. */
int fg_cli_use_profile(struct fg_cli *cli, const struct fg_cli_profile_options *options,
		       const char *words, const struct fg_cli_profile_use *use,
		       struct fg_error *err) FG_NODISCARD;
/* A whole command: the first argument is RUN; errors are printed. Returns the exit code. */
int fg_cli_run_on_profile(struct fg_cli *cli, const struct fg_cli_profile_options *options,
			  const struct fg_cli_profile_use *use);
/* The exit code for `status`; an error is printed. */
int fg_cli_end(const struct fg_cli *cli, int status, const struct fg_error *err);

#endif
