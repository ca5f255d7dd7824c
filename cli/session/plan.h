/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads fastgate.yml for a command and prints all messages; also defines the options that select
 * and override it. A checkout can come from anybody, so everything it names is checked here: the
 * folder with fastgate's data, the secrets, and the addresses that they are sent to.
 */
#ifndef FG_CLI_SESSION_PLAN_H
#define FG_CLI_SESSION_PLAN_H

#include "cli/framework/command.h"
#include "config/config.h"

enum {
	FG_CLI_SHORT_FORMS_MAX = 8
};

/* Member of the options struct of each command that reads fastgate.yml. */
struct fg_cli_config {
	const char *path;               /* --config */
	struct fg_option_list settings; /* --set */
	/* The command's own options that stand for a key. */
	struct fg_config_option short_forms[FG_CLI_SHORT_FORMS_MAX];
	size_t short_form_count;
};

/*
 * The rows of --config and --set for an options struct whose `member` is a struct fg_cli_config.
 * NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot be put into parentheses.
 */
#define FG_CLI_CONFIG_OPTIONS(type, member)                                                        \
 FG_ROW_FILE(type, member.path, "config", 'c',                                                     \
	     "read this file instead of the fastgate.yml in this folder or a folder above"),       \
 {                                                                                                 \
  .name = "set", .letter = 's', .kind = FG_OPTION_LIST, .offset = offsetof(type, member.settings), \
  .argument = "KEY=VALUE", .complete = FG_COMPLETE_KEY, .help = "override a key of fastgate.yml"   \
 }

/* NOLINTEND(bugprone-macro-parentheses) */

/*
 * Loads fastgate.yml, overridden by the command line, and prints every error and warning.
 * FG_EXIT_PASS: the caller releases the plan. If `optional`, a missing file means defaults.
 */
int fg_cli_load_plan(const struct fg_cli *cli, const struct fg_cli_config *config, bool optional,
		     struct fg_plan *plan);

/*
 * Call before a plan is measured against a commit: if its fastgate.yml is outside every checkout,
 * its root becomes the current folder.
 */
void fg_cli_set_plan_root(struct fg_plan *plan);

/*
 * Maps an option and its argument, such as "--budget 2m", to "KEY=VALUE"; does nothing without an
 * argument.
 */
void fg_cli_set(struct fg_cli *cli, struct fg_cli_config *config, const char *key,
		const char *value, const char *option, const char *argument);

/*
 * Records link templates with the run, for every report and page that shows it: links to the
 * source, from the plan or else in the form of GitHub and GitLab, and to the run on the plan's
 * server.
 */
void fg_cli_record_links(const struct fg_plan *plan, struct fg_environment *build);

/* ---- cases of a suite ---- */

/* Selects the cases with these names; the benchmark's own name selects all. */
void fg_cli_choose_cases(struct fg_plan *plan, struct fg_benchmark *benchmark,
			 const char *const *names, size_t count);

/* ---- the state folder: next to fastgate.yml, with runs, builds and pending uploads ---- */

#define FG_STATE_FOLDER ".fastgate"

/*
 * FG_EINVAL: the folder or an entry in it is a symbolic link. git can check out such a link, and
 * files would then be written elsewhere. `root` contains the folder.
 */
int fg_state_folder_check(const char *root, struct fg_error *err) FG_NODISCARD;

/*
 * Creates the folder with a .gitignore, so that nobody commits or stashes it by mistake. A failure
 * is silent, because users of the folder will notice it.
 */
void fg_state_folder_make(const char *path);

/* ---- secrets ---- */

/* Removes the usual secrets from the environment. Call before any program is started. */
void fg_tokens_take(void);
/*
 * May a secret be sent to an address that a checkout names? Only if the user's environment allows
 * it: PERFDB_URL is the address, or FASTGATE_TRUSTED_URLS lists it or a prefix of it.
 */
bool fg_tokens_allow_url(const char *url);
/*
 * Call before a command builds and runs a checkout. FG_EINVAL: a pull request from a fork would run
 * untrusted code in a job that has this repository's secrets.
 */
int fg_cli_check_event(struct fg_error *err) FG_NODISCARD;
void fg_cli_warn_of_tokens(const struct fg_cli *cli, const struct fg_plan *plan);

#endif
