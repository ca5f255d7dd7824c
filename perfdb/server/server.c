// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/server.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/text.h"
#include "perfdb/protocol.h"
#include "perfdb/server/http.h"
#include "perfdb/server/lines.h"
#include "perfdb/server/request.h"
#include "store/serving/access.h"
#include "store/serving/ids.h"
#include "store/serving/tiles.h"
#include "store/store.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	DEFAULT_THREADS = 16, /* for those who ask; uploads take as many as there are processors */
	LINE_THREADS = 2,     /* that only move bytes */
	DEFAULT_PER_MINUTE = 6000,
	CONNECTIONS = 4096,
	CONNECTIONS_OF_ONE = 2048, /* address, where addresses are known */
	IDLE_SECONDS = 30,
	DEFAULT_HEADERS_SECONDS = 60, /* an idle connection is not late */
	DEFAULT_REQUEST_SECONDS = 300,
	SEAL_SECONDS = 10,
	PEM_MAX_BYTES = 1 << 20,
};

static const size_t default_bodies_bytes = (size_t)512 << 20;

struct fg_store *fg_server_session(struct fg_server *server, struct fg_error *err)
{
	struct fg_store *store = NULL;

	(void)pthread_mutex_lock(&server->lock);
	if (server->idle_count)
		store = server->idle[--server->idle_count];
	(void)pthread_mutex_unlock(&server->lock);
	if (!store &&
	    fg_store_open(server->database,
			  server->options.read_only ? FG_STORE_READ_ONLY : FG_STORE_DURABLE, &store,
			  err) != FG_OK)
		return NULL;
	fg_store_set_name(store, "this database");
	return store;
}

void fg_session_back(struct fg_server *server, struct fg_store *store)
{
	struct fg_store **broken = NULL;
	size_t broken_count = 0;

	if (!store)
		return;
	(void)pthread_mutex_lock(&server->lock);
	server->idle = fg_grow(server->idle, &server->idle_capacity, server->idle_count + 1,
			       sizeof(struct fg_store *));
	server->idle[server->idle_count++] = store;
	if (fg_store_is_broken(store)) {
		/* Whatever cut this one has cut those that were idle too. */
		broken = server->idle;
		broken_count = server->idle_count;
		server->idle = NULL;
		server->idle_count = 0;
		server->idle_capacity = 0;
	}
	(void)pthread_mutex_unlock(&server->lock);
	for (size_t i = 0; i < broken_count; i++)
		fg_store_close(broken[i]);
	free(broken);
}

static bool is_loopback(const struct fg_server_options *options)
{
	const char *address = options->address ? options->address : "127.0.0.1";

	return fg_text_starts_with(address, "127.") || strcmp(address, "::1") == 0 ||
	       strcmp(address, "localhost") == 0;
}

static int check_exposure(struct fg_server *server, struct fg_store *store, struct fg_error *err)
{
	const struct fg_server_options *options = &server->options;
	const char *address = options->address ? options->address : "127.0.0.1";
	size_t tokens = 0;
	int status = fg_store_token_count(store, &tokens, err);

	server->needs_token = !server->is_open && tokens == 0;
	if (status != FG_OK || is_loopback(options))
		return status;
	if (tokens == 0)
		return fg_error_set(
			err, FG_EINVAL,
			"listening on %s would let everybody in, because no token exists: make one with `perfdb token create`, or listen on 127.0.0.1",
			address);
	if (!options->tls_certificate && !options->behind_proxy)
		return fg_error_set(
			err, FG_EINVAL,
			"listening on %s without TLS would show tokens to the network: give --tls-cert and --tls-key, or --behind-proxy when a proxy does the TLS",
			address);
	return FG_OK;
}

/*
 * Sealing takes some tenths of a second for each tile, a benchmark at a time.  Where there may be
 * more to seal, it goes on as soon as a second has passed in which nobody brought a run; otherwise,
 * and where they never cease, it is done now and then. Called and returns with the lock held.
 */
