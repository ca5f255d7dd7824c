// SPDX-License-Identifier: Apache-2.0
#include "base/json_write.h"
#include "cli/session/stored.h"

struct options {
	const char *store;
	const char *project;
};

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN", .help = "an id, its first digits, or any other name of a run", .min = 1},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate rm 0198f3a1", "remove the run whose id begins with these digits"},
	{"fastgate rm latest~1", "remove the run before the newest"},
	{NULL, NULL},
};

/*
 * Resolves all names before removing the first run, so that "latest~1 latest~2" names the runs that
 * the user saw.
 */
static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	char(*ids)[37] = fg_arena_array(&cli->arena, cli->argument_count, sizeof(*ids));
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	struct fg_strbuf text = {0};
	struct fg_json_writer w;
	int status = fg_cli_open_store(given->store, 0, &store, &err);

	fg_json_writer_init(&w, &text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_begin_array(&w, "removed");
	for (size_t i = 0; i < cli->argument_count && status == FG_OK; i++)
		status = fg_store_find(store, given->project, cli->arguments[i], ids[i], &err);
	for (size_t i = 0; i < cli->argument_count && status == FG_OK; i++) {
		status = fg_store_delete(store, ids[i], &err);
		if (status != FG_OK)
			break;
		fg_json_text(&w, NULL, ids[i]);
		if (!cli->json)
			fg_cli_say(cli, "removed run %s", ids[i]);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_strbuf_add_char(&text, '\n');
	if (cli->json)
		fg_cli_print(cli, &text);
	fg_strbuf_release(&text);
	fg_store_close(store);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg_cmd_rm = {
	.name = "rm",
	.group = FG_CLI_GROUP_RUNS,
	.summary = "remove stored runs",
	.description = "Removes runs with everything that belongs to them. To shrink the file "
		       "afterwards, use `fastgate gc`.",
	FG_CLI_TABLES,
	.has_json = true,
	.run = run,
};
