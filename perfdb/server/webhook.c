// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/webhook.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "perfdb/client/http.h"
#include "perfdb/server/ranges.h"
#include "perfdb/server/server.h"
#include "perfdb/server/threads.h"
#include "perfdb/server/webhook_address_check.h"

enum {
	CLAIM_SECONDS = 60,  /* longer than any call takes */
	POLL_SECONDS = 5,    /* interval of the search for runs that other servers stored */
	TIMEOUT_SECONDS = 5, /* limit of one call */
	ATTEMPTS_MAX = 12,
	WAIT_MAX_SECONDS = 3600,
	TEXT_MAX_BYTES = 4096, /* address, template, answer */
};

#define REFUSED \
 "the webhook's address is a local or private one, which this server does not call (--webhook-allow)"

struct fg_webhooks {
	struct fg_sessions *sessions;
	struct fg_webhook_options options;
	struct fg_address_check *addresses;
	const char *public_url;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool has_thread;
	bool stopping;
};

/*
 * A host that is written as an address is refused when it is set.  Names, and every other spelling,
 * are checked when a connection is made.
 */
static bool is_refused_number(const struct fg_webhooks *h, const char *host)
{
	const bool is_six = *host == '[';
	char *bare = fg_xstrndup(host + is_six, strcspn(host + is_six, is_six ? "]" : ":/?#"));
	struct fg_address number;
	const bool is_refused =
		fg_address_parse(bare, &number) && !fg_address_check_admits(h->addresses, bare);

	free(bare);
	return is_refused;
}

/* With a word in place of each value, it is JSON only if all of them are inside strings. */
static int check_template(const char *template, struct fg_error *err)
{
	static const struct fg_webhook_values words = {"x", "x", "x", "x", "x", "x", "x"};
	struct fg_strbuf body = {0};
	cJSON *json = NULL;
	bool is_good = false;

	fg_webhook_fill(template, &words, &body);
	is_good = fg_json_parse(fg_strbuf_text(&body), body.length, TEXT_MAX_BYTES, &json, NULL) ==
			  FG_OK &&
		  cJSON_IsObject(json);
	cJSON_Delete(json);
	fg_strbuf_release(&body);
	if (is_good)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "'template': expected a JSON object with placeholders inside strings");
}

int fg_webhooks_check(const struct fg_webhooks *h, const char *url, const char *template,
		      struct fg_error *err)
{
	const bool is_plain = h->options.allows_plain && fg_text_starts_with(url, "http://");
	const char *visible = url;

	while (*visible > ' ' && *visible < 0x7f && *visible != '@')
		visible++;
	if (*visible || strlen(url) > TEXT_MAX_BYTES)
		return fg_error_set(err, FG_EINVAL,
				    "'url': expected https://HOST/... without a user");
	if (!is_plain && !fg_text_starts_with(url, "https://"))
		return fg_error_set(
			err, FG_EINVAL,
			"'url' would be called unencrypted: expected https:// (the server's option --webhook-http allows http://)");
	if (is_refused_number(h, strstr(url, "://") + 3))
		return fg_error_set(err, FG_EINVAL, REFUSED);
	return check_template(template, err);
}

/* The answer's body is not shown to anybody: it may come from the inside network. */
static int judge(const struct fg_http_reply *reply, int64_t *wait_ns, struct fg_error *err)
{
	if (reply->status >= 200 && reply->status < 300)
		return FG_OK;
	if (!fg_http_is_passing(reply->status))
		*wait_ns = -1;
	else if (reply->retry_after_ns > 0)
		*wait_ns = reply->retry_after_ns;
	return fg_error_set(err, FG_ENET, "the webhook answered %ld", reply->status);
}

int fg_webhooks_send(const struct fg_webhooks *h, const char *url, const char *body,
		     int64_t *wait_ns, struct fg_error *err)
{
	static const char *const headers[] = {"Content-Type: application/json", NULL};
	const struct fg_http_options options = {
		.url = url,
		.url_is_secret = true,
		.ca_file = h->options.ca_file,
		.timeout_ns = TIMEOUT_SECONDS * FG_NS_PER_S,
		.reply_max_bytes = TEXT_MAX_BYTES,
		.admits = fg_address_check_admits,
		.context = h->addresses,
		.needs_tls = !h->options.allows_plain,
	};
	const struct fg_http_request request = {
		.method = "POST",
		.path = "",
		.headers = headers,
		.body = body,
		.body_size = strlen(body),
	};
	struct fg_http_reply reply = {.retry_after_ns = -1};
	struct fg_http *http = NULL;
	int status = fg_http_open(&options, &http, err);

	*wait_ns = status == FG_OK ? 0 : -1;
	if (status != FG_OK)
		return status;
	status = fg_http_send(http, &request, &reply, err);
	if (status == FG_OK)
		status = judge(&reply, wait_ns, err);
	if (reply.was_refused) {
		*wait_ns = -1;
		status = fg_error_set(err, FG_EINVAL, REFUSED);
	}
	fg_strbuf_release(&reply.body);
	fg_http_close(http);
	return status;
}

