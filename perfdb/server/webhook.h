/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a project's webhook for runs that regressed, crept up or failed, and for change points that
 * a run confirms. One background thread makes the calls; it reads the run and writes the message
 * just before sending. Private to perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_WEBHOOK_H
#define FG_PERFDB_SERVER_WEBHOOK_H

#include "base/error.h"
#include "base/strbuf.h"

struct fg_server;

/*
 * Starts the thread, server->webhooks; wake it if a call is due. A call in progress can delay the
 * thread's stop by five seconds.
 */
int fg_webhooks_start(struct fg_server *server, struct fg_error *err) FG_NODISCARD;
/* Allows public addresses and the addresses in `allowed`, an fg_ranges; used as fg_http_admits. */
bool fg_webhook_admits(void *allowed, const char *address);

struct fg_webhook_value {
	const char *place; /* "{branch}"; NULL ends an array */
	const char *value;
};

/*
 * Replaces placeholders with their values. Values are escaped and cut, so that a string in the
 * template remains one string.
 */
void fg_webhook_fill(const char *template, const struct fg_webhook_value *values,
		     struct fg_strbuf *body);

#endif
