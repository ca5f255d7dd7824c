// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "perfdb/client/libcurl.h"
#include "perfdb/delivery/delivery.h"

#include <arpa/inet.h>

enum {
	TIMEOUT_SECONDS = 10,
	REPLY_MAX_BYTES = 4096,
};

static struct fg_http_options http_options(const struct fg_delivery_options *options,
					   const char *url)
{
	return (struct fg_http_options){
		.url = url,
		.url_is_secret = true,
		.ca_file = options->ca_file,
		.timeout_ns = TIMEOUT_SECONDS * FG_NS_PER_S,
		.reply_max_bytes = REPLY_MAX_BYTES,
		.admits = options->admits,
		.context = options->context,
		.needs_tls = !options->allows_plain,
	};
}

static bool has_only_visible(const char *text)
{
	while (*text > ' ' && *text < 0x7f)
		text++;
	return *text == '\0';
}

/* A host that is written as a number: it will not mean another one later. */
static bool is_refused_number(const struct fg_delivery_options *options, const char *url)
{
	CURLU *parsed = fg_curl.url();
	char *host = NULL;
	bool is_refused = false;

	if (options->admits && parsed &&
	    fg_curl.url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    fg_curl.url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
		const size_t length = strlen(host);
		char *bare = *host == '[' ? fg_xstrndup(host + 1, length - 2) : fg_xstrdup(host);
		struct in6_addr number;

		if (inet_pton(*host == '[' ? AF_INET6 : AF_INET, bare, &number) == 1)
			is_refused = !options->admits(options->context, bare);
		free(bare);
	}
	fg_curl.free(host);
	fg_curl.url_cleanup(parsed);
	return is_refused;
}

#define NOT_ADMITTED \
 "the webhook's address is a local or private one, which this server does not send to (--alert-allow)"

int fg_webhook_check(const struct fg_delivery_options *options, const char *url,
		     struct fg_error *err)
{
	const struct fg_http_options http = http_options(options, url);
	struct fg_http *opened = NULL;
	int status = FG_OK;

	if (strlen(url) > FG_WEBHOOK_URL_MAX || !has_only_visible(url))
		return fg_error_set(
			err, FG_EINVAL,
			"the webhook is no address: expected https://HOST/..., %d characters at most",
			FG_WEBHOOK_URL_MAX);
	if (strchr(url, '@'))
		return fg_error_set(err, FG_EINVAL,
				    "the webhook's address has an '@': no user can be given");
	if (!options->allows_plain && !fg_text_starts_with(url, "https://"))
		return fg_error_set(
			err, FG_EINVAL,
			"the webhook would be sent unencrypted: expected https:// (the server's option --alert-http allows http://)");
	status = fg_http_start(err);
	if (status != FG_OK)
		return status;
	if (is_refused_number(options, url))
		return fg_error_set(err, FG_EINVAL, "%s", NOT_ADMITTED);
	status = fg_http_open(&http, &opened, err);
	if (status != FG_OK)
		return status;
	fg_http_close(opened);
	return FG_OK;
}

/* What the other end says in its answer is shown to nobody: it may be a stranger's. */
static enum fg_delivery_result judge(const struct fg_http_reply *reply, struct fg_error *err)
{
	if (reply->status >= 200 && reply->status < 300)
		return FG_DELIVERY_DONE;
	(void)fg_error_set(err, FG_ENET, "the webhook answered %ld%s", reply->status,
			   reply->status >= 300 && reply->status < 400
				   ? ": redirections are not followed"
				   : "");
	return fg_http_is_passing(reply->status) ? FG_DELIVERY_LATER : FG_DELIVERY_NEVER;
}

static enum fg_delivery_result post(struct fg_http *http, const struct fg_delivery *delivery,
				    struct fg_http_reply *reply, struct fg_error *err)
{
	const size_t size = strlen(delivery->body);
	char *number = fg_xasprintf("X-Perfdb-Delivery: %lld", (long long)delivery->number);
	char *signature = NULL;
	enum fg_delivery_result result = FG_DELIVERY_LATER;

	if (delivery->secret) {
		char hex[FG_SHA256_HEX_SIZE];

		fg_hmac_sha256_hex(delivery->secret, strlen(delivery->secret), delivery->body, size,
				   hex);
		signature = fg_xasprintf("X-Perfdb-Signature-256: sha256=%s", hex);
	}
	{
		const char *headers[] = {"Content-Type: application/json", number, signature, NULL};
		const struct fg_http_request request = {.method = "POST",
							.path = "",
							.headers = headers,
							.body = delivery->body,
							.body_size = size};

		if (fg_http_send(http, &request, reply, err) == FG_OK)
			result = judge(reply, err);
		else if (reply->was_refused)
			(void)fg_error_set(err, FG_EINVAL, "%s", NOT_ADMITTED);
	}
	free(signature);
	free(number);
	return reply->was_refused ? FG_DELIVERY_NEVER : result;
}

enum fg_delivery_result fg_webhook_send(const struct fg_delivery_options *options,
					const struct fg_delivery *delivery, int64_t *wait_ns,
					struct fg_error *err)
{
	const struct fg_http_options http = http_options(options, delivery->target);
	struct fg_http_reply reply = {.retry_after_ns = -1};
	struct fg_http *opened = NULL;
	enum fg_delivery_result result = FG_DELIVERY_NEVER;

	*wait_ns = 0;
	if (fg_webhook_check(options, delivery->target, err) != FG_OK ||
	    fg_http_open(&http, &opened, err) != FG_OK)
		return FG_DELIVERY_NEVER;
	result = post(opened, delivery, &reply, err);
	if (reply.retry_after_ns > 0)
		*wait_ns = reply.retry_after_ns;
	fg_strbuf_release(&reply.body);
	fg_http_close(opened);
	return result;
}
