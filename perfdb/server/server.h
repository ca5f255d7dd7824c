/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perfdb server: a team's runs in one place, over HTTP.
 *
 *	fg_server_start() → it serves from threads of its own → fg_server_stop()
 *
 * Two threads of libmicrohttpd move bytes.  A pool of ours answers (workers.c), each request with a
 * database session that it borrows.  Uploads are stored one after the other (writer.c).  One
 * thread calls webhooks (webhook.c).  stop() lets requests in progress finish, then ends.
 *
 * Nothing is done without a token, the key of options.secret, or a name from a trusted proxy; with
 * options.anonymous_read, everybody reads.
 */
#ifndef FG_PERFDB_SERVER_SERVER_H
#define FG_PERFDB_SERVER_SERVER_H

#include "base/base.h"
#include "base/error.h"

struct fg_server;

struct fg_webhook_options {
	const char *const *allowed; /* ranges of local and private addresses that may be called */
	size_t allowed_count;
	bool allows_plain;   /* http:// as well */
	const char *ca_file; /* NULL: the system's */
	int64_t retry_ns;    /* before the second attempt, then twice as long each time; 0: 10 s */
};

struct fg_server_options {
	const char *database;        /* path or postgresql:// URL */
	const char *read_database;   /* a replica of it, for questions; NULL: none */
	const char *address;         /* NULL: 127.0.0.1 */
	uint16_t port;               /* 0: any that is free */
	const char *tls_certificate; /* PEM files; NULL: no TLS */
	const char *tls_key;
	/* Hosts that requests may name, besides loopback; none: see below. */
	const char *const *hosts;
	size_t host_count;
	/* Proxies whose headers are trusted; none: those on loopback if behind_proxy. */
	const char *const *proxies;
	size_t proxy_count;
	/* People who sign in, in addition to tokens. */
	const char *user_header;   /* a trusted proxy names the person in it; NULL: none */
	const char *groups_header; /* header with their groups, separated by commas; NULL: none */
	const char *secret;        /* every request must know it, and needs no token; NULL: none */
	const char *public_url;    /* the server's address for browsers; NULL: unknown */
	struct fg_webhook_options webhooks;
	bool behind_proxy;   /* TLS is the proxy's: listening wider without certificates is fine */
	bool read_only;      /* nothing is stored, no upload is taken */
	bool anonymous_read; /* no token is needed to read */
	size_t body_limit_bytes;      /* per request; 0: FG_WIRE_MAX_BYTES */
	size_t bodies_limit_bytes;    /* for all requests in progress; 0: 512 MiB */
	unsigned requests_per_minute; /* per token or address; 0: 6000 */
	unsigned threads;             /* worker threads; 0: 16 */
	int64_t headers_ns;           /* time limit for the headers of a request; 0: a minute */
	int64_t request_ns; /* time from there until the answer is read; 0: five minutes */
	int log_fd;         /* one line of JSON per request; negative: none */
};

int fg_server_start(const struct fg_server_options *options, struct fg_server **server,
		    struct fg_error *err) FG_NODISCARD;
uint16_t fg_server_port(const struct fg_server *server);
void fg_server_stop(struct fg_server *server); /* NULL is fine */

#endif
