/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends HTTP requests over one connection, one after the other, and waits before retries. This is
 * the only HTTP client: for runs (client.h), results (post.h) and the server's webhooks.
 */
#ifndef FG_PERFDB_CLIENT_HTTP_H
#define FG_PERFDB_CLIENT_HTTP_H

#include "base/error.h"
#include "base/random.h"
#include "base/strbuf.h"

#include <signal.h>

struct fg_http;

/* May the client connect to this numeric address? */
typedef bool fg_http_admits(void *context, const char *address);

struct fg_http_options {
	const char *url;
	bool url_is_secret;       /* the URL itself grants access, so messages show only its host */
	const char *token;        /* may be NULL; never appears in a message */
	const char *token_header; /* NULL: "Authorization: Bearer" */
	const char *ca_file;      /* NULL: the system's certificates */
	int64_t timeout_ns;       /* time limit per request; 0: 60 s */
	size_t reply_max_bytes;   /* 0: 64 KiB */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	/*
	 * Called for each address of the server when a connection is made, so that an earlier
	 * lookup cannot bypass the check. With `admits`, no proxy is used. NULL admits all
	 * addresses.
	 */
	fg_http_admits *admits;
	void *context; /* passed to `admits` */
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
	long status;            /* 0 if there was no reply */
	int64_t retry_after_ns; /* -1 if the reply asks for no wait */
	struct fg_strbuf body;  /* at most reply_max_bytes */
	bool was_refused;       /* `admits` rejected an address, and no other worked */
};

/* Everything that `options` points to must outlive the connection. */
int fg_http_open(const struct fg_http_options *options, struct fg_http **http, struct fg_error *err)
	FG_NODISCARD;
/*
 * Returns FG_OK if there was a reply, whatever its status, FG_EINTERRUPTED after an interrupt, and
 * FG_ENET otherwise. The caller releases the reply's body.
 */
int fg_http_send(struct fg_http *http, const struct fg_http_request *request,
		 struct fg_http_reply *reply, struct fg_error *err) FG_NODISCARD;
void fg_http_close(struct fg_http *http);

/* Does the status mean a temporary failure: 408, 425, 429, 5xx, or 0 (no reply)? */
bool fg_http_is_passing(long status);
/*
 * Sets `err` to FG_ENET and the server's message, cleaned and shortened, and returns FG_ENET. A
 * message that contains our token is left out.
 */
int fg_http_describe(const struct fg_http *http, const struct fg_http_reply *reply,
		     struct fg_error *err);

struct fg_http_patience {
	int64_t first_wait_ns;                    /* wait before the second attempt; 0: 500 ms */
	int64_t longest_wait_ns;                  /* maximum wait; also caps Retry-After; 0: 30 s */
	const volatile sig_atomic_t *interrupted; /* ends a wait early; may be NULL */
	struct fg_random random;
};

void fg_http_patience_init(struct fg_http_patience *patience);
/*
 * Waits after attempt `attempt` (from 1): twice as long each time, with a random half, or for
 * `retry_after_ns` if that is longer; at most longest_wait_ns.
 */
void fg_http_wait(struct fg_http_patience *patience, unsigned attempt, int64_t retry_after_ns);

#endif
