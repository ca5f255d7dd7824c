/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the commands that show a profile (view, graph, export) and the one that imports one:
 * which part of a profile to show, how frames are named and grouped, and the steps from RUN to a
 * profile and a query.
 */
#ifndef FG_CLI_PROFILE_QUERY_H
#define FG_CLI_PROFILE_QUERY_H

#include "cli/profile/run_argument.h"
#include "profile/calltree.h"

struct fg_cli_query_options {
	struct fg_option_list focus, ignore, hide, ancestors, rename;
	const char *measure, *root, *leaf, *thread, *region, *unit;
	int64_t from_ns, to_ns;
	int time;  /* index into fg_cli_time_kinds */
	int group; /* enum fg_group */
	int split; /* enum fg_split */
	unsigned repetition;
	bool sum, collapse_templates, fold_inlined, mangled;
};

extern const char *const fg_cli_time_kinds[];
extern const char *const fg_cli_groups[];
extern const char *const fg_cli_splits[];

/* The rows for an options struct whose member `member` is one of these. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot be put into parentheses. */
#define FG_CLI_QUERY_ROW(type, member, field) offsetof(type, member.field)
#define FG_CLI_QUERY_OPTIONS(type, member)                                                      \
 {.name = "measure",                                                                            \
  .kind = FG_OPTION_TEXT,                                                                       \
  .offset = FG_CLI_QUERY_ROW(type, member, measure),                                            \
  .argument = "NAME",                                                                           \
  .help = "what of the profile's measures to show (default: its first)"},                       \
	 {.name = "focus",                                                                      \
	  .kind = FG_OPTION_LIST,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, focus),                                      \
	  .argument = "REGEX",                                                                  \
	  .help = "keep samples with a matching function on their stack"},                      \
	 {.name = "ignore",                                                                     \
	  .kind = FG_OPTION_LIST,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, ignore),                                     \
	  .argument = "REGEX",                                                                  \
	  .help = "drop samples with a matching function on their stack"},                      \
	 {.name = "hide",                                                                       \
	  .kind = FG_OPTION_LIST,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, hide),                                       \
	  .argument = "REGEX",                                                                  \
	  .help = "count matching functions as part of their callers"},                         \
	 {.name = "root",                                                                       \
	  .kind = FG_OPTION_TEXT,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, root),                                       \
	  .argument = "REGEX",                                                                  \
	  .help = "cut off everything above the outermost match"},                              \
	 {.name = "leaf",                                                                       \
	  .kind = FG_OPTION_TEXT,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, leaf),                                       \
	  .argument = "REGEX",                                                                  \
	  .help = "count what is below the innermost match as its own"},                        \
	 {.name = "ancestor",                                                                   \
	  .kind = FG_OPTION_LIST,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, ancestors),                                  \
	  .argument = "REGEX",                                                                  \
	  .help = "tell functions called below a match apart: 'log  (from fit)'"},              \
	 {.name = "rename",                                                                     \
	  .kind = FG_OPTION_LIST,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, rename),                                     \
	  .argument = "RULE",                                                                   \
	  .help = "rewrite names: 's/regex/text/'; equal names become one"},                    \
	 {.name = "thread",                                                                     \
	  .kind = FG_OPTION_TEXT,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, thread),                                     \
	  .argument = "REGEX",                                                                  \
	  .help = "only threads whose 'name (id)' matches"},                                    \
	 {.name = "region",                                                                     \
	  .kind = FG_OPTION_TEXT,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, region),                                     \
	  .argument = "REGEX",                                                                  \
	  .help = "only inside marked regions whose path matches"},                             \
	 {.name = "unit",                                                                       \
	  .kind = FG_OPTION_TEXT,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, unit),                                       \
	  .argument = "[KIND:]N[-M]",                                                           \
	  .help = "only in these units of work: 'event:10-20', '3', 'event'"},                  \
	 {.name = "from",                                                                       \
	  .kind = FG_OPTION_DURATION,                                                           \
	  .offset = FG_CLI_QUERY_ROW(type, member, from_ns),                                    \
	  .argument = "TIME",                                                                   \
	  .help = "only samples from this time after the start on"},                            \
	 {.name = "to",                                                                         \
	  .kind = FG_OPTION_DURATION,                                                           \
	  .offset = FG_CLI_QUERY_ROW(type, member, to_ns),                                      \
	  .argument = "TIME",                                                                   \
	  .help = "only samples before this time after the start"},                             \
	 {.name = "time",                                                                       \
	  .kind = FG_OPTION_CHOICE,                                                             \
	  .offset = FG_CLI_QUERY_ROW(type, member, time),                                       \
	  .argument = "KIND",                                                                   \
	  .choices = fg_cli_time_kinds,                                                         \
	  .initial = "all",                                                                     \
	  .help = "only time of this kind"},                                                    \
	 {.name = "by",                                                                         \
	  .kind = FG_OPTION_CHOICE,                                                             \
	  .offset = FG_CLI_QUERY_ROW(type, member, group),                                      \
	  .argument = "GROUP",                                                                  \
	  .choices = fg_cli_groups,                                                             \
	  .initial = "function",                                                                \
	  .help = "what frames are grouped by"},                                                \
	 {.name = "split",                                                                      \
	  .kind = FG_OPTION_CHOICE,                                                             \
	  .offset = FG_CLI_QUERY_ROW(type, member, split),                                      \
	  .argument = "WHAT",                                                                   \
	  .choices = fg_cli_splits,                                                             \
	  .initial = "none",                                                                    \
	  .help = "what a tree or a graph is split by at its top"},                             \
	 {.name = "repetition",                                                                 \
	  .kind = FG_OPTION_UNSIGNED,                                                           \
	  .offset = FG_CLI_QUERY_ROW(type, member, repetition),                                 \
	  .argument = "N",                                                                      \
	  .minimum = 1,                                                                         \
	  .maximum = 1000000,                                                                   \
	  .help = "only this repetition of a stored run, from 1"},                              \
	 {.name = "sum",                                                                        \
	  .kind = FG_OPTION_FLAG,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, sum),                                        \
	  .help = "add the repetitions up instead of showing their mean"},                      \
	 {.name = "collapse-templates",                                                         \
	  .kind = FG_OPTION_FLAG,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, collapse_templates),                         \
	  .help = "leave template arguments out of names: vector<...>"},                        \
	 {.name = "fold-inlined",                                                               \
	  .kind = FG_OPTION_FLAG,                                                               \
	  .offset = FG_CLI_QUERY_ROW(type, member, fold_inlined),                               \
	  .help = "count inlined functions as part of where they are"},                         \
 {                                                                                              \
  .name = "mangled", .kind = FG_OPTION_FLAG, .offset = FG_CLI_QUERY_ROW(type, member, mangled), \
  .help = "show linkage names"                                                                  \
 }
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- the steps of a command ---- */

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
