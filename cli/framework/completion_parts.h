/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts shared by the completions of the three shells. A completion script contains the options,
 * their choices and the kind of each argument; it gets benchmark names from `fastgate config
 * --benchmarks`, and refs from git.
 */
#ifndef FG_CLI_FRAMEWORK_COMPLETION_PARTS_H
#define FG_CLI_FRAMEWORK_COMPLETION_PARTS_H

#include "cli/framework/command.h"

/* Adds the words, separated by blanks; `words` may be NULL. */
void fg_completion_words(const char *const *words, struct fg_strbuf *text);
/*
 * A shell's syntax for completing a value: the text of its kind, or its choices between `before`
 * and `after`.
 */
struct fg_completion_values {
	const char *const *kinds; /* by enum fg_complete */
	const char *before, *after;
};
void fg_completion_value(const struct fg_completion_values *values, enum fg_complete kind,
			 const char *const *choices, struct fg_strbuf *text);
/* Adds the names of all commands, separated by blanks. */
void fg_completion_commands(struct fg_strbuf *text);
/* Visits every option of a command: its own, --json, and the global options. */
void fg_completion_options(const struct fg_cli_command *command,
			   void (*visit)(const struct fg_cli_command *command,
					 const struct fg_option *option, struct fg_strbuf *text),
			   struct fg_strbuf *text);

#endif
