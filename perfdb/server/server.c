// SPDX-License-Identifier: Apache-2.0
/* Starts and stops the server and its parts. */
#include "perfdb/server/server.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "perfdb/protocol.h"
#include "perfdb/server/connections.h"
#include "perfdb/server/health.h"
#include "perfdb/server/limiter.h"
#include "perfdb/server/ranges.h"
#include "perfdb/server/recent_tokens.h"
#include "perfdb/server/replica.h"
#include "perfdb/server/server_private.h"
#include "perfdb/server/watcher.h"
#include "perfdb/server/webhook.h"
#include "perfdb/server/workers.h"
#include "perfdb/server/writer.h"
#include "store/store.h"

#include <malloc.h>
#include <microhttpd.h>
#include <sys/resource.h>

enum {
	DEFAULT_THREADS = 16,
	DEFAULT_PER_MINUTE = 6000,
	NOTES_PER_MINUTE = 1, /* maximum number of notes per subject */
	DEFAULT_HEADERS_SECONDS = 60,
	DEFAULT_REQUEST_SECONDS = 300,
	DEFAULT_RETRY_SECONDS = 10,
	PEM_MAX_BYTES = 1 << 20,
	OTHER_FILES = 128,      /* file descriptors for anything but connections */
	KEPT_BYTES = 32 << 20,  /* free memory that malloc keeps for later uploads */
	LARGE_BYTES = 32 << 20, /* blocks above this size go back to the system when freed */
	GROWTH_BYTES = 1 << 20
};

static const size_t default_bodies_bytes = (size_t)512 << 20;

static int check_exposure(const struct fg_server_options *options, struct fg_error *err)
{
	if (fg_listen_is_loopback(options) || options->tls_certificate || options->behind_proxy)
		return FG_OK;
	return fg_error_set(
		err, FG_EINVAL,
		"listening on %s without TLS would show tokens to the network: give --tls-cert and "
		"--tls-key, or --behind-proxy if a proxy terminates TLS",
		fg_listen_address(options));
}

