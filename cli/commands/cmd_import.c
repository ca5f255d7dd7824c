// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/json_write.h"
#include "base/random.h"
#include "base/version.h"
#include "cli/profile/query.h"
#include "cli/session/stored.h"
#include "profile/exchange/import.h"
#include "profile/ingest.h"
#include "store/db.h"

struct options {
	struct fg_cli_run_options run;
	int format;
	const char *output;
	const char *name;
};

enum {
	FORMAT_BY_CONTENT
};

/* "by-content", then the formats in the order of fg_import_formats. */
static const char *const formats[] = {"by-content", "folded", "callgrind", NULL};

static const struct fg_option options[] = {
	FG_ROW_CHOICE(struct options, format, "format", 'F', "FORMAT", formats, "by-content",
		      "format of the file"),
	FG_ROW_TEXT(struct options, name, "name", 'n', "NAME",
		    "name of the benchmark (default: the name of the file)"),
	FG_CLI_SOURCE_OPTIONS(struct options, run),
	FG_ROW_WORD(struct options, run.project, "project", 0, "NAME", "imported",
		    "project of the run"),
	FG_ROW_FILE(struct options, output, "output", 'o',
		    "write the run to this file (FILE.fgrun) instead of the store"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "FILE",
	 .help = "another tool's profile, or a trace of `fastgate record`",
	 .min = 1,
	 .max = 1,
	 .complete = FG_COMPLETE_FILE},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"perf script | stackcollapse-perf.pl > perf.folded && fastgate import perf.folded",
	 "put a recording of perf into the store"},
	{"fastgate import --period 10ms stacks.folded -o stacks.fgrun",
	 "turn folded stacks into a run file"},
	{NULL, NULL},
};

/* Makes a run with one benchmark, measured once, that has only a profile. */
static int make_run(const struct options *given, const char *file, const struct fg_profile *profile,
		    struct fg_stored_run *stored, struct fg_error *err)
{
	const struct fg_ingest_row row = {.arm = FG_ARM_CANDIDATE};
	struct fg_series *series = NULL;
	struct fg_repetition *repetition = NULL;
	int status = FG_OK;

	fg_run_init(&stored->run);
	status = fg_random_uuid(stored->run.id, err);
	stored->run.project = fg_xstrdup(given->run.project);
	stored->run.started_ns =
		profile->started_wall_ns > 0 ? profile->started_wall_ns : fg_clock_wall_ns();
	stored->run.ended_ns = stored->run.started_ns + profile->duration_ns;
	stored->run.complete = true;
	stored->run.tool_version = fg_xstrdup(fg_version());
	series =
		fg_run_add_profile(&stored->run, given->name ? given->name : fg_fs_base_name(file));
	series->command = fg_xasprintf("imported from %s", file);
	repetition = fg_series_add_repetition(series);
	repetition->arm = FG_ARM_CANDIDATE;
	repetition->cpu = -1;
	repetition->sampled = true;
	repetition->started_ns = stored->run.started_ns;
	repetition->period_ns = profile->period_ns;
	stored->profiles = fg_xcalloc(1, sizeof(struct fg_profile_set *));
	stored->profiles[0] = fg_xcalloc(1, sizeof(struct fg_profile_set));
	fg_profile_set_init(stored->profiles[0], series->name);
	fg_profile_ingest_profile(stored->profiles[0], profile, &row, NULL);
	return status;
}

static void print_imported(const struct fg_cli *cli, const struct fg_stored_run *stored)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	if (!cli->json) {
		fg_cli_say(cli, "imported as run %s, benchmark %s", stored->run.id,
			   stored->run.series[0].name);
		return;
	}
	fg_json_writer_init(&w, &text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "run", stored->run.id);
	fg_json_text(&w, "benchmark", stored->run.series[0].name);
	fg_json_end(&w);
	fg_strbuf_add_char(&text, '\n');
	fg_cli_print(cli, &text);
	fg_strbuf_release(&text);
}

static int keep(struct fg_cli *cli, const struct options *given, const struct fg_stored_run *stored,
		struct fg_error *err)
{
	struct fg_store *store = NULL;
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (given->output) {
		status = fg_cli_run_to_text(stored, &text, err);
		if (status == FG_OK)
			status = fg_cli_write(cli, given->output, &text, err);
		fg_strbuf_release(&text);
		return status;
	}
	status = fg_cli_open_store(given->run.store, 0, &store, err);
	if (status == FG_OK)
		status = fg_store_save(store, &stored->run, stored->profiles, NULL, err);
	fg_store_close(store);
	if (status != FG_OK)
		return status;
	print_imported(cli, stored);
	return FG_OK;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const char *file = cli->arguments[0];
	struct fg_cli_run_options source = given->run;
	struct fg_stored_run stored = {0};
	struct fg_profile profile;
	struct fg_error err = {0};
	int status = FG_OK;

	source.format = given->format == FORMAT_BY_CONTENT ? NULL : formats[given->format];
	status = fg_cli_load_profile_file(cli, &source, file, &profile, &err);
	if (status != FG_OK)
		return fg_cli_fail(cli, &err);
	status = make_run(given, file, &profile, &stored, &err);
	if (status == FG_OK)
		status = keep(cli, given, &stored, &err);
	fg_profile_release(&profile);
	fg_stored_run_release(&stored);
	return fg_cli_end(cli, status, &err);
}

const struct fg_cli_command fg_cmd_import = {
	.name = "import",
	.group = FG_CLI_GROUP_PROFILE,
	.summary = "put another tool's profile into the store",
	.description =
		"Reads folded stacks, callgrind files, and traces of `fastgate record`, and "
		"stores them as a run with one benchmark, to be viewed, drawn, exported and "
		"compared like any other run. If a format lacks information (folded stacks carry no "
		"time), a message says what is assumed. To import run files, use `fastgate runs "
		"import`.",
	FG_CLI_TABLES,
	.has_json = true,
	.run = run,
};
