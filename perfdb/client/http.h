/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request after the other over one connection.  Inside perfdb/client/ only. */
#ifndef FG_PERFDB_CLIENT_HTTP_H
#define FG_PERFDB_CLIENT_HTTP_H

#include "base/strbuf.h"
#include "perfdb/client/client.h"

struct fg_http;

struct fg_http_request {
	const char *method;         /* "HEAD", "GET", "POST" */
	const char *path;           /* behind the server's URL */
	const char *const *headers; /* NULL at the end; may be NULL */
	const void *body;
	size_t body_size;
};

struct fg_http_reply {
	long status;            /* 0: no reply */
	int64_t retry_after_ns; /* -1: not said */
	struct fg_strbuf body;  /* bounded */
};

int fg__http_open(const struct fg_push_options *options, struct fg_http **http,
		  struct fg_error *err) FG_NODISCARD;
/* FG_OK: there was a reply, whatever it says.  FG_ENET: there was none.  Release the reply's body. */
int fg__http_send(struct fg_http *http, const struct fg_http_request *request,
		  struct fg_http_reply *reply, struct fg_error *err) FG_NODISCARD;
void fg__http_close(struct fg_http *http);

#endif
