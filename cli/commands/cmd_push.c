// SPDX-License-Identifier: Apache-2.0
#include "base/json_write.h"
#include "base/number.h"
#include "base/secrets.h"
#include "cli/session/plan.h"
#include "cli/session/server.h"
#include "cli/session/stored.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct options {
	const char *store;
	const char *project;
	struct fg_cli_server server;
	const char *archive;
	const char *spool;
	bool status;
	bool when_possible;
	struct fg_cli_config config;
};

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	FG_CLI_SERVER_OPTIONS(struct options, server),
	FG_ROW_COUNT(struct options, server.attempts, "attempts", 0, 100, "5",
		     "how often to try each run"),
	FG_ROW_FILE(
		struct options, archive, "archive", 0,
		"an archive of traces (`fastgate archive`) that belongs to the one RUN that is named"),
	FG_ROW_NAME(struct options, spool, "spool", 0, "FOLDER", FG_COMPLETE_FOLDER,
		    "the spool to use instead of .fastgate/spool"),
	FG_ROW_FLAG(struct options, status, "status", 0, "only say what waits in the spool"),
	FG_ROW_FLAG(struct options, when_possible, "when-possible", 0,
		    "what cannot be sent is a warning, unless perfdb.upload is `required`"),
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN",
	 .help = "stored runs to send too; without one, only what waits in the spool is sent"},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate push", "send what could not be sent before"},
	{"fastgate push latest latest~1", "send two stored runs"},
	{"fastgate push --archive slow.tar.zst latest", "a run with the traces that explain it"},
	{"fastgate push --when-possible", "in a step of CI, after `fastgate run --no-post`"},
	{"fastgate push --status", "what waits"},
	{NULL, NULL},
};

static int spool_archive(const char *path, const char *spool, const char *id, struct fg_error *err)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat found = {0};
	int status = FG_OK;

	if (file < 0)
		return fg_error_errno(err, FG_EINVAL, "cannot open %s", path);
	if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode))
		status = fg_error_set(err, FG_EINVAL, "%s is no regular file", path);
	if (status == FG_OK)
		status = fg_spool_add_archive(spool, id, file, (uint64_t)found.st_size, err);
	(void)close(file);
	return status;
}

static int spool_run(const struct options *given, const char *name, const char *spool,
		     struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	int status = fg_cli_load_run(given->store, given->project, name, &stored, err);

	if (status != FG_OK)
		return status;
	status = fg_cli_spool_run(spool, &stored, err);
	if (status != FG_OK)
		goto out;
	if (given->archive)
		status = spool_archive(given->archive, spool, stored.run.id, err);
out:
	fg_stored_run_release(&stored);
	return status;
}

static int spool_runs(struct fg_cli *cli, const struct options *given, const char *spool,
		      struct fg_error *err)
{
	int status = FG_OK;

	if (given->archive && cli->argument_count != 1)
		return fg_error_set(err, FG_EINVAL,
				    "--archive needs one RUN: the one whose traces it has");
	for (size_t i = 0; i < cli->argument_count && status == FG_OK; i++)
		status = spool_run(given, cli->arguments[i], spool, err);
	return status;
}

static int print_status(struct fg_cli *cli, const char *spool)
{
	struct fg_spool_status spooled = {0};
	struct fg_strbuf text = {0};
	struct fg_json_writer w;
	struct fg_error err = {0};
	char size[FG_NUMBER_TEXT_SIZE];

	if (fg_spool_status(spool, &spooled, &err) != FG_OK)
		return fg_cli_fail(cli, &err);
	if (cli->json) {
		fg_json_writer_init(&w, &text, 2);
		fg_json_begin_object(&w, NULL);
		fg_json_int(&w, "waiting", (int64_t)spooled.waiting);
		fg_json_int(&w, "waiting_bytes", (int64_t)spooled.waiting_bytes);
		fg_json_int(&w, "rejected", (int64_t)spooled.rejected);
		fg_json_int(&w, "archives", (int64_t)spooled.archives);
		fg_json_int(&w, "archive_bytes", (int64_t)spooled.archive_bytes);
		fg_json_end(&w);
		fg_strbuf_add_char(&text, '\n');
	} else {
		fg_strbuf_printf(&text, "%zu waiting (%s), %zu rejected\n", spooled.waiting,
				 fg_format_size((double)spooled.waiting_bytes, size),
				 spooled.rejected);
		if (spooled.archives)
			fg_strbuf_printf(&text, "%zu archives waiting (%s)\n", spooled.archives,
					 fg_format_size((double)spooled.archive_bytes, size));
	}
	fg_cli_print(cli, &text);
	fg_strbuf_release(&text);
	return FG_EXIT_PASS;
}

static void say_result(const struct fg_cli *cli, const char *what,
		       const struct fg_push_result *result)
{
	fg_cli_say(cli, "%s%zu sent, %zu already there, %zu waiting, %zu rejected", what,
		   result->sent, result->known, result->waiting, result->rejected);
}

