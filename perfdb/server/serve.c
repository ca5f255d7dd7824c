// SPDX-License-Identifier: Apache-2.0
/* perfdb serve. */
#include "base/clock.h"
#include "base/number.h"
#include "base/process.h"
#include "perfdb/server/options.h"
#include "perfdb/server/server.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static const struct fg_option serve_options[] = {
	FG_PERFDB_DATABASE,
	{.name = "listen",
	 .letter = 'l',
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct fg_perfdb_options, listen),
	 .argument = "ADDRESS:PORT",
	 .initial = "127.0.0.1:8642",
	 .help = "where to listen; port 0 takes a free one"},
	FG_CLI_TEXT(struct fg_perfdb_options, tls_certificate, "tls-cert", 0, "FILE",
		    "certificate chain in PEM"),
	FG_CLI_TEXT(struct fg_perfdb_options, tls_key, "tls-key", 0, "FILE", "its key in PEM"),
	FG_CLI_FLAG(struct fg_perfdb_options, behind_proxy, "behind-proxy", 0,
		    "a reverse proxy does the TLS"),
	FG_CLI_FLAG(struct fg_perfdb_options, read_only, "read-only", 0, "only show what is there"),
	FG_CLI_COUNT(struct fg_perfdb_options, rate, "requests-per-minute", 0, 100000000, "6000",
		     "of one token or address"),
	{.name = "body-limit",
	 .kind = FG_OPTION_SIZE,
	 .offset = offsetof(struct fg_perfdb_options, body_limit),
	 .argument = "SIZE",
	 .initial = "64MiB",
	 .help = "largest upload"},
	{.name = "header-time",
	 .kind = FG_OPTION_DURATION,
	 .offset = offsetof(struct fg_perfdb_options, headers_ns),
	 .argument = "TIME",
	 .initial = "60s",
	 .help = "until the headers of a request are there, from its connection or the request before"},
	{.name = "request-time",
	 .kind = FG_OPTION_DURATION,
	 .offset = offsetof(struct fg_perfdb_options, request_ns),
	 .argument = "TIME",
	 .initial = "5m",
	 .help = "from there until its answer was read"},
	FG_CLI_COUNT(struct fg_perfdb_options, threads, "threads", 0, 256, "16",
		     "threads that answer"),
	FG_CLI_FLAG(struct fg_perfdb_options, quiet, "quiet", 'q',
		    "no line per request on standard output"),
	FG_PERFDB_HELP,
	{.name = NULL},
};

static bool parse_listen(const char *text, char **address, uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	uint64_t number = 0;
	size_t length = 0;

	if (!colon || fg_parse_uint64(colon + 1, &number, NULL) != FG_OK || number > UINT16_MAX)
		return false;
	length = (size_t)(colon - text);
	if (length > 2 && text[0] == '[' && text[length - 1] == ']')
		*address = fg_xstrndup(text + 1, length - 2);
	else
		*address = fg_xstrndup(text, length);
	*port = (uint16_t)number;
	return true;
}

/* Signals are waited for, not handled: all of the shutdown happens on this thread. */
static void wait_for_signal(void)
{
	sigset_t signals;
	int signal = 0;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGHUP);
	while (sigwait(&signals, &signal) != 0)
		continue;
}

static void block_signals(void)
{
	sigset_t signals;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/* Failing to start a browser does not stop the server. */
static void open_browser(const char *address, unsigned port)
{
	char *url = fg_xasprintf("http://%s:%u/", address, port);
	char *argv[] = {(char[]){"xdg-open"}, url, NULL};
	const struct fg_process_options options = {
		.argv = argv, .timeout_ns = 10 * FG_NS_PER_S, .keep_children = true};
	struct fg_process_result result = {0};
	struct fg_error err = {0};

	if (fg_process_run(&options, &result, &err) != FG_OK)
		(void)fprintf(stderr, "perfdb: %s\n", err.message);
	fg_process_result_release(&result);
	free(url);
}

static int serve(const struct fg_perfdb_options *given, const struct fg_perfdb_words *words)
{
	struct fg_server_options options = {
		.database = given->database,
		.tls_certificate = given->tls_certificate,
		.tls_key = given->tls_key,
		.behind_proxy = given->behind_proxy,
		.read_only = given->read_only,
		.body_limit_bytes = (size_t)given->body_limit,
		.requests_per_minute = given->rate,
		.threads = given->threads,
		.headers_ns = given->headers_ns,
		.request_ns = given->request_ns,
		.log_fd = given->quiet ? -1 : STDOUT_FILENO,
	};
	struct fg_server *server = NULL;
	struct fg_error err = {0};
	char *address = NULL;

	(void)words;
	if (!parse_listen(given->listen, &address, &options.port)) {
		(void)fg_error_set(&err, FG_EINVAL, "--listen %s: expected ADDRESS:PORT",
				   given->listen);
		return fg_perfdb_fail(&err);
	}
	options.address = address;
	block_signals();
	/* write() fails with EPIPE or EFBIG instead. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (fg_server_start(&options, &server, &err) != FG_OK) {
		free(address);
		return fg_perfdb_fail(&err);
	}
	if (fg_server_needs_token(server))
		(void)fprintf(
			stderr,
			"perfdb: nobody is let in before a token is made: perfdb token create --database %s --scope admin\n",
			strstr(given->database, "://") ? "URL" : given->database);
	(void)fprintf(stderr, "perfdb: serving %s at %s://%s%s%s:%u/\n",
		      strstr(given->database, "://") ? "a PostgreSQL database" : given->database,
		      options.tls_certificate ? "https" : "http", strchr(address, ':') ? "[" : "",
		      address, strchr(address, ':') ? "]" : "", fg_server_port(server));
	if (given->open)
		open_browser(address, fg_server_port(server));
	wait_for_signal();
	(void)fprintf(stderr, "perfdb: finishing the requests in progress\n");
	fg_server_stop(server);
	free(address);
	return FG_PERFDB_OK;
}

const struct fg_perfdb_command fg_perfdb_serve = {
	.name = "serve",
	.summary = "serve a database over HTTP",
	.options = serve_options,
	.run = serve,
};
