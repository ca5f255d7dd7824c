// SPDX-License-Identifier: Apache-2.0
/* perfdb serve. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/process.h"
#include "base/random.h"
#include "perfdb/server/options.h"
#include "perfdb/server/server.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum {
	SECRET_BYTES = 16,
	SECRET_TEXT_SIZE = 2 * SECRET_BYTES + 1,
	ENTRY_MODE = 0600
};

static const struct fg_option serve_options[] = {
	FG_PERFDB_DATABASE,
	FG_ROW_TEXT(struct fg_perfdb_options, server.read_database, "read-url", 0, "URL",
		    "a PostgreSQL replica of the database, which answers read-only requests"),
	{.name = "listen",
	 .letter = 'l',
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct fg_perfdb_options, listen),
	 .argument = "ADDRESS:PORT",
	 .initial = "127.0.0.1:8642",
	 .help = "the address to listen on; port 0 chooses a free one"},
	FG_ROW_TEXT(struct fg_perfdb_options, server.tls_certificate, "tls-cert", 0, "FILE",
		    "certificate chain in PEM"),
	FG_ROW_TEXT(struct fg_perfdb_options, server.tls_key, "tls-key", 0, "FILE",
		    "private key of the certificate in PEM"),
	FG_ROW_FLAG(struct fg_perfdb_options, server.behind_proxy, "behind-proxy", 0,
		    "a reverse proxy terminates TLS"),
	FG_ROW_LIST(struct fg_perfdb_options, server.proxies, "trust-proxy", 0, "CIDR",
		    "trust the client address that this proxy names; --behind-proxy trusts proxies "
		    "on loopback"),
	FG_ROW_LIST(struct fg_perfdb_options, server.hosts, "host", 0, "NAME",
		    "answer only requests that name this host or a loopback name"),
	FG_ROW_TEXT(struct fg_perfdb_options, server.public_url, "public-url", 0, "URL",
		    "the public address of this server, for links in webhooks"),
	FG_ROW_TEXT(struct fg_perfdb_options, server.user_header, "user-header", 0, "NAME",
		    "the proxies of --trust-proxy name the person in this header"),
	FG_ROW_TEXT(
		struct fg_perfdb_options, server.groups_header, "groups-header", 0, "NAME",
		"the proxies of --trust-proxy name the groups in this header, separated by commas"),
	FG_ROW_LIST(struct fg_perfdb_options, server.webhooks.allowed, "webhook-allow", 0, "CIDR",
		    "also allow webhooks to these local or private addresses"),
	FG_ROW_FLAG(struct fg_perfdb_options, server.webhooks.allows_plain, "webhook-http", 0,
		    "webhooks may be http://, not only https://"),
	FG_ROW_FILE(struct fg_perfdb_options, server.webhooks.ca_file, "webhook-ca-file", 0,
		    "certificates to trust for webhooks instead of the system's"),
	FG_ROW_DURATION(
		struct fg_perfdb_options, server.webhooks.retry_ns, "webhook-retry", "10s",
		"wait this long before a webhook's second try, and twice as long before each "
		"further try"),
	FG_ROW_FLAG(struct fg_perfdb_options, server.anonymous_read, "anonymous-read", 0,
		    "let anyone who reaches this server read; everything else requires a token"),
	FG_ROW_FLAG(struct fg_perfdb_options, with_secret, "secret", 0,
		    "print an address with a key, and admit only requests with that key"),
	FG_ROW_FLAG(struct fg_perfdb_options, open, "open", 0,
		    "open the pages in the browser (xdg-open)"),
	FG_ROW_FLAG(struct fg_perfdb_options, server.read_only, "read-only", 0,
		    "serve pages only: accept no writes"),
	FG_ROW_COUNT(struct fg_perfdb_options, server.requests_per_minute, "requests-per-minute", 0,
		     100000000, "6000", "requests allowed per minute, per token or address"),
	{.name = "body-limit",
	 .kind = FG_OPTION_SIZE,
	 .offset = offsetof(struct fg_perfdb_options, server.body_limit_bytes),
	 .argument = "SIZE",
	 .initial = "64MiB",
	 .help = "maximum size of an upload"},
	FG_ROW_DURATION(
		struct fg_perfdb_options, server.headers_ns, "header-time", "60s",
		"time limit for a request's headers, counted from the connection or the previous "
		"request"),
	FG_ROW_DURATION(
		struct fg_perfdb_options, server.request_ns, "request-time", "5m",
		"time limit from the end of a request's headers until the client has read the "
		"answer"),
	FG_ROW_COUNT(struct fg_perfdb_options, server.threads, "threads", 0, 256, "16",
		     "number of threads that answer requests"),
	FG_ROW_FLAG(struct fg_perfdb_options, quiet, "quiet", 'q', "do not log requests"),
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

/* Waits for signals instead of handling them, so that the whole shutdown happens on this thread. */
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

/*
 * Writes a page that redirects to the address. Every user can see the browser's command line in the
 * process list, so the browser gets the page's path and not the address with the key. The caller
 * frees the path and removes its folder; NULL if the page cannot be written.
 */
static char *write_entry(const char *url, struct fg_error *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct fg_strbuf page = {0};
	char *folder = NULL;
	char *path = NULL;

	if (fg_fs_temporary_folder(runtime && *runtime ? runtime : "/tmp", "perfdb", &folder,
				   err) != FG_OK)
		return NULL;
	path = fg_fs_join(folder, "open.html");
	free(folder);
	fg_strbuf_printf(
		&page, "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n", url);
	if (fg_fs_write_atomic(path, page.data, page.length, ENTRY_MODE, err) != FG_OK) {
		free(path);
		path = NULL;
	}
	fg_strbuf_release(&page);
	return path;
}

