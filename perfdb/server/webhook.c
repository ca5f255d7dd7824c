// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/webhook.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "perfdb/client/http.h"
#include "perfdb/server/api/card.h"
#include "perfdb/server/ranges.h"
#include "perfdb/server/server_private.h"
#include "perfdb/server/sessions.h"
#include "perfdb/server/watcher.h"
#include "store/serving/webhook.h"
#include "store/store.h"

#include <math.h>

enum {
	TIMEOUT_SECONDS = 5, /* time limit of a call */
	ATTEMPTS_MAX = 10,
	VALUE_MAX_BYTES = 2000,
};

/* ---- the message ---- */

/* Clean text has no control characters, so JSON needs an escape only for '"' and '\'. */
static void add_value(struct fg_strbuf *body, const char *value)
{
	struct fg_strbuf clean = {0};

	fg_text_add_clean(&clean, value ? value : "", value ? strlen(value) : 0, VALUE_MAX_BYTES);
	for (const char *c = fg_strbuf_text(&clean); *c; c++) {
		if (*c == '"' || *c == '\\')
			fg_strbuf_add_char(body, '\\');
		fg_strbuf_add_char(body, *c);
	}
	fg_strbuf_release(&clean);
}

void fg_webhook_fill(const char *template, const struct fg_webhook_value *values,
		     struct fg_strbuf *body)
{
	while (*template) {
		const struct fg_webhook_value *v = values;

		while (v->place && !fg_text_starts_with(template, v->place))
			v++;
		if (v->place) {
			add_value(body, v->value);
			template += strlen(v->place);
		} else {
			fg_strbuf_add_char(body, *template ++);
		}
	}
}

static int add_changes(struct fg_store *store, const struct fg_run *run,
		       const struct fg_series *series, struct fg_strbuf *summary,
		       struct fg_error *err)
{
	for (size_t m = 0; m < series->metric_count; m++) {
		const struct fg_metric *metric = &series->metrics[m];
		const struct fg_watch_place place = {
			.project = run->project, .benchmark = series->name, .metric = metric->name};
		struct fg_watched_change c;
		char change[FG_NUMBER_TEXT_SIZE];

		if (!metric->gated)
			continue;
		FG_TRY(fg_watcher_confirmed(store, &place, run->id, &c, err));
		if (*c.run && fabs(c.after - c.before) >= metric->min_effect * fabs(c.before))
			fg_strbuf_printf(summary, "%schange point: %s %s %s",
					 summary->length ? "; " : "", series->name, metric->label,
					 fg_format_change(c.after / c.before - 1, change));
	}
	return FG_OK;
}

/* Writes the message about a run; `body` stays empty if there is nothing to report. */
static int write_message(struct fg_store *store, const struct fg_webhook_call *call,
			 const char *public_url, struct fg_strbuf *body, struct fg_error *err)
{
	static const char *const bad[] = {"regression", "creep", "error"};
	const char *server = public_url ? public_url : "";
	struct fg_stored_run stored = {0};
	struct fg_strbuf summary = {0};
	const char *verdict = NULL;
	int status = fg_store_load_run(store, call->run, &stored, err);

	if (status != FG_OK)
		return status == FG_ENOENT ? FG_OK : status; /* run was removed */
	if (stored.outcome && FG_TEXT_IS_AMONG(stored.outcome, bad)) {
		verdict = stored.outcome;
		(void)fg_cards_add_sentence(store, call->run, &summary);
	}
	for (size_t i = 0; i < stored.run.series_count && status == FG_OK; i++)
		status = add_changes(store, &stored.run, &stored.run.series[i], &summary, err);
	if (status == FG_OK && (verdict || summary.length)) {
		const struct fg_side *side = &stored.run.sides[FG_ARM_CANDIDATE];
		char *url = fg_xasprintf("%s%s?view=run&run=%s", server,
					 fg_text_ends_with(server, "/") ? "" : "/", call->run);

		fg_webhook_fill(call->hook.template,
				(const struct fg_webhook_value[]){
					{"{branch}", side->branch},
					{"{commit}", side->commit},
					{"{project}", call->project},
					{"{run}", call->run},
					{"{summary}", fg_strbuf_text(&summary)},
					{"{url}", url},
					{"{verdict}", verdict ? verdict : "change"},
					{NULL, NULL}},
				body);
		free(url);
	}
	fg_strbuf_release(&summary);
	fg_stored_run_release(&stored);
	return status;
}

