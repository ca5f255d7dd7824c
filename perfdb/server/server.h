/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perfdb server: a team's runs in one place, over HTTP.
 *
 *	fg_server_start() → serves from its own threads → fg_server_stop()
 *
 * Two threads of libmicrohttpd move bytes. A pool of workers answers requests (workers.c), each
 * with a borrowed database session. Uploads are stored one after the other (writer.c). One thread
 * calls webhooks (webhook.c). stop() lets requests in progress finish, then ends.
 *
 * Every route with a scope (routes.c) needs a token, the key of options.secret, or a name from a
 * trusted proxy; with options.anonymous_read, everybody may read.
 */
#ifndef FG_PERFDB_SERVER_SERVER_H
#define FG_PERFDB_SERVER_SERVER_H

#include "base/base.h"
#include "base/error.h"
#include "base/options.h"

struct fg_server;

struct fg_webhook_options {
	/* ranges of local and private addresses that may be called */
	struct fg_option_list allowed;
	bool allows_plain;   /* also allow http:// */
	const char *ca_file; /* NULL: the system's certificates */
	int64_t retry_ns;    /* wait before the second attempt, doubled each time; 0: 10 s */
};

struct fg_server_options {
	const char *database;        /* path or postgresql:// URL */
	const char *read_database;   /* a replica of the database, for queries; may be NULL */
	const char *address;         /* NULL: 127.0.0.1 */
	uint16_t port;               /* 0: any free port */
	const char *tls_certificate; /* PEM files; NULL: no TLS */
	const char *tls_key;
	/* host names that requests may use besides loopback; empty: any, or none with `secret` */
	struct fg_option_list hosts;
	/*
	 * Proxies whose headers are trusted; with behind_proxy, an empty list trusts proxies on
	 * loopback.
	 */
	struct fg_option_list proxies;
	const char *user_header;   /* names the person, as sent by a trusted proxy; may be NULL */
	const char *groups_header; /* lists the person's groups, separated by commas; may be NULL */
	const char *secret;        /* key that requests send instead of a token; may be NULL */
	const char *public_url;    /* the server's address for browsers; NULL: unknown */
	struct fg_webhook_options webhooks;
	bool behind_proxy;            /* a proxy terminates TLS: no certificate is needed */
	bool read_only;               /* nothing is stored and no upload is accepted */
	bool anonymous_read;          /* reading needs no token */
	uint64_t body_limit_bytes;    /* limit of a run's body; 0: FG_WIRE_MAX_BYTES */
	size_t bodies_limit_bytes;    /* limit of all bodies in progress; 0: 512 MiB */
	unsigned requests_per_minute; /* limit per token or address; 0: 6000 */
	unsigned threads;             /* worker threads; 0: 16 */
	int64_t headers_ns;           /* time limit for a request's headers; 0: a minute */
	int64_t request_ns; /* time limit from the headers until the answer is read; 0: five minutes */
	int log_fd;         /* one line of JSON per request; negative: no log */
};

int fg_server_start(const struct fg_server_options *options, struct fg_server **server,
		    struct fg_error *err) FG_NODISCARD;
uint16_t fg_server_port(const struct fg_server *server);
void fg_server_stop(struct fg_server *server); /* NULL is fine */

#endif
