// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/text.h"
#include "cli/session/stored.h"
#include "store/bundle.h"

struct options {
	const char *store;
	const char *project;
	bool facts;
};

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	FG_ROW_FLAG(struct options, facts, "facts", 0, "list all build and host conditions"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN", .help = FG_CLI_STORED_RUN_WORDS, .max = 1},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate show", "the newest run"},
	{"fastgate show main", "the newest run of branch main"},
	{"fastgate show --facts", "with everything known about the build and the host"},
	{NULL, NULL},
};

static void add_line(struct fg_strbuf *text, const char *name, const char *value)
{
	if (!value)
		return;
	fg_strbuf_printf(text, "%-12s ", name);
	fg_text_add_clean(text, value, strlen(value), SIZE_MAX);
	fg_strbuf_add_char(text, '\n');
}

static void add_side(struct fg_strbuf *text, const char *name, const struct fg_side *side)
{
	struct fg_strbuf words = {0};

	if (side->describe)
		fg_strbuf_printf(&words, "%s ", side->describe);
	if (side->commit)
		fg_strbuf_printf(&words, "%.12s%s ", side->commit,
				 side->dirty ? " (with uncommitted changes)" : "");
	if (side->branch)
		fg_strbuf_printf(&words, "on %s", side->branch);
	if (words.length)
		add_line(text, name, fg_strbuf_text(&words));
	fg_strbuf_release(&words);
}

static void add_series(struct fg_strbuf *text, const struct fg_series *series)
{
	static const char *const states[] = {"", ", interrupted", ", could not be measured"};

	fg_strbuf_add_char(text, '\n');
	fg_text_add_clean(text, series->name, strlen(series->name), SIZE_MAX);
	fg_strbuf_printf(text, "  (%s, %zu repetition%s%s)\n", fg_schedule_name(series->schedule),
			 series->repetition_count, series->repetition_count == 1 ? "" : "s",
			 states[series->state]);
	if (series->failure)
		add_line(text, "  failure", series->failure);
}

static void add_facts(struct fg_strbuf *text, const char *title,
		      const struct fg_environment *environment)
{
	if (environment->count == 0)
		return;
	fg_strbuf_printf(text, "\n%s\n", title);
	for (size_t i = 0; i < environment->count; i++) {
		const struct fg_fact *fact = &environment->facts[i];

		fg_strbuf_printf(text, "  %-28s ", fact->key);
		fg_text_add_clean(text, fact->value, strlen(fact->value), SIZE_MAX);
		fg_strbuf_add_char(text, '\n');
	}
}

static void describe(struct fg_strbuf *text, const struct fg_stored_run *s, bool facts)
{
	char time[FG_TIME_TEXT_SIZE];
	char fingerprint[17];

	fg_time_format_utc(s->run.started_ns, time);
	fg_environment_fingerprint(&s->run.host, fingerprint);
	add_line(text, "run", s->run.id);
	add_line(text, "project", s->run.project);
	add_line(text, "started", time);
	add_line(text, "verdict",
		 s->run.complete ? (s->outcome ? s->outcome : "none")
				 : "none: the run was interrupted");
	add_side(text, "candidate", &s->run.sides[FG_ARM_CANDIDATE]);
	if (s->run.has_baseline)
		add_side(text, "baseline", &s->run.sides[FG_ARM_BASELINE]);
	add_line(text, "host", fg_environment_get(&s->run.host, "host.cpu.model"));
	add_line(text, "fingerprint", fingerprint);
	for (size_t i = 0; i < s->run.series_count; i++)
		add_series(text, &s->run.series[i]);
	if (!facts)
		return;
	add_facts(text, "host", &s->run.host);
	add_facts(text, "build of the candidate", &s->run.sides[FG_ARM_CANDIDATE].build);
	add_facts(text, "build of the baseline", &s->run.sides[FG_ARM_BASELINE].build);
	for (size_t i = 0; i < s->run.series_count; i++) {
		struct fg_environment listed = {0};

		fg_build_facts_list(&s->run.series[i].build[FG_ARM_CANDIDATE], &listed);
		add_facts(text, s->run.series[i].name, &listed);
		fg_environment_release(&listed);
	}
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_stored_run stored = {0};
	struct fg_bundle bundle = {0};
	struct fg_strbuf text = {0};
	struct fg_error err = {0};
	int status = fg_cli_load_run(given->store, given->project,
				     cli->argument_count ? cli->arguments[0] : NULL, &stored, &err);

	if (status == FG_OK && cli->json) {
		status = fg_bundle_from_run(&stored, &bundle, &err);
		fg_strbuf_add(&bundle.envelope, "\n", 1);
		if (status == FG_OK)
			fg_cli_print(cli, &bundle.envelope);
	} else if (status == FG_OK) {
		describe(&text, &stored, given->facts);
		fg_cli_page(cli, &text);
	}
	fg_strbuf_release(&text);
	fg_bundle_release(&bundle);
	fg_stored_run_release(&stored);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

const struct fg_cli_command fg_cmd_show = {
	.name = "show",
	.group = FG_CLI_GROUP_RUNS,
	.summary = "show the contents of a stored run",
	.description = "Shows the time, host and sides of a run, its verdict, and its "
		       "benchmarks; `fastgate report` prints the numbers.\n"
		       "\n"
		       "With --json the run's envelope is written as it would be uploaded "
		       "(docs/formats/upload.md): all text, all conditions and the report, "
		       "without the raw values.",
	FG_CLI_TABLES,
	.has_json = true,
	.run = run,
};