/* ---- the call ---- */

bool fg_webhook_admits(void *allowed, const char *text)
{
	struct fg_address address;

	return fg_address_parse(text, &address) &&
	       (fg_ranges_have(allowed, &address) || fg_address_is_public(&address));
}

/* FG_ENET: the same call may succeed later. */
static int deliver(const struct fg_server *server, const char *url, const char *body,
		   struct fg_error *err)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	const struct fg_webhook_options *allowed = &server->options.webhooks;
	const struct fg_http_options options = {
		.url = url,
		.url_is_secret = true,
		.ca_file = allowed->ca_file,
		.timeout_ns = TIMEOUT_SECONDS * FG_NS_PER_S,
		.admits = fg_webhook_admits,
		.context = server->webhook_ranges,
		.needs_tls = !allowed->allows_plain,
	};
	const struct fg_http_request request = {
		.method = "POST",
		.path = "",
		.headers = headers,
		.body = body,
		.body_size = strlen(body),
	};
	struct fg_http_reply reply = {0};
	struct fg_http *http = NULL;
	int status = FG_OK;

	FG_TRY(fg_http_open(&options, &http, err));
	status = fg_http_send(http, &request, &reply, err);
	/* Messages do not contain the answer's body, which may come from the internal network. */
	if (reply.was_refused)
		status = fg_error_set(
			err, FG_EINVAL,
			"the webhook's address is local or private: this server calls such "
			"addresses only with --webhook-allow");
	else if (status == FG_OK && (reply.status < 200 || reply.status >= 300))
		status = fg_error_set(err, fg_http_is_passing(reply.status) ? FG_ENET : FG_EINVAL,
				      "the webhook answered %ld", reply.status);
	fg_strbuf_release(&reply.body);
	fg_http_close(http);
	return status;
}

static int make_call(const struct fg_server *server, struct fg_store *store,
		     const struct fg_webhook_call *call, struct fg_error *err)
{
	struct fg_strbuf body = {0};
	struct fg_error why = {0};
	int status = write_message(store, call, server->options.public_url, &body, &why);

	if (status == FG_OK && body.length)
		status = deliver(server, call->hook.url, body.data, &why);
	fg_strbuf_release(&body);
	return fg_store_webhook_settle(store, call,
				       status == FG_OK || status == FG_EINVAL ||
					       call->attempts >= ATTEMPTS_MAX,
				       status == FG_OK ? NULL : why.message, err);
}

/* Returns false if nothing is due or the database fails. */
static bool call_next(void *context)
{
	const struct fg_server *server = context;
	struct fg_webhook_call call = {0};
	struct fg_arena arena = {0};
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(server->sessions, &err);
	int status = store ? fg_store_webhook_claim(store, server->options.webhooks.retry_ns,
						    &arena, &call, &err)
			   : FG_ENET;

	if (status == FG_OK)
		status = make_call(server, store, &call, &err);
	fg_sessions_give_back(server->sessions, store);
	if (status != FG_OK && status != FG_ENOENT)
		fg_log(FG_LOG_SERVER, 1, "a webhook call: %s", err.message);
	fg_arena_release(&arena);
	return status == FG_OK;
}

int fg_webhooks_start(struct fg_server *server, struct fg_error *err)
{
	const struct fg_webhook_options *options = &server->options.webhooks;

	server->webhooks = (struct fg_background){.name = "webhooks",
						  .work = call_next,
						  .context = server,
						  .pause_ns = options->retry_ns};
	FG_TRY(fg_ranges_new(options->allowed.items, options->allowed.count,
			     &server->webhook_ranges, err));
	return fg_background_start(&server->webhooks, err);
}
