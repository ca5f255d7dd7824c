/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP request after the other over one connection, and the wait before a retry. The only HTTP
 * client: for runs (client.h), results (post.h) and the server's webhooks.
 */
#ifndef FG_PERFDB_CLIENT_HTTP_H
#define FG_PERFDB_CLIENT_HTTP_H

#include "base/error.h"
#include "base/random.h"
#include "base/strbuf.h"

#include <signal.h>

struct fg_http;

/* May a connection be made to this numeric address? */
typedef bool fg_http_admits(void *context, const char *address);

struct fg_http_options {
	const char *url;
	bool url_is_secret;       /* the URL grants access: only its host appears in messages */
	const char *token;        /* NULL: none; never appears in a message */
	const char *token_header; /* NULL: "Authorization: Bearer" */
	const char *ca_file;      /* NULL: the system's certificates */
	int64_t timeout_ns;       /* of one request; 0: 60 s */
	size_t reply_max_bytes;   /* 0: 64 KiB */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	/*
	 * Asked about each address of the server's name when a connection is made, so that earlier
	 * lookups do not count. No proxy is used then. NULL: all are admitted.
	 */
	fg_http_admits *admits;
	void *context; /* for `admits` */
	bool needs_tls;
};

struct fg_http_request {
	const char *method;         /* "HEAD", "GET", "POST", "PATCH", "PUT" */
	const char *path;           /* appended to the server's URL */
	const char *const *headers; /* NULL-terminated; may be NULL */
	const void *body;
	size_t body_size;
};

struct fg_http_reply {
	long status;            /* 0: no reply */
	int64_t retry_after_ns; /* -1: not given */
	struct fg_strbuf body;  /* bounded */
	bool was_refused;       /* `admits` rejected every address */
};

/* Everything that `options` points to must outlive the connection. */
int fg_http_open(const struct fg_http_options *options, struct fg_http **http, struct fg_error *err)
	FG_NODISCARD;
/*
 * FG_OK: there was a reply, whatever its status. FG_ENET: no reply. The caller releases the
 * reply's body.
 */
int fg_http_send(struct fg_http *http, const struct fg_http_request *request,
		 struct fg_http_reply *reply, struct fg_error *err) FG_NODISCARD;
void fg_http_close(struct fg_http *http);

/* A temporary failure: 408, 425, 429, 5xx, no reply. */
bool fg_http_is_passing(long status);
/* FG_ENET with the server's message, cleaned and bounded. It may contain anything but our token. */
int fg_http_describe(const struct fg_http *http, const struct fg_http_reply *reply,
		     struct fg_error *err);

struct fg_http_patience {
	int64_t first_wait_ns;   /* before the second attempt; 0: 500 ms */
	int64_t longest_wait_ns; /* also the most that Retry-After can ask for; 0: 30 s */
	const volatile sig_atomic_t *interrupted; /* ends a wait; may be NULL */
	struct fg_random random;
};

void fg_http_patience_init(struct fg_http_patience *patience);
/* Waits after attempt `attempt` (from 1) failed: twice as long each time, half of it random. */
void fg_http_wait(struct fg_http_patience *patience, unsigned attempt, int64_t retry_after_ns);

#endif