static void wait_to_seal(struct fg_server *server, bool is_more)
{
	const unsigned step = is_more ? 1 : SEAL_SECONDS;
	unsigned long long written = atomic_load(&server->counters.batches);

	for (unsigned second = 0; second < SEAL_SECONDS && !server->stopping; second += step) {
		const unsigned long long before = written;
		struct timespec until = {0};

		(void)clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += step;
		(void)pthread_cond_timedwait(&server->wake, &server->lock, &until);
		written = atomic_load(&server->counters.batches);
		if (is_more && written == before)
			return;
	}
}

static void *seal_tiles(void *context)
{
	struct fg_server *server = context;
	size_t sealed = 0;

	(void)pthread_mutex_lock(&server->lock);
	for (;;) {
		struct fg_store *store = NULL;
		struct fg_error err = {0};

		wait_to_seal(server, sealed > 0);
		if (server->stopping)
			break;
		(void)pthread_mutex_unlock(&server->lock);
		store = fg_server_session(server, &err);
		sealed = 0;
		if (store && fg_store_seal(store, &sealed, &err) != FG_OK)
			fg_log(FG_LOG_SERVER, 1, "sealing: %s", err.message);
		atomic_fetch_add(&server->counters.tiles, sealed);
		fg_session_back(server, store);
		(void)pthread_mutex_lock(&server->lock);
	}
	(void)pthread_mutex_unlock(&server->lock);
	return NULL;
}

/*
 * A server holds a connection per client and some files: the soft limit of 1024 is for other
 * programs.
 */
