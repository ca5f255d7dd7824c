/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a project's webhook for runs that regressed or failed, and for change points that a run
 * confirms. One background thread makes the calls; it reads the run and writes the message just
 * before sending. Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_WEBHOOK_H
#define FG_PERFDB_SERVER_WEBHOOK_H

#include "base/strbuf.h"
#include "perfdb/server/sessions.h"
#include "store/serving/webhook.h"

#define FG_WEBHOOK_TEMPLATE "{\"text\": \"{project}: {summary} at {commit} on {branch} {url}\"}"

struct fg_server_options;
struct fg_webhooks;

/* *hooks is set even on failure; `options` must outlive *hooks. */
int fg_webhooks_start(struct fg_sessions *sessions, const struct fg_server_options *options,
		      struct fg_webhooks **hooks, struct fg_error *err) FG_NODISCARD;
/* Waits at most five seconds for a call in progress. NULL is fine. */
void fg_webhooks_stop(struct fg_webhooks *hooks);
/* Wakes the thread because a call is due. */
void fg_webhooks_wake(struct fg_webhooks *hooks);
/* FG_EINVAL with the reason: nothing could ever be sent to this address, or with this template. */
int fg_webhooks_check(const struct fg_webhooks *hooks, const char *url, const char *template,
		      struct fg_error *err) FG_NODISCARD;
/* An fg_http_admits for public addresses and the addresses in `allowed`, an fg_ranges. */
bool fg_webhook_admits(void *allowed, const char *address);

struct fg_webhook_value {
	const char *place; /* "{branch}"; NULL ends an array */
	const char *value;
};

/*
 * Replaces the places by the values. Values are escaped and cut, so that a string in the template
 * remains one string.
 */
void fg_webhook_fill(const char *template, const struct fg_webhook_value *values,
		     struct fg_strbuf *body);

#endif
