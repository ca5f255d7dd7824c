// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/session/stored.h"

enum {
	SHORT_COMMIT = 10,
};

struct options {
	const char *store;
	const char *project;
	bool force;
};

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	FG_ROW_FLAG(struct options, force, "force", 'f',
		    "promote a run even if it regressed or could not be measured"),
	{.name = NULL},
};

static const char *const actions[] = {"list", "set", "unset", "promote", NULL};

static const struct fg_cli_argument arguments[] = {
	{.name = "ACTION",
	 .help = "list (the default), set, unset or promote",
	 .max = 1,
	 .choices = actions},
	{.name = "NAME", .help = "what the baseline is called", .max = 1},
	{.name = "RUN", .help = "the run that it names (default: the newest)", .max = 1},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate baseline set release v1.4", "call the run of tag v1.4 `release`"},
	{"fastgate baseline promote release",
	 "move `release` to the newest run, if it did not regress"},
	{"fastgate run --set baseline.run=release", "compare with it"},
	{NULL, NULL},
};

static void add_json(struct fg_json_writer *w, const struct fg_baseline_entry *entry)
{
	char time[FG_TIME_TEXT_SIZE];

	fg_time_format_utc(entry->set_ns, time);
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "project", entry->project);
	fg_json_text(w, "name", entry->name);
	fg_json_text(w, "run", entry->run);
	fg_json_text(w, "set_at", time);
	fg_json_text(w, "commit", entry->commit);
	fg_json_text(w, "branch", entry->branch);
	fg_json_end(w);
}

static void add_clean(struct fg_strbuf *text, const char *words, size_t limit)
{
	fg_text_add_clean(text, words ? words : "-", words ? strlen(words) : 1, limit);
}

static void print_list(struct fg_cli *cli, const struct fg_baseline_list *list)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	if (cli->json) {
		fg_json_writer_init(&w, &text, 2);
		fg_json_begin_array(&w, NULL);
		for (size_t i = 0; i < list->count; i++)
			add_json(&w, &list->items[i]);
		fg_json_end(&w);
		fg_strbuf_add_char(&text, '\n');
	}
	for (size_t i = 0; i < list->count && !cli->json; i++) {
		const struct fg_baseline_entry *entry = &list->items[i];

		add_clean(&text, entry->name, SIZE_MAX);
		fg_strbuf_printf(&text, "  %s  ", entry->run);
		add_clean(&text, entry->commit, SHORT_COMMIT);
		fg_strbuf_add_text(&text, "  ");
		add_clean(&text, entry->branch, SIZE_MAX);
		fg_strbuf_add_char(&text, '\n');
	}
	if (list->count == 0)
		fg_cli_say(cli, "no baseline is set");
	if (cli->json)
		fg_cli_print(cli, &text);
	else
		fg_cli_tell(cli, &text);
	fg_strbuf_release(&text);
}

static int list_baselines(struct fg_cli *cli, const struct options *given)
{
	struct fg_baseline_list list = {0};
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = fg_cli_open_store(given->store, FG_STORE_READ_ONLY, &store, &err);

	if (status != FG_OK)
		goto out;
	status = fg_store_baseline_list(store, given->project, &list, &err);
	if (status != FG_OK)
		goto out;
	print_list(cli, &list);
out:
	fg_baseline_list_release(&list);
	fg_store_close(store);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

/* A bad run must not become the baseline of all later ones by accident. */
static int check_fit(struct fg_store *store, const char *id, struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	int status = fg_store_load_run(store, id, &stored, err);

	if (status == FG_OK && !stored.run.complete)
		status = fg_error_set(err, FG_EINVAL,
				      "run %s was interrupted: --force promotes it anyway", id);
	else if (status == FG_OK && stored.outcome &&
		 (strcmp(stored.outcome, "regression") == 0 ||
		  strcmp(stored.outcome, "error") == 0))
		status = fg_error_set(err, FG_EINVAL,
				      "the verdict on run %s is %s: --force promotes it anyway", id,
				      stored.outcome);
	fg_stored_run_release(&stored);
	return status;
}

static int set_baseline(struct fg_cli *cli, const struct options *given, bool check)
{
	const char *words = cli->argument_count > 2 ? cli->arguments[2] : NULL;
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	char id[37] = "";
	int status = fg_cli_open_store(given->store, 0, &store, &err);

	if (status != FG_OK)
		goto out;
	status = fg_store_find(store, given->project, words, id, &err);
	if (status != FG_OK)
		goto out;
	if (check && !given->force)
		status = check_fit(store, id, &err);
	if (status != FG_OK)
		goto out;
	status = fg_store_baseline_set(store, cli->arguments[1], id, &err);
	if (status != FG_OK)
		goto out;
	fg_cli_say(cli, "baseline %s is run %s", cli->arguments[1], id);
out:
	fg_store_close(store);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

static int unset_baseline(struct fg_cli *cli, const struct options *given)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = fg_cli_open_store(given->store, 0, &store, &err);

	if (status != FG_OK)
		goto out;
	status = fg_store_baseline_unset(store, given->project, cli->arguments[1], &err);
	if (status != FG_OK)
		goto out;
	fg_cli_say(cli, "baseline %s was removed; its run is kept", cli->arguments[1]);
out:
	fg_store_close(store);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

static int run(struct fg_cli *cli, const void *values)
{
	const char *action = cli->argument_count ? cli->arguments[0] : "list";

	if (strcmp(action, "list") == 0)
		return list_baselines(cli, values);
	if (cli->argument_count < 2)
		return fg_cli_usage(cli, "%s needs the name of a baseline", action);
	if (strcmp(action, "unset") == 0)
		return unset_baseline(cli, values);
	return set_baseline(cli, values, strcmp(action, "promote") == 0);
}

const struct fg_cli_command fg_cmd_baseline = {
	.name = "baseline",
	.group = FG_CLI_GROUP_RUNS,
	.summary = "names for runs to compare with",
	.description =
		"A baseline is a name for a stored run. `set` gives or moves the name, `promote` "
		"does the same but refuses runs that regressed, failed or were interrupted, "
		"`unset` takes it away. Garbage collection never removes a run that is a baseline.",
	FG_CLI_TABLES,
	.has_json = true,
	.run = run,
};
