// SPDX-License-Identifier: Apache-2.0
/* perfdb limit. */
#include "base/clock.h"
#include "perfdb/server/options.h"
#include "store/serving/limits.h"

enum {
	PROJECT_WIDTH = 20
};

static const struct fg_option limit_options[] = {
	FG_PERFDB_DATABASE,
	FG_ROW_TEXT(struct fg_perfdb_options, project, "project", 0, "NAME",
		    "the project to limit (default: all projects without their own limits)"),
	FG_ROW_NUMBER(struct fg_perfdb_options, most_runs, "runs", 1000000000, "0",
		      "maximum number of stored runs; further uploads stay in the sender's spool"),
	{.name = "bytes",
	 .kind = FG_OPTION_SIZE,
	 .offset = offsetof(struct fg_perfdb_options, most_bytes),
	 .argument = "SIZE",
	 .initial = "0",
	 .help = "maximum size of the stored runs: 500M, 20G"},
	FG_ROW_DURATION(struct fg_perfdb_options, older_than, "older-than", "0s",
			"`perfdb gc` removes runs that started longer ago than this"),
	FG_ROW_NUMBER(
		struct fg_perfdb_options, keep, "keep", 1000000, "0",
		"`perfdb gc` keeps this many of the newest runs of each branch, whatever their "
		"age"),
	FG_PERFDB_HELP,
	{.name = NULL},
};

static int list(struct fg_perfdb_action_call *call, struct fg_error *err)
{
	struct fg_limits_list all = {0};
	const int status = fg_store_limits_list(call->store, &all, err);

	for (size_t i = 0; i < all.count; i++) {
		const struct fg_limits *limits = &all.items[i];
		struct fg_strbuf words = {0};

		fg_limits_describe(limits, &words);
		fg_perfdb_add_name(&call->output,
				   *limits->project ? limits->project : "(all others)",
				   PROJECT_WIDTH);
		fg_strbuf_printf(&call->output, "  %s\n", fg_strbuf_text(&words));
		fg_strbuf_release(&words);
	}
	fg_limits_list_release(&all);
	return status;
}

static int set(struct fg_perfdb_action_call *call, struct fg_error *err)
{
	const struct fg_perfdb_options *given = call->given;
	struct fg_limits limits = {
		.project = given->project ? given->project : "",
		.most_runs = given->most_runs,
		.most_bytes = (int64_t)given->most_bytes,
		.keep_days = (given->older_than + FG_NS_PER_DAY - 1) / FG_NS_PER_DAY,
		.keep_newest = given->keep,
	};

	FG_TRY(fg_store_limits_set(call->store, &limits, err));
	return fg_perfdb_note(call->store, given->project, "limits.set",
			      given->project ? given->project : "all projects", err);
}

static const struct fg_perfdb_action actions[] = {
	{.name = "list", .run = list},
	{.name = "set", .changes = true, .run = set},
	{.name = NULL},
};

const struct fg_perfdb_command fg_perfdb_limit = {
	.name = "limit",
	.summary = "manage quotas and retention of projects: list, set",
	.options = limit_options,
	.actions = actions,
	.usage = "perfdb limit list or set",
};
