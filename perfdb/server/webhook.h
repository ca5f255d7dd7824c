/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A project's webhook hears of runs that regressed or failed, and of change points that a run
 * confirms.  One background thread makes the calls; it reads the run and writes the message when it
 * sends it.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_WEBHOOK_H
#define FG_PERFDB_SERVER_WEBHOOK_H

#include "base/strbuf.h"
#include "perfdb/server/sessions.h"
#include "store/serving/webhook.h"

#define FG_WEBHOOK_TEMPLATE "{\"text\": \"{project}: {summary} at {commit} on {branch} {url}\"}"

struct fg_server_options;
struct fg_store;
struct fg_webhooks;

/* *hooks is set also on failure. */
int fg_webhooks_start(struct fg_sessions *sessions, const struct fg_server_options *options,
		      struct fg_webhooks **hooks, struct fg_error *err) FG_NODISCARD;
/* Waits for a call in progress, for five seconds at most.  NULL is fine. */
void fg_webhooks_stop(struct fg_webhooks *hooks);
/* A call is due. */
void fg_webhooks_wake(struct fg_webhooks *hooks);
/* FG_EINVAL with the reason: nothing could ever be sent there, or in this form. */
int fg_webhooks_check(const struct fg_webhooks *hooks, const char *url, const char *template,
		      struct fg_error *err) FG_NODISCARD;
/* FG_ENET: the other end may take the same call later. */
int fg_webhooks_send(const struct fg_webhooks *hooks, const char *url, const char *body,
		     struct fg_error *err) FG_NODISCARD;
/* An fg_http_admits: a public address, or one in these fg_ranges. */
bool fg_webhook_admits(void *allowed, const char *address);

/* Placeholders of a template, in the order of their names. */
struct fg_webhook_values {
	const char *branch;
	const char *commit;
	const char *project;
	const char *run;
	const char *summary;
	const char *url;
	const char *verdict;
};

/* The values are escaped, so that a string of the template remains one string. */
void fg_webhook_fill(const char *template, const struct fg_webhook_values *values,
		     struct fg_strbuf *body);
/* Writes the message about a run; `body` stays empty if there is nothing to report. */
int fg_webhook_message(struct fg_store *store, const struct fg_webhook_call *call,
		       const char *public_url, struct fg_strbuf *body, struct fg_error *err)
	FG_NODISCARD;

#endif