static void write_result(struct fg_json_writer *w, const struct fg_push_result *result)
{
	fg_json_int(w, "sent", (int64_t)result->sent);
	fg_json_int(w, "known", (int64_t)result->known);
	fg_json_int(w, "waiting", (int64_t)result->waiting);
	fg_json_int(w, "rejected", (int64_t)result->rejected);
	fg_json_int(w, "retries", (int64_t)result->retries);
	fg_json_int(w, "bytes", (int64_t)result->bytes);
}

static bool is_any(const struct fg_push_result *result)
{
	return result->sent || result->known || result->waiting || result->rejected;
}

static void print_result(struct fg_cli *cli, const struct fg_push_result *runs,
			 const struct fg_push_result *archives)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	if (!cli->json) {
		say_result(cli, "", runs);
		if (is_any(archives))
			say_result(cli, "archives: ", archives);
		return;
	}
	fg_json_writer_init(&w, &text, 2);
	fg_json_begin_object(&w, NULL);
	write_result(&w, runs);
	fg_json_begin_object(&w, "archives");
	write_result(&w, archives);
	fg_json_end(&w);
	fg_json_end(&w);
	fg_strbuf_add_char(&text, '\n');
	fg_cli_print(cli, &text);
	fg_strbuf_release(&text);
}

/* A job that may do without its server passes all the same. */
static int fail(struct fg_cli *cli, const struct options *given, const struct fg_perfdb *perfdb,
		const struct fg_error *err)
{
	if (!given->when_possible)
		return fg_cli_fail(cli, err);
	fg_cli_warn(cli, "not sent: %s", err->message);
	return perfdb->upload == FG_UPLOAD_REQUIRED ? FG_EXIT_UPLOAD : FG_EXIT_PASS;
}

/* Archives follow their runs; a run that stays behind does not keep the others' from going. */
static int push(struct fg_cli *cli, const struct options *given, const struct fg_perfdb *perfdb,
		const char *spool)
{
	struct fg_push_options push_options = {0};
	struct fg_push_result runs = {0};
	struct fg_push_result archives = {0};
	struct fg_error err = {0};
	struct fg_error second = {0};
	int status = spool_runs(cli, given, spool, &err);

	if (status != FG_OK)
		return fail(cli, given, perfdb, &err);
	status = fg_cli_server_options(cli, &given->server, perfdb, &push_options, &err);
	if (status != FG_OK)
		return fail(cli, given, perfdb, &err);
	status = fg_push_spool(spool, &push_options, &runs, &err);
	if (fg_push_archives(spool, &push_options, &archives, &second) != FG_OK && status == FG_OK)
		status = fg_error_set(&err, second.code, "%s", second.message);
	print_result(cli, &runs, &archives);
	return status == FG_OK ? FG_EXIT_PASS : fail(cli, given, perfdb, &err);
}

static int load_and_push(struct fg_cli *cli, const struct options *given, const char *spool)
{
	struct fg_plan plan = {0};
	int code = FG_EXIT_PASS;

	/* Whatever the command line names is the user's own choice. */
	fg_secret_take(given->server.token_env);
	code = fg_cli_load_plan(cli, &given->config, true, &plan);

	if (code != FG_EXIT_PASS)
		return code;
	code = push(cli, given, &plan.perfdb, spool);
	fg_plan_release(&plan);
	return code;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	char *store = fg_cli_store_path(given->store);
	char *spool = given->spool ? fg_xstrdup(given->spool) : fg_cli_spool_path(store);
	const int code =
		given->status ? print_status(cli, spool) : load_and_push(cli, given, spool);

	free(spool);
	free(store);
	return code;
}

const struct fg_cli_command fg_cmd_push = {
	.name = "push",
	.group = FG_CLI_GROUP_RUNS,
	.summary = "send runs to a perfdb server",
	.description =
		"Sends the runs that wait in the spool, oldest first, and those that are "
		"named. A run leaves the spool when the server has confirmed that it is on "
		"its disk; sending one twice does no harm. Runs that the server will never "
		"take are kept as *.rejected.\n\n"
		"With --archive, the archive of the run's traces follows it, if the server "
		"keeps archives. It waits in the spool in the same way, and goes on where it "
		"was cut off. `fastgate archive --fetch RUN` gets it back.\n\n"
		"Server, token's variable and certificates are those of perfdb in "
		"fastgate.yml, unless options say otherwise. The token is read from an "
		"environment variable; it is never written or shown. It is sent only to a server "
		"that the user names, too: by --url or PERFDB_URL. Proxies are taken from "
		"https_proxy and no_proxy.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXIT(FG_EXIT_UPLOAD),
	.has_json = true,
	.stops_cleanly = true,
	.run = run,
};
