/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the commands that show, compare or import profiles: options that select a part of a
 * profile and that name and group frames, and the steps from RUN to a profile and a query.
 */
#ifndef FG_CLI_PROFILE_QUERY_H
#define FG_CLI_PROFILE_QUERY_H

#include "cli/profile/run_argument.h"
#include "profile/calltree.h"

struct fg_cli_query_options {
	struct fg_calltree_query query; /* members that options set directly */
	struct fg_option_list focus, ignore, hide, ancestors, rename;
	const char *unit;
	int time;  /* index into fg_cli_time_kinds */
	int group; /* enum fg_group */
	int split; /* enum fg_split */
	bool sum;
};

extern const char *const fg_cli_time_kinds[];
extern const char *const fg_cli_groups[];
extern const char *const fg_cli_splits[];

/* Option rows for an options struct whose `member` is a struct fg_cli_query_options. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot be put into parentheses. */
#define FG_CLI_QUERY_OPTIONS(type, member)                                                  \
 FG_ROW_TEXT(type, member.query.measure, "measure", 0, "NAME",                              \
	     "the measure to show (default: the profile's first)"),                         \
	 FG_ROW_LIST(type, member.focus, "focus", 0, "REGEX",                               \
		     "keep samples with a matching function on their stack"),               \
	 FG_ROW_LIST(type, member.ignore, "ignore", 0, "REGEX",                             \
		     "drop samples with a matching function on their stack"),               \
	 FG_ROW_LIST(type, member.hide, "hide", 0, "REGEX",                                 \
		     "count matching functions as part of their callers"),                  \
	 FG_ROW_TEXT(type, member.query.root, "root", 0, "REGEX",                           \
		     "cut off everything above the outermost match"),                       \
	 FG_ROW_TEXT(type, member.query.leaf, "leaf", 0, "REGEX",                           \
		     "count all time below the innermost match as self time of the match"), \
	 FG_ROW_LIST(type, member.ancestors, "ancestor", 0, "REGEX",                        \
		     "split functions by the nearest matching caller: 'log  (from fit)'"),  \
	 FG_ROW_LIST(type, member.rename, "rename", 0, "RULE",                              \
		     "rewrite names: 's/regex/text/', and merge equal names"),              \
	 FG_ROW_TEXT(type, member.query.thread, "thread", 0, "REGEX",                       \
		     "only threads whose 'name (id)' matches"),                             \
	 FG_ROW_TEXT(type, member.query.region, "region", 0, "REGEX",                       \
		     "only inside marked regions whose path matches"),                      \
	 FG_ROW_TEXT(type, member.unit, "unit", 0, "[KIND:]N[-M]",                          \
		     "only in these units of work: 'event:10-20', '3', 'event'"),           \
	 FG_ROW_DURATION(type, member.query.from_ns, "from", NULL,                          \
			 "only samples from this time after the start"),                    \
	 FG_ROW_DURATION(type, member.query.to_ns, "to", NULL,                              \
			 "only samples before this time after the start"),                  \
	 FG_ROW_CHOICE(type, member.time, "time", 0, "KIND", fg_cli_time_kinds, "all",      \
		       "only time of this kind"),                                           \
	 FG_ROW_CHOICE(type, member.group, "by", 0, "GROUP", fg_cli_groups, "function",     \
		       "group frames by this property"),                                    \
	 FG_ROW_CHOICE(type, member.split, "split", 0, "WHAT", fg_cli_splits, "none",       \
		       "split a tree or a graph at its top by this property"),              \
	 FG_ROW_COUNT(type, member.query.repetition, "repetition", 0, 1000000, NULL,        \
		      "only this repetition of a stored run, from 1"),                      \
	 FG_ROW_FLAG(type, member.sum, "sum", 0,                                            \
		     "add the repetitions up instead of showing their mean"),               \
	 FG_ROW_FLAG(type, member.query.collapse_templates, "collapse-templates", 0,        \
		     "leave template arguments out of names: vector<...>"),                 \
	 FG_ROW_FLAG(type, member.query.fold_inlined, "fold-inlined", 0,                    \
		     "count inlined functions as part of their callers"),                   \
	 FG_ROW_FLAG(type, member.query.mangled, "mangled", 0, "show linkage names")
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- the steps of a command ---- */

struct fg_cli_profile_options {
	struct fg_cli_run_options run;
	struct fg_cli_query_options query;
	const char *output;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot be put into parentheses. */
/* Option rows for an options struct whose `member` is a struct fg_cli_profile_options. */
#define FG_CLI_PROFILE_OPTIONS(type, member)                                                 \
 FG_ROW_FILE(type, member.output, "output", 'o', "write to a file; '-' is standard output"), \
	 FG_CLI_QUERY_OPTIONS(type, member.query), FG_CLI_RUN_OPTIONS(type, member.run)
#define FG_CLI_RUN_WORDS                                             \
 "a stored run, a trace, an exported run or another tool's profile " \
 "(default: the newest run or recording)"
/* NOLINTEND(bugprone-macro-parentheses) */

/* The arguments of a command that takes only RUN. */
extern const struct fg_cli_argument fg_cli_run_arguments[];

/* A command's work on a profile, with a query that was checked against it. */
struct fg_cli_profile_use {
	int (*run)(struct fg_cli *cli, void *context, const struct fg_profile *profile,
		   const struct fg_calltree_query *query, struct fg_error *err);
	void *context;
};

/* Runs a whole command, whose first argument is RUN. Prints errors; returns the exit code. */
int fg_cli_run_on_profile(struct fg_cli *cli, const struct fg_cli_profile_options *options,
			  const struct fg_cli_profile_use *use);
struct fg_cli_tree {
	struct fg_calltree tree; /* the caller releases it */
	const char *title;
};

/* Builds the call tree of the profile that `word` names. */
int fg_cli_build_tree(struct fg_cli *cli, const struct fg_cli_profile_options *options,
		      const char *word, struct fg_cli_tree *built, struct fg_error *err)
	FG_NODISCARD;

/* Two profiles joined over all their call paths: before in column 0, after in column 1. */
struct fg_cli_difference {
	struct fg_calltree tree;
	const char *titles[2]; /* names from the command line */
};

/*
 * Joins the two profiles that `words` names. FG_EINVAL: the compared measures have different
 * units. The caller releases the tree.
 */
int fg_cli_build_difference(struct fg_cli *cli, const struct fg_cli_profile_options *options,
			    const char *const words[2], struct fg_cli_difference *difference,
			    struct fg_error *err) FG_NODISCARD;
/* Prints the error, if any, and returns the exit code for `status`. */
int fg_cli_end(const struct fg_cli *cli, int status, const struct fg_error *err);

#endif