/* 0: never. */
static int64_t again_at(const struct fg_webhooks *h, int64_t attempts, int64_t asked_ns)
{
	const int64_t most = WAIT_MAX_SECONDS * FG_NS_PER_S;
	int64_t wait = h->options.retry_ns;

	if (asked_ns < 0 || attempts >= ATTEMPTS_MAX)
		return 0;
	while (--attempts > 0 && wait < most)
		wait *= 2;
	wait = wait < asked_ns ? asked_ns : wait;
	return fg_clock_wall_ns() + (wait < most ? wait : most);
}

/* No session is held between `store` and the next one, because the other end may be slow. */
static int make_call(struct fg_webhooks *h, const struct fg_webhook_call *call,
		     struct fg_arena *arena, struct fg_strbuf *body, struct fg_error *err)
{
	struct fg_store *store = fg_sessions_borrow(h->sessions, err);
	struct fg_webhook hook = {0};
	struct fg_error why = {0};
	int64_t again_ns = 0;
	int64_t asked_ns = 0;
	int status = FG_ENET;

	if (store)
		status = fg_store_webhook_get(store, call->project, arena, &hook, err);
	if (status == FG_OK)
		status = fg_webhook_message(store, call, hook.template, h->public_url, body, err);
	fg_sessions_give_back(h->sessions, store);
	if (status != FG_OK)
		return status;
	if (body->length) {
		hook.problem = NULL;
		if (fg_webhooks_send(h, hook.url, fg_strbuf_text(body), &asked_ns, &why) != FG_OK) {
			hook.problem = why.message;
			again_ns = again_at(h, call->attempts, asked_ns);
		}
	}
	store = fg_sessions_borrow(h->sessions, err);
	status =
		store ? fg_store_webhook_settle(store, call, again_ns, hook.problem, err) : FG_ENET;
	fg_sessions_give_back(h->sessions, store);
	return status;
}

/* False: nothing is due, or it fails. */
static bool call_next(struct fg_webhooks *h)
{
	const int64_t until_ns = fg_clock_wall_ns() + CLAIM_SECONDS * FG_NS_PER_S;
	struct fg_webhook_call call = {0};
	struct fg_arena arena = {0};
	struct fg_strbuf body = {0};
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(h->sessions, &err);
	int status = FG_ENET;

	if (store)
		status = fg_store_webhook_claim(store, until_ns, &arena, &call, &err);
	fg_sessions_give_back(h->sessions, store);
	if (status == FG_OK)
		status = make_call(h, &call, &arena, &body, &err);
	if (status != FG_OK && status != FG_ENOENT)
		fg_log(FG_LOG_SERVER, 1, "a webhook call: %s", err.message);
	fg_strbuf_release(&body);
	fg_arena_release(&arena);
	return status == FG_OK;
}

static void *call_all(void *context)
{
	struct fg_webhooks *h = context;
	const int64_t poll_ns = POLL_SECONDS * FG_NS_PER_S;
	const int64_t wait_ns = h->options.retry_ns < poll_ns ? h->options.retry_ns : poll_ns;
	bool is_more = true;

	fg_thread_name("webhooks");
	(void)pthread_mutex_lock(&h->lock);
	while (!h->stopping) {
		if (!is_more)
			(void)fg_wake_wait(&h->wake, &h->lock, wait_ns);
		(void)pthread_mutex_unlock(&h->lock);
		is_more = call_next(h);
		(void)pthread_mutex_lock(&h->lock);
	}
	(void)pthread_mutex_unlock(&h->lock);
	return NULL;
}

int fg_webhooks_start(struct fg_sessions *sessions, const struct fg_server_options *options,
		      struct fg_webhooks **hooks, struct fg_error *err)
{
	struct fg_webhooks *h = fg_xcalloc(1, sizeof(*h));
	int status = FG_OK;

	*hooks = h;
	h->sessions = sessions;
	h->options = options->webhooks;
	h->public_url = options->public_url;
	(void)pthread_mutex_init(&h->lock, NULL);
	fg_wake_init(&h->wake);
	status = fg_address_check_new(h->options.allowed, h->options.allowed_count, &h->addresses,
				      err);
	if (status != FG_OK)
		return status;
	h->has_thread = pthread_create(&h->thread, NULL, call_all, h) == 0;
	return h->has_thread
		       ? FG_OK
		       : fg_error_set(err, FG_EIO, "cannot start the thread that calls webhooks");
}

void fg_webhooks_stop(struct fg_webhooks *h)
{
	if (!h)
		return;
	fg_wake_to_stop(&h->lock, &h->wake, &h->stopping);
	if (h->has_thread)
		(void)pthread_join(h->thread, NULL);
	fg_address_check_free(h->addresses);
	(void)pthread_mutex_destroy(&h->lock);
	(void)pthread_cond_destroy(&h->wake);
	free(h);
}

void fg_webhooks_wake(struct fg_webhooks *h)
{
	(void)pthread_mutex_lock(&h->lock);
	(void)pthread_cond_broadcast(&h->wake);
	(void)pthread_mutex_unlock(&h->lock);
}
