// SPDX-License-Identifier: Apache-2.0
#include "base/json_write.h"
#include "base/number.h"
#include "cli/session/stored.h"

struct options {
	const char *store;
	const char *project;
	int64_t older_than;
	unsigned keep;
	bool dry_run;
};

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	FG_ROW_DURATION(struct options, older_than, "older-than", "90d",
			"remove runs that started longer ago than this"),
	FG_ROW_NUMBER(struct options, keep, "keep", 1000000, "10",
		      "always keep this many of the newest runs of each branch"),
	FG_ROW_FLAG(struct options, dry_run, "dry-run", 0,
		    "only report how many runs would be removed"),
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate gc --dry-run", "how many runs would be removed?"},
	{"fastgate gc --older-than 30d --keep 5", "keep a month, and five runs of every branch"},
	{NULL, NULL},
};

static void print_json(struct fg_cli *cli, const struct fg_gc_result *result, bool dry_run)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	fg_json_writer_init(&w, &text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_int(&w, "runs", (int64_t)result->runs);
	fg_json_int(&w, "kept_tagged", (int64_t)result->kept_tagged);
	fg_json_int(&w, "bytes_before", result->bytes_before);
	fg_json_int(&w, "bytes_after", result->bytes_after);
	fg_json_bool(&w, "dry_run", dry_run);
	fg_json_end(&w);
	fg_strbuf_add_char(&text, '\n');
	fg_cli_print(cli, &text);
	fg_strbuf_release(&text);
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const struct fg_gc_policy policy =
		fg_gc_policy_now(given->project, given->older_than, given->keep, given->dry_run);
	struct fg_gc_result result = {0};
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	char sizes[2][FG_NUMBER_TEXT_SIZE];
	int status = fg_cli_open_store(given->store, 0, &store, &err);

	if (status == FG_OK)
		status = fg_store_gc(store, &policy, &result, &err);
	fg_store_close(store);
	if (status != FG_OK)
		return fg_cli_fail(cli, &err);
	if (cli->json)
		print_json(cli, &result, given->dry_run);
	else if (given->dry_run)
		fg_cli_say(cli, "%zu run%s would be removed; old runs kept because of a tag: %zu",
			   result.runs, result.runs == 1 ? "" : "s", result.kept_tagged);
	else
		fg_cli_say(cli,
			   "removed %zu run%s; old runs kept because of a tag: %zu; size of the "
			   "store: %s → %s",
			   result.runs, result.runs == 1 ? "" : "s", result.kept_tagged,
			   fg_format_size((double)result.bytes_before, sizes[0]),
			   fg_format_size((double)result.bytes_after, sizes[1]));
	return FG_EXIT_PASS;
}

const struct fg_cli_command fg_cmd_gc = {
	.name = "gc",
	.group = FG_CLI_GROUP_RUNS,
	.summary = "remove old runs from the store and free their space",
	.description = "Removes runs that are older than a limit, except the newest of each branch "
		       "and those whose commit has a tag, and shrinks the file.",
	.options = options,
	.options_size = sizeof(struct options),
	.examples = examples,
	.has_json = true,
	.run = run,
};
