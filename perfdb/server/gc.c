// SPDX-License-Identifier: Apache-2.0
/* perfdb gc. */
#include "perfdb/server/options.h"
#include "store/store.h"

static const struct fg_option gc_options[] = {
	FG_PERFDB_DATABASE,
	FG_ROW_TEXT(struct fg_perfdb_options, project, "project", 0, "NAME",
		    "only runs of this project"),
	FG_ROW_DURATION(struct fg_perfdb_options, older_than, "older-than", "365d",
			"remove runs that started longer ago than this"),
	FG_ROW_NUMBER(struct fg_perfdb_options, keep, "keep", 1000000, "50",
		      "always keep this many of the newest runs of each branch"),
	FG_ROW_FLAG(struct fg_perfdb_options, dry_run, "dry-run", 0,
		    "only report how many runs would be removed"),
	FG_PERFDB_HELP,
	{.name = NULL},
};

static int gc(const struct fg_perfdb_options *given)
{
	const struct fg_gc_policy policy =
		fg_gc_policy_now(given->project, given->older_than, given->keep, given->dry_run);
	struct fg_gc_result result = {0};
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = fg_store_open(given->database, FG_STORE_DURABLE, &store, &err);

	if (status == FG_OK)
		status = fg_store_gc(store, &policy, &result, &err);
	if (status != FG_OK) {
		fg_store_close(store);
		return fg_perfdb_fail(&err);
	}
	(void)fprintf(stderr, "perfdb: %zu run%s %s; old runs kept because of a tag: %zu\n",
		      result.runs, result.runs == 1 ? "" : "s",
		      given->dry_run ? "would be removed" : "removed", result.kept_tagged);
	fg_store_close(store);
	return FG_PERFDB_OK;
}

const struct fg_perfdb_command fg_perfdb_gc = {
	.name = "gc",
	.summary = "remove old runs",
	.options = gc_options,
	.run = gc,
};