/* Every client needs a descriptor, so the usual soft limit of 1024 is too low. */
static void raise_file_limit(void)
{
	struct rlimit limit = {0};

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * An upload of new code allocates and frees a few megabytes. Until a large upload has raised
 * malloc's thresholds, this memory goes back to the system, which clears each page for the next
 * upload.
 */
static void keep_memory(void)
{
	(void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	(void)mallopt(M_TOP_PAD, GROWTH_BYTES);
}

static int read_tls(struct fg_server *server, struct fg_error *err)
{
	size_t size = 0;

	if (!server->options.tls_certificate && !server->options.tls_key)
		return FG_OK;
	if (!server->options.tls_certificate || !server->options.tls_key)
		return fg_error_set(err, FG_EINVAL, "TLS needs both a certificate and its key");
	FG_TRY(fg_fs_read(server->options.tls_certificate, PEM_MAX_BYTES, &server->certificate,
			  &size, err));
	return fg_fs_read(server->options.tls_key, PEM_MAX_BYTES, &server->key, &size, err);
}

static void set_defaults(struct fg_server_options *options)
{
	if (!options->body_limit_bytes)
		options->body_limit_bytes = FG_WIRE_MAX_BYTES;
	if (!options->bodies_limit_bytes)
		options->bodies_limit_bytes = default_bodies_bytes;
	if (!options->requests_per_minute)
		options->requests_per_minute = DEFAULT_PER_MINUTE;
	if (options->headers_ns <= 0)
		options->headers_ns = DEFAULT_HEADERS_SECONDS * FG_NS_PER_S;
	if (options->request_ns <= 0)
		options->request_ns = DEFAULT_REQUEST_SECONDS * FG_NS_PER_S;
	if (!options->threads)
		options->threads = DEFAULT_THREADS;
	if (options->webhooks.retry_ns <= 0)
		options->webhooks.retry_ns = DEFAULT_RETRY_SECONDS * FG_NS_PER_S;
}

/* Opens the database once, to create missing tables unless the server is read-only. */
static int open_database(struct fg_server *s, struct fg_error *err)
{
	struct fg_store *store = NULL;

	FG_TRY(fg_store_open(s->options.database,
			     s->options.read_only ? FG_STORE_READ_ONLY : FG_STORE_DURABLE, &store,
			     err));
	s->database_shown = fg_xstrdup(fg_store_location(store));
	fg_store_close(store);
	s->sessions = fg_sessions_new(s->options.database, s->options.read_only);
	return FG_OK;
}

static void refuse_waiting(void *context)
{
	fg_workers_refuse_waiting(((struct fg_server *)context)->workers);
}

static int start_health(struct fg_server *s, struct fg_error *err)
{
	const bool is_url = strstr(s->options.database, "://");
	char *folder = is_url ? NULL : fg_fs_parent(s->options.database);
	const struct fg_health_options options = {
		.sessions = s->sessions,
		.folder = folder,
		.while_down = refuse_waiting,
		.context = s,
	};
	const int status = fg_health_start(&options, &s->health, err);

	free(folder);
	return status;
}

static int start_replica(struct fg_server *s, struct fg_error *err)
{
	const struct fg_server_options *options = &s->options;

	if (!options->read_database)
		return FG_OK;
	if (options->read_only)
		return fg_error_set(err, FG_EINVAL,
				    "a read-only server needs one database: give the "
				    "replica as --database, without --read-url");
	if (!strstr(options->database, "://") || !strstr(options->read_database, "://"))
		return fg_error_set(err, FG_EINVAL,
				    "--read-url is for a replica of a PostgreSQL database");
	return fg_replica_start(options->read_database, &s->replica, err);
}

static int start_writing(struct fg_server *s, struct fg_error *err)
{
	if (s->options.read_only)
		return FG_OK;
	s->writer = fg_writer_new(s->sessions);
	return fg_webhooks_start(s, err);
}

static int set_proxies(struct fg_server *s, struct fg_error *err)
{
	static const char *const local[] = {"127.0.0.0/8", "::1"};
	const struct fg_server_options *options = &s->options;

	if (options->proxies.count == 0 && options->behind_proxy)
		return fg_ranges_new(local, FG_ARRAY_SIZE(local), &s->proxies, err);
	return fg_ranges_new(options->proxies.items, options->proxies.count, &s->proxies, err);
}

/* Returns three quarters of the maximum number of connections. */
static size_t count_busy(void)
{
	struct rlimit files = {0};
	size_t most = FG_LISTEN_CONNECTIONS;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > OTHER_FILES)
		most = fg_min_size(most, (size_t)files.rlim_cur - OTHER_FILES);
	return most / 4 * 3;
}

/*
 * Browsers send a cookie to all ports of a host, so each server's cookie has its own name. With
 * TLS, the name's prefix keeps other hosts and plain pages from setting the cookie.
 */
static char *name_cookie(const char *of, bool has_tls)
{
	char hex[FG_SHA256_HEX_SIZE];

	fg_sha256_hex(of, strlen(of), hex);
	return fg_xasprintf("%sperfdb_%.8s", has_tls ? "__Host-" : "", hex);
}

static int check_people(const struct fg_server *s, struct fg_error *err)
{
	const struct fg_server_options *options = &s->options;

	if (options->user_header &&
	    (options->secret || options->read_only || options->anonymous_read))
		return fg_error_set(
			err, FG_EINVAL,
			"--user-header is for a server that people sign in to, and cannot be "
			"combined with --read-only, --secret or --anonymous-read");
	if (options->user_header && options->proxies.count == 0)
		return fg_error_set(
			err, FG_EINVAL,
			"--user-header needs --trust-proxy: otherwise anybody could send the "
			"header");
	return FG_OK;
}

static int prepare(struct fg_server *s, struct fg_error *err)
{
	FG_TRY(set_proxies(s, err));
	FG_TRY(check_people(s, err));
	FG_TRY(check_exposure(&s->options, err));
	FG_TRY(open_database(s, err));
	return read_tls(s, err);
}

static int start(struct fg_server *s, struct fg_error *err)
{
	int status = FG_OK;

	FG_TRY(prepare(s, err));
	FG_TRY(fg_workers_start(s->options.threads, &s->workers, err));
	FG_TRY(start_health(s, err));
	FG_TRY(start_replica(s, err));
	FG_TRY(start_writing(s, err));
	FG_TRY(fg_watcher_start(s->sessions, &s->watcher, err));
	status = fg_connections_start(s->options.headers_ns, s->options.request_ns, count_busy(),
				      &s->connections, err);
	return status == FG_OK ? fg_listen_start(s, err) : status;
}

int fg_server_start(const struct fg_server_options *options, struct fg_server **server,
		    struct fg_error *err)
{
	struct fg_server *s = fg_xcalloc(1, sizeof(*s));
	int status = FG_OK;

	s->options = *options;
	set_defaults(&s->options);
	s->started_ns = fg_clock_wall_ns();
	s->is_local = fg_listen_is_loopback(options) && !options->behind_proxy;
	s->requests = fg_limiter_new(s->options.requests_per_minute);
	s->noted = fg_limiter_new(NOTES_PER_MINUTE);
	s->good_tokens = fg_recent_tokens_new();
	if (options->secret)
		s->cookie_name = name_cookie(options->secret, options->tls_certificate);
	raise_file_limit();
	keep_memory();
	status = start(s, err);
	if (status != FG_OK) {
		fg_server_stop(s);
		return status;
	}
	*server = s;
	return FG_OK;
}

uint16_t fg_server_port(const struct fg_server *server)
{
	return server->port;
}

void fg_server_stop(struct fg_server *server)
{
	if (!server)
		return;
	/* Refuse new connections, answer requests in progress, then close the connections. */
	atomic_store(&server->draining, true);
	fg_workers_stop(server->workers);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	fg_connections_stop(server->connections);
	fg_health_stop(server->health);
	fg_watcher_stop(server->watcher);
	fg_background_stop(&server->webhooks);
	fg_ranges_free(server->webhook_ranges);
	fg_writer_free(server->writer);
	fg_workers_free(server->workers);
	fg_replica_stop(server->replica);
	fg_sessions_free(server->sessions);
	fg_limiter_free(server->requests);
	fg_limiter_free(server->noted);
	fg_recent_tokens_free(server->good_tokens);
	fg_ranges_free(server->proxies);
	free(server->cookie_name);
	if (server->key)
		explicit_bzero(server->key, strlen(server->key));
	free(server->key);
	free(server->certificate);
	free(server->database_shown);
	free(server);
}
