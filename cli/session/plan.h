/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fastgate.yml for a command: the options that select and override it, and loading it with all
 * messages printed.
 */
#ifndef FG_CLI_SESSION_PLAN_H
#define FG_CLI_SESSION_PLAN_H

#include "cli/framework/command.h"
#include "config/config.h"

enum {
	FG_CLI_SHORT_FORMS_MAX = 8
};

/* A member of the options struct of a command that reads fastgate.yml. */
struct fg_cli_config {
	const char *path;               /* --config */
	struct fg_option_list settings; /* --set */
	/* The command's own options that are shorthand for a key. */
	struct fg_config_option short_forms[FG_CLI_SHORT_FORMS_MAX];
	size_t short_form_count;
};

/*
 * The rows of --config and --set for an options struct with such a member.
 * NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot be put into parentheses.
 */
#define FG_CLI_CONFIG_OPTIONS(type, member)                                                        \
 {.name = "config",                                                                                \
  .letter = 'c',                                                                                   \
  .kind = FG_OPTION_TEXT,                                                                          \
  .offset = offsetof(type, member.path),                                                           \
  .argument = "FILE",                                                                              \
  .complete = FG_COMPLETE_FILE,                                                                    \
  .help = "read this instead of fastgate.yml here or in a folder above"},                          \
 {                                                                                                 \
  .name = "set", .letter = 's', .kind = FG_OPTION_LIST, .offset = offsetof(type, member.settings), \
  .argument = "KEY=VALUE", .complete = FG_COMPLETE_KEY, .help = "override a key of fastgate.yml"   \
 }

/* NOLINTEND(bugprone-macro-parentheses) */

/*
 * Loads fastgate.yml, overridden by the environment and the command line. Every error and warning
 * is printed. FG_EXIT_PASS: the caller releases the plan. `optional`: if there is no file, the plan
 * is the defaults.
 */
int fg_cli_load_plan(const struct fg_cli *cli, const struct fg_cli_config *config, bool optional,
		     struct fg_plan *plan);

/*
 * Maps an option with its argument, such as "--budget 2m", to "KEY=VALUE". Does nothing if the
 * argument is NULL.
 */
void fg_cli_set(struct fg_cli *cli, struct fg_cli_config *config, const char *key,
		const char *value, const char *option, const char *argument);

#endif
