// SPDX-License-Identifier: Apache-2.0
#include "base/json_write.h"
#include "base/number.h"
#include "base/secrets.h"
#include "cli/session/plan.h"
#include "cli/session/stored.h"

struct options {
	const char *store;
	const char *project;
	struct fg_cli_server server;
	const char *spool;
	bool status;
	bool when_possible;
	struct fg_cli_config config;
};

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	FG_CLI_SERVER_OPTIONS(struct options, server),
	FG_ROW_COUNT(struct options, server.attempts, "attempts", 0, 100, "5",
		     "number of attempts per run"),
	FG_ROW_NAME(struct options, spool, "spool", 0, "FOLDER", FG_COMPLETE_FOLDER,
		    "the spool to use instead of .fastgate/spool"),
	FG_ROW_FLAG(struct options, status, "status", 0,
		    "only count the runs that wait in the spool"),
	FG_ROW_FLAG(struct options, when_possible, "when-possible", 0,
		    "only warn about runs that cannot be sent, unless perfdb.upload is `required`"),
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN",
	 .help = "stored or exported runs to send as well (default: only the runs that wait in the "
		 "spool)"},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate push", "send the runs that could not be sent before"},
	{"fastgate push latest latest~1", "send two stored runs"},
	{"fastgate push --when-possible run.fgrun",
	 "in a step of CI, after `fastgate run --no-post --export run.fgrun`"},
	{"fastgate push --status", "count the runs that wait in the spool"},
	{NULL, NULL},
};

static int spool_run(const struct options *given, const char *name, const char *spool,
		     struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	int status = FG_OK;

	FG_TRY(fg_cli_load_run(given->store, given->project, name, &stored, err));
	status = fg_cli_spool_run(spool, &stored, err);
	fg_stored_run_release(&stored);
	return status;
}

static int spool_runs(struct fg_cli *cli, const struct options *given, const char *spool,
		      struct fg_error *err)
{
	int status = FG_OK;

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
		fg_json_end(&w);
		fg_strbuf_add_char(&text, '\n');
	} else {
		fg_strbuf_printf(&text, "%zu waiting (%s), %zu rejected\n", spooled.waiting,
				 fg_format_size((double)spooled.waiting_bytes, size),
				 spooled.rejected);
	}
	fg_cli_print(cli, &text);
	fg_strbuf_release(&text);
	return FG_EXIT_PASS;
}

static void print_result(struct fg_cli *cli, const struct fg_push_result *result)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	if (!cli->json) {
		fg_cli_say(cli, "%zu sent, %zu already on the server, %zu waiting, %zu rejected",
			   result->sent, result->known, result->waiting, result->rejected);
		return;
	}
	fg_json_writer_init(&w, &text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_int(&w, "sent", (int64_t)result->sent);
	fg_json_int(&w, "known", (int64_t)result->known);
	fg_json_int(&w, "waiting", (int64_t)result->waiting);
	fg_json_int(&w, "rejected", (int64_t)result->rejected);
	fg_json_int(&w, "retries", (int64_t)result->retries);
	fg_json_int(&w, "bytes", (int64_t)result->bytes);
	fg_json_end(&w);
	fg_strbuf_add_char(&text, '\n');
	fg_cli_print(cli, &text);
	fg_strbuf_release(&text);
}

/* With --when-possible, a failed upload fails the job only if fastgate.yml requires uploads. */
static int fail(struct fg_cli *cli, const struct options *given, const struct fg_perfdb *perfdb,
		const struct fg_error *err)
{
	if (!given->when_possible)
		return fg_cli_fail(cli, err);
	fg_cli_warn(cli, "not sent: %s", err->message);
	return perfdb->upload == FG_UPLOAD_REQUIRED ? FG_EXIT_UPLOAD : FG_EXIT_PASS;
}

static int push(struct fg_cli *cli, const struct options *given, const struct fg_perfdb *perfdb,
		const char *spool)
{
	struct fg_push_options push_options = {0};
	struct fg_push_result result = {0};
	struct fg_error err = {0};
	int status = spool_runs(cli, given, spool, &err);

	if (status != FG_OK)
		return fail(cli, given, perfdb, &err);
	status = fg_cli_server_options(cli, &given->server, perfdb, &push_options, &err);
	if (status != FG_OK)
		return fail(cli, given, perfdb, &err);
	status = fg_push_spool(spool, &push_options, &result, &err);
	if (status == FG_OK && result.sent + result.known == 0 && !cli->json)
		fg_cli_say(
			cli,
			"there is nothing to send: no run waits in the spool, and none was named");
	else if (status == FG_OK || result.sent + result.known + result.waiting + result.rejected)
		print_result(cli, &result);
	return status == FG_OK ? FG_EXIT_PASS : fail(cli, given, perfdb, &err);
}

static int load_and_push(struct fg_cli *cli, const struct options *given, const char *spool)
{
	struct fg_plan plan = {0};
	int code = FG_EXIT_PASS;

	/* The user named this variable on the command line, so it needs no check. */
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
		"Sends the runs that wait in the spool, oldest first, and those that are named. "
		"A run leaves the spool when the server has confirmed that the run is on disk; "
		"sending a run twice does no harm. Runs that the server will never accept are "
		"kept as *.rejected.\n"
		"\n"
		"The server, the token's variable and the certificates come from `perfdb` in "
		"fastgate.yml, unless options override them. The token is read from an "
		"environment variable; it is never written or shown. It is sent only to a server "
		"that --url, PERFDB_URL or FASTGATE_TRUSTED_URLS names. Proxies are taken from "
		"https_proxy and no_proxy.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXIT(FG_EXIT_UPLOAD),
	.has_json = true,
	.stops_cleanly = true,
	.run = run,
};
