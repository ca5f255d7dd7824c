/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP server on loopback that sends scripted answers and records the requests. */
#ifndef FG_TESTS_SCRIPTED_SERVER_H
#define FG_TESTS_SCRIPTED_SERVER_H

#include "tests/support/loopback.h"

#include <pthread.h>
#include <stddef.h>

struct fg_script_reply {
	int status;          /* 0: closes the connection instead */
	const char *headers; /* "Retry-After: 1\r\n"; NULL: none */
	const char *body;    /* NULL: empty */
};

enum {
	FG_SCRIPT_MAX_REQUESTS = 64
};

struct fg_script_server {
	char url[FG_LOOPBACK_URL_SIZE];
	/* one per request; the last one answers all further requests */
	const struct fg_script_reply *replies;
	size_t reply_count;
	char *requests[FG_SCRIPT_MAX_REQUESTS]; /* head and body */
	size_t request_count;
	int listener;
	pthread_t thread;
};

void fg_script_start(struct fg_script_server *server, const struct fg_script_reply *replies,
		     size_t reply_count);
/* Stops the server; then the requests may be read. */
void fg_script_stop(struct fg_script_server *server);
void fg_script_release(struct fg_script_server *server);

#endif
