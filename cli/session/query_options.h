/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that `view`, `graph` and `export` share: which part of a profile to show, and how
 * frames are named and grouped. All of them can be combined.
 */
#ifndef FG_CLI_SESSION_QUERY_OPTIONS_H
#define FG_CLI_SESSION_QUERY_OPTIONS_H

#include "cli/framework/command.h"
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

/* Do they need single samples: a time, thread, region, unit of work or line? */
bool fg_cli_query_needs_samples(const struct fg_cli_query_options *options);
/* Translates the options for this profile; strings are borrowed or live in the command's arena. */
int fg_cli_make_query(struct fg_cli *cli, const struct fg_cli_query_options *options,
		      const struct fg_profile *profile, struct fg_calltree_query *query,
		      struct fg_error *err) FG_NODISCARD;

#endif