static void raise_file_limit(void)
{
	struct rlimit limit = {0};

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int make_address(const struct fg_server_options *options, struct sockaddr_storage *storage,
			struct fg_error *err)
{
	const char *address = options->address ? options->address : "127.0.0.1";
	struct sockaddr_in *four = (struct sockaddr_in *)storage;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)storage;

	if (strcmp(address, "localhost") == 0)
		address = "127.0.0.1";
	if (inet_pton(AF_INET, address, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(options->port);
		return FG_OK;
	}
	if (inet_pton(AF_INET6, address, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(options->port);
		return FG_OK;
	}
	return fg_error_set(
		err, FG_EINVAL,
		"'%s' is no address to listen on: expected one like 127.0.0.1, 0.0.0.0 or ::1",
		address);
}

/*
 * While the server stops, who comes is turned away, and comes again.  MHD_quiesce_daemon() is for
 * this, but it and the threads of the pool take the listening socket out of their epoll sets in
 * each other's way: whoever is second ends the process.
 */
static enum MHD_Result let_in(void *context, const struct sockaddr *address, socklen_t size)
{
	const struct fg_server *server = context;

	(void)address;
	(void)size;
	return atomic_load(&server->draining) ? MHD_NO : MHD_YES;
}

static int listen_now(struct fg_server *server, struct fg_error *err)
{
	struct sockaddr_storage address = {0};
	const union MHD_DaemonInfo *info = NULL;
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem tls[3] = {
		{MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}};
	int status = make_address(&server->options, &address, err);

	if (status != FG_OK)
		return status;
	if (address.ss_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	if (server->certificate) {
		flags |= MHD_USE_TLS;
		tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, server->certificate};
		tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, server->key};
	}
	server->daemon = MHD_start_daemon(
		flags, server->options.port, let_in, server, fg_http_access, server,
		MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_THREAD_POOL_SIZE,
		(unsigned)LINE_THREADS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		server->options.behind_proxy ? 0U : (unsigned)CONNECTIONS_OF_ONE,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
		MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_NOTIFY_COMPLETED,
		fg_http_completed, server, MHD_OPTION_NOTIFY_CONNECTION, fg_connections_notice,
		server->lines, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (!server->daemon)
		return fg_error_errno(
			err, FG_ENET, "cannot listen on %s port %d%s",
			server->options.address ? server->options.address : "127.0.0.1",
			server->options.port, server->certificate ? " with these TLS files" : "");
	info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
	server->port = info ? info->port : server->options.port;
	return FG_OK;
}

static int read_tls(struct fg_server *server, struct fg_error *err)
{
	size_t size = 0;
	int status = FG_OK;

	if (!server->options.tls_certificate && !server->options.tls_key)
		return FG_OK;
	if (!server->options.tls_certificate || !server->options.tls_key)
		return fg_error_set(err, FG_EINVAL, "TLS needs both a certificate and its key");
	status = fg_fs_read(server->options.tls_certificate, PEM_MAX_BYTES, &server->certificate,
			    &size, err);
	if (status == FG_OK)
		status = fg_fs_read(server->options.tls_key, PEM_MAX_BYTES, &server->key, &size,
				    err);
	return status;
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
}

void fg_init_wake(pthread_cond_t *wake)
{
	pthread_condattr_t attributes;

	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(wake, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

int fg_server_start(const struct fg_server_options *options, struct fg_server **server,
		    struct fg_error *err)
{
	struct fg_server *s = fg_xcalloc(1, sizeof(*s));
	struct fg_store *store = NULL;
	int status = FG_OK;

	s->options = *options;
	set_defaults(&s->options);
	s->database = fg_xstrdup(options->database);
	s->started_ns = fg_clock_wall_ns();
	(void)pthread_mutex_init(&s->lock, NULL);
	fg_init_wake(&s->wake);
	s->ids = fg_ids_new();
	s->dictionaries = fg_dictionaries_new();
	s->limiter = fg_limiter_new(s->options.requests_per_minute);
	raise_file_limit();
	store = fg_server_session(s, err);
	s->is_open = is_loopback(options) && !options->behind_proxy;
	if (store)
		s->database_shown = fg_xstrdup(fg_store_location(store));
	status = store ? check_exposure(s, store, err) : (err ? (int)err->code : FG_EDB);
	fg_session_back(s, store);
	if (status == FG_OK)
		status = read_tls(s, err);
	if (status == FG_OK && !options->read_only)
		status = fg_writer_start(s, &s->writer, err);
	if (status == FG_OK && !options->read_only)
		s->has_background = pthread_create(&s->background, NULL, seal_tiles, s) == 0;
	if (status == FG_OK)
		status = fg_workers_start(s->options.threads, &s->workers, err);
	if (status == FG_OK)
		status = fg_connections_start(s->options.headers_ns, s->options.request_ns,
					      &s->lines, err);
	if (status == FG_OK)
		status = listen_now(s, err);
	if (status != FG_OK) {
		fg_server_stop(s);
		return status;
	}
	*server = s;
	return FG_OK;
}

bool fg_server_needs_token(const struct fg_server *server)
{
	return server->needs_token;
}

uint16_t fg_server_port(const struct fg_server *server)
{
	return server->port;
}

void fg_server_stop(struct fg_server *server)
{
	if (!server)
		return;
	/* Nobody new is let in; what has come is answered; then the lines are cut. */
	atomic_store(&server->draining, true);
	fg_workers_stop(server->workers);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	fg_connections_stop(server->lines);
	fg_writer_stop(server->writer);
	fg_workers_free(server->workers);
	(void)pthread_mutex_lock(&server->lock);
	server->stopping = true;
	(void)pthread_cond_broadcast(&server->wake);
	(void)pthread_mutex_unlock(&server->lock);
	if (server->has_background)
		(void)pthread_join(server->background, NULL);
	for (size_t i = 0; i < server->idle_count; i++)
		fg_store_close(server->idle[i]);
	free(server->idle);
	fg_dictionaries_free(server->dictionaries);
	fg_ids_free(server->ids);
	fg_limiter_free(server->limiter);
	if (server->key)
		memset(server->key, 0, strlen(server->key));
	free(server->key);
	free(server->certificate);
	free(server->database);
	free(server->database_shown);
	(void)pthread_mutex_destroy(&server->lock);
	(void)pthread_cond_destroy(&server->wake);
	free(server);
}
