// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/webhook.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "perfdb/client/http.h"
#include "perfdb/server/api/card.h"
#include "perfdb/server/ranges.h"
#include "perfdb/server/server.h"
#include "perfdb/server/threads.h"
#include "perfdb/server/watcher.h"
#include "store/store.h"

#include <math.h>

enum {
	TIMEOUT_SECONDS = 5, /* per call */
	ATTEMPTS_MAX = 10,
	TEXT_MAX_BYTES = 4096, /* limit of an address or template */
	VALUE_MAX_BYTES = 2000,
};

struct fg_webhooks {
	struct fg_sessions *sessions;
	const struct fg_server_options *options;
	struct fg_ranges *allowed;
	struct fg_background calls;
};

/* ---- the message ---- */

/* Clean text has no control characters, so only these two need an escape in JSON. */
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
		if (!v->place) {
			fg_strbuf_add_char(body, *template ++);
			continue;
		}
		add_value(body, v->value);
		template += strlen(v->place);
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

/* A placeholder outside a string is not JSON. */
static int check_template(const char *template, struct fg_error *err)
{
	cJSON *json = NULL;
	const bool is_good =
		fg_json_parse(template, strlen(template), TEXT_MAX_BYTES, &json, NULL) == FG_OK &&
		cJSON_IsObject(json);

	cJSON_Delete(json);
	if (is_good)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "'template': expected a JSON object with placeholders inside strings");
}

int fg_webhooks_check(const struct fg_webhooks *h, const char *url, const char *template,
		      struct fg_error *err)
{
	const char *visible = url;

	while (*visible > ' ' && *visible < 0x7f && *visible != '@')
		visible++;
	if (*visible || strlen(url) > TEXT_MAX_BYTES ||
	    !(fg_text_starts_with(url, "https://") ||
	      (h->options->webhooks.allows_plain && fg_text_starts_with(url, "http://"))))
		return fg_error_set(err, FG_EINVAL,
				    "'url': expected https://HOST/... without a user (the server's "
				    "option --webhook-http also allows http://)");
	return check_template(template, err);
}

/* Makes the call. FG_ENET: the same call may succeed later. */
static int deliver(const struct fg_webhooks *h, const char *url, const char *body,
		   struct fg_error *err)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	const struct fg_webhook_options *allowed = &h->options->webhooks;
	const struct fg_http_options options = {
		.url = url,
		.url_is_secret = true,
		.ca_file = allowed->ca_file,
		.timeout_ns = TIMEOUT_SECONDS * FG_NS_PER_S,
		.admits = fg_webhook_admits,
		.context = h->allowed,
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

static int make_call(const struct fg_webhooks *h, struct fg_store *store,
		     const struct fg_webhook_call *call, struct fg_error *err)
{
	struct fg_strbuf body = {0};
	struct fg_error why = {0};
	int status = write_message(store, call, h->options->public_url, &body, &why);

	if (status == FG_OK && body.length)
		status = deliver(h, call->hook.url, body.data, &why);
	fg_strbuf_release(&body);
	return fg_store_webhook_settle(store, call,
				       status == FG_OK || status == FG_EINVAL ||
					       call->attempts >= ATTEMPTS_MAX,
				       status == FG_OK ? NULL : why.message, err);
}

/* Returns false if nothing is due or the database fails. */
static bool call_next(void *context)
{
	const struct fg_webhooks *h = context;
	struct fg_webhook_call call = {0};
	struct fg_arena arena = {0};
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(h->sessions, &err);
	int status = FG_ENET;

	if (store)
		status = fg_store_webhook_claim(store, h->options->webhooks.retry_ns, &arena, &call,
						&err);
	if (status == FG_OK)
		status = make_call(h, store, &call, &err);
	fg_sessions_give_back(h->sessions, store);
	if (status != FG_OK && status != FG_ENOENT)
		fg_log(FG_LOG_SERVER, 1, "a webhook call: %s", err.message);
	fg_arena_release(&arena);
	return status == FG_OK;
}

int fg_webhooks_start(struct fg_sessions *sessions, const struct fg_server_options *options,
		      struct fg_webhooks **hooks, struct fg_error *err)
{
	struct fg_webhooks *h = fg_xcalloc(1, sizeof(*h));
	int status = FG_OK;

	*hooks = h;
	h->sessions = sessions;
	h->options = options;
	h->calls = (struct fg_background){.name = "webhooks",
					  .work = call_next,
					  .context = h,
					  .pause_ns = options->webhooks.retry_ns};
	status = fg_ranges_new(options->webhooks.allowed.items, options->webhooks.allowed.count,
			       &h->allowed, err);
	return status == FG_OK ? fg_background_start(&h->calls, err) : status;
}

void fg_webhooks_stop(struct fg_webhooks *h)
{
	if (!h)
		return;
	fg_background_stop(&h->calls);
	fg_ranges_free(h->allowed);
	free(h);
}

void fg_webhooks_wake(struct fg_webhooks *h)
{
	fg_background_wake(&h->calls);
}
