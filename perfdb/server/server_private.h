/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by all requests of one server. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_SERVER_PRIVATE_H
#define FG_PERFDB_SERVER_SERVER_PRIVATE_H

#include "perfdb/server/server.h"
#include "perfdb/server/threads.h"

#include <microhttpd.h>
#include <stdatomic.h>

enum {
	FG_ROUTE_MAX = 64,
	FG_LATENCY_STEPS = 8,
	FG_BODY_SHARES = 256
};

/* Counters since the start, shown by /metrics. */
struct fg_counters {
	atomic_ullong requests[FG_ROUTE_MAX];
	atomic_ullong microseconds[FG_ROUTE_MAX];
	atomic_ullong answers[6]; /* by the first digit of the status */
	atomic_ullong runs_stored;
	atomic_ullong runs_known;
	atomic_ullong over_quota;
	atomic_ullong bytes_in;
	atomic_ullong limited;
	atomic_ullong failed_tokens;
	atomic_ullong faster[FG_LATENCY_STEPS]; /* answers within each bound in fg_latency_us */
};

struct fg_server {
	struct fg_server_options options;
	char *database_shown; /* without the password, for the log */
	bool is_local;        /* can be reached only from this machine */
	struct MHD_Daemon *daemon;
	uint16_t port;
	char *certificate;
	char *key;
	struct fg_sessions *sessions;
	struct fg_replica *replica; /* may be NULL */
	struct fg_limiter *requests;
	struct fg_limiter *noted;             /* limits notes to one per minute and subject */
	struct fg_recent_tokens *good_tokens; /* tokens that worked recently */
	struct fg_ranges *proxies;
	char *cookie_name;        /* cookie for the secret */
	struct fg_writer *writer; /* NULL if read-only */
	struct fg_workers *workers;
	struct fg_watcher *watcher;
	struct fg_background webhooks; /* not started if read-only */
	struct fg_ranges *webhook_ranges;
	struct fg_health *health;
	struct fg_connections *connections;
	atomic_size_t body_bytes;                  /* bytes of all request bodies in progress */
	atomic_size_t body_shares[FG_BODY_SHARES]; /* body_bytes by token or address */
	atomic_bool draining;
	struct fg_counters counters;
	const struct fg_route *routes; /* the routes that the counters belong to */
	size_t route_count;
	int64_t started_ns;
};

/* ---- http.c ---- */

/* Creates a request when its first line has arrived. */
void *fg_http_line(void *context, const char *line, struct MHD_Connection *connection);
enum MHD_Result fg_http_access(void *context, struct MHD_Connection *connection, const char *url,
			       const char *method, const char *version, const char *data,
			       size_t *size, void **request);
void fg_http_completed(void *context, struct MHD_Connection *connection, void **request,
		       enum MHD_RequestTerminationCode code);

/* ---- listen.c ---- */

enum {
	FG_LISTEN_CONNECTIONS = 4096
};

/* Returns the address to listen on: the option, or 127.0.0.1. */
const char *fg_listen_address(const struct fg_server_options *options);
bool fg_listen_is_loopback(const struct fg_server_options *options);
/* Starts libmicrohttpd; sets the server's daemon and port. */
int fg_listen_start(struct fg_server *server, struct fg_error *err) FG_NODISCARD;

#endif