static void remove_entry(char *path)
{
	char *folder = NULL;

	if (!path)
		return;
	folder = fg_fs_parent(path);
	(void)unlink(path);
	(void)rmdir(folder);
	free(folder);
	free(path);
}

/*
 * Opens a browser. Returns the entry page, which the caller removes. A failure does not stop the
 * server.
 */
static char *open_browser(const char *url)
{
	struct fg_process_result result = {0};
	struct fg_error err = {0};
	char *entry = write_entry(url, &err);
	char *argv[] = {(char[]){"xdg-open"}, entry, NULL};
	const struct fg_process_options options = {
		.argv = argv, .timeout_ns = 10 * FG_NS_PER_S, .keep_children = true};

	if (!entry || fg_process_run(&options, &result, &err) != FG_OK)
		(void)fprintf(stderr, "perfdb: %s\n", err.message);
	fg_process_result_release(&result);
	return entry;
}

static int make_secret(char text[SECRET_TEXT_SIZE], struct fg_error *err)
{
	uint8_t secret[SECRET_BYTES];

	FG_TRY(fg_random_bytes(secret, sizeof(secret), err));
	fg_hex(secret, sizeof(secret), text);
	return FG_OK;
}

/*
 * Returns the address with a browser's key: the secret of this start, or the token `key` ("":
 * none).
 */
static char *make_url(const struct fg_server_options *options, uint16_t port, const char *key)
{
	const bool is_six = strchr(options->address, ':');

	return fg_xasprintf("%s://%s%s%s:%u/%s%s%s%s", options->tls_certificate ? "https" : "http",
			    is_six ? "[" : "", options->address, is_six ? "]" : "", port,
			    options->secret ? "?key=" : "", options->secret ? options->secret : "",
			    *key ? "#token=" : "", key);
}

static void announce(const struct fg_perfdb_options *given, const struct fg_server_options *options,
		     uint16_t port, const char *key)
{
	char *url = make_url(options, port, "");
	char *entry = make_url(options, port, key);
	char *file = fg_first_start_file(given->database);

	if (*key)
		(void)fprintf(
			stderr,
			"perfdb: first start: open %s\n"
			"perfdb: this is the administrator's key, and it will not be shown again%s%s\n",
			entry, file ? "; it is kept in " : "", file ? file : "");
	(void)fprintf(stderr, "perfdb: serving %s at %s\n",
		      file ? given->database : "a PostgreSQL database", url);
	free(file);
	free(entry);
	free(url);
}

/* While the file with the first key exists, later starts use that key to open the pages. */
static void recall_key(const char *database, char key[FG_TOKEN_TEXT_SIZE])
{
	char *file = fg_first_start_file(database);
	char *text = NULL;
	size_t size = 0;

	if (file && fg_fs_read(file, FG_TOKEN_TEXT_SIZE - 1, &text, &size, NULL) == FG_OK)
		(void)snprintf(key, FG_TOKEN_TEXT_SIZE, "%s", text);
	free(text);
	free(file);
}

static char *show(const struct fg_perfdb_options *given, const struct fg_server_options *options,
		  uint16_t port, char key[FG_TOKEN_TEXT_SIZE])
{
	char *url = NULL;
	char *entry = NULL;

	if (!*key && !options->secret)
		recall_key(given->database, key);
	url = make_url(options, port, key);
	entry = open_browser(url);
	free(url);
	return entry;
}

/* Makes the first key, unless --read-only, --secret or --user-header decides who has access. */
static int prepare(const struct fg_server_options *options, char key[FG_TOKEN_TEXT_SIZE],
		   struct fg_error *err)
{
	*key = '\0';
	return options->read_only || options->secret || options->user_header
		       ? FG_OK
		       : fg_first_start(options->database, key, err);
}

static int run_server(const struct fg_perfdb_options *given, struct fg_server_options *options,
		      struct fg_error *err)
{
	struct fg_server *server = NULL;
	char key[FG_TOKEN_TEXT_SIZE];
	char *entry = NULL;

	block_signals();
	/* With these signals ignored, write() fails with EPIPE or EFBIG instead. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	FG_TRY(prepare(options, key, err));
	FG_TRY(fg_server_start(options, &server, err));
	announce(given, options, fg_server_port(server), key);
	if (given->open)
		entry = show(given, options, fg_server_port(server), key);
	explicit_bzero(key, sizeof(key));
	wait_for_signal();
	(void)fprintf(stderr, "perfdb: finishing the requests in progress\n");
	fg_server_stop(server);
	remove_entry(entry);
	return FG_OK;
}

static int serve(const struct fg_perfdb_options *given)
{
	struct fg_server_options options = given->server;
	char secret[SECRET_TEXT_SIZE] = "";
	struct fg_error err = {0};
	char *address = NULL;
	int status = FG_OK;

	if (!parse_listen(given->listen, &address, &options.port)) {
		(void)fg_error_set(&err, FG_EINVAL, "--listen %s: expected ADDRESS:PORT",
				   given->listen);
		return fg_perfdb_fail(&err);
	}
	options.address = address;
	options.database = given->database;
	options.log_fd = given->quiet ? -1 : STDOUT_FILENO;
	if (given->with_secret) {
		status = make_secret(secret, &err);
		options.secret = secret;
	}
	if (status == FG_OK)
		status = run_server(given, &options, &err);
	explicit_bzero(secret, sizeof(secret));
	free(address);
	return status == FG_OK ? FG_PERFDB_OK : fg_perfdb_fail(&err);
}

const struct fg_perfdb_command fg_perfdb_serve = {
	.name = "serve",
	.summary = "serve a database over HTTP",
	.options = serve_options,
	.run = serve,
};
