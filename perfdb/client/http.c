// SPDX-License-Identifier: Apache-2.0
/*
 * libcurl behind five lines.  Certificates are checked; redirects are not followed, so that a token goes nowhere but
 * to the server that it was meant for; a token does not travel unencrypted except to this machine itself.  Proxies come
 * from the usual environment variables (https_proxy, no_proxy) and never see the token.
 */
#include "perfdb/client/http.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <curl/curl.h>
#include <pthread.h>

enum {
	REPLY_MAX_BYTES = 64 << 10,
	CONNECT_TIMEOUT_MS = 10000,
	SLOW_BYTES = 1,
	SLOW_SECONDS = 30
};

struct fg_http {
	CURL *curl;
	struct fg_push_options options;
	char *base;
	char curl_words[CURL_ERROR_SIZE];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

static bool is_loopback(const char *host)
{
	return host && (strcmp(host, "localhost") == 0 || fg_text_starts_with(host, "127.") ||
			strcmp(host, "[::1]") == 0);
}

static int check_url(const char *url, bool has_token, struct fg_error *err)
{
	CURLU *parsed = curl_url();
	char *scheme = NULL;
	char *host = NULL;
	int status = FG_OK;

	if (!parsed || curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK ||
	    curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
	    curl_url_get(parsed, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
	    (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		status = fg_error_set(err, FG_EINVAL,
				      "'%s' is no URL of a perfdb server: expected https://HOST",
				      url);
	else if (has_token && strcmp(scheme, "http") == 0 && !is_loopback(host))
		status = fg_error_set(
			err, FG_EINVAL,
			"the token would travel unencrypted to '%s': give an https:// URL", host);
	curl_free(scheme);
	curl_free(host);
	curl_url_cleanup(parsed);
	return status;
}

static size_t keep(char *data, size_t size, size_t count, void *context)
{
	struct fg_http_reply *reply = context;

	fg_strbuf_add(&reply->body, data, size * count);
	return size * count;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the parameters are libcurl's */
static size_t drop(char *data, size_t size, size_t count, void *context)
{
	(void)data;
	(void)context;
	return size * count;
}

static int look(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct fg_http *http = context;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return http->options.interrupted && *http->options.interrupted;
}

static void configure(struct fg_http *http)
{
	CURL *curl = http->curl;
	const int64_t timeout_ns =
		http->options.timeout_ns ? http->options.timeout_ns : 60 * FG_NS_PER_S;

	(void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl_easy_setopt(curl, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	(void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
	(void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(timeout_ns / FG_NS_PER_MS));
	(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
	(void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SLOW_SECONDS);
	(void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->curl_words);
	(void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	(void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look);
	(void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
	(void)curl_easy_setopt(curl, CURLOPT_USERAGENT, "fastgate");
	if (http->options.ca_file)
		(void)curl_easy_setopt(curl, CURLOPT_CAINFO, http->options.ca_file);
}

int fg__http_open(const struct fg_push_options *options, struct fg_http **http,
		  struct fg_error *err)
{
	struct fg_http *h = NULL;
	size_t length = 0;
	int status = FG_OK;

	(void)pthread_once(&once, init_curl);
	if (!options->url || !*options->url)
		return fg_error_set(
			err, FG_EINVAL,
			"no perfdb server is configured: set perfdb.url in fastgate.yml, or give --url");
	status = check_url(options->url, options->token && *options->token, err);
	if (status != FG_OK)
		return status;
	h = fg_xcalloc(1, sizeof(*h));
	h->curl = curl_easy_init();
	if (!h->curl) {
		free(h);
		return fg_error_set(err, FG_ENET, "libcurl cannot be started");
	}
	h->options = *options;
	length = strlen(options->url);
	while (length > 0 && options->url[length - 1] == '/')
		length--;
	h->base = fg_xstrndup(options->url, length);
	configure(h);
	*http = h;
	return FG_OK;
}

void fg__http_close(struct fg_http *http)
{
	if (!http)
		return;
	curl_easy_cleanup(http->curl);
	free(http->base);
	free(http);
}

static struct curl_slist *make_headers(const struct fg_http *http,
				       const struct fg_http_request *request)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	for (size_t i = 0; request->headers && request->headers[i]; i++)
		list = curl_slist_append(list, request->headers[i]);
	if (http->options.token && *http->options.token) {
		char *line = fg_xasprintf("Authorization: Bearer %s", http->options.token);

		list = curl_slist_append(list, line);
		memset(line, 0, strlen(line));
		free(line);
	}
	return list;
}

static void set_method(CURL *curl, const struct fg_http_request *request)
{
	const bool is_head = strcmp(request->method, "HEAD") == 0;
	const bool is_post = strcmp(request->method, "POST") == 0;

	(void)curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	(void)curl_easy_setopt(curl, CURLOPT_NOBODY, is_head ? 1L : 0L);
	if (is_post) {
		(void)curl_easy_setopt(curl, CURLOPT_POST, 1L);
		(void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
				       (curl_off_t)request->body_size);
		(void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
	}
}

int fg__http_send(struct fg_http *http, const struct fg_http_request *request,
		  struct fg_http_reply *reply, struct fg_error *err)
{
	char *url = fg_xasprintf("%s%s", http->base, request->path);
	struct curl_slist *headers = make_headers(http, request);
	curl_off_t wait = 0;
	CURLcode code = CURLE_OK;
	int status = FG_OK;

	*reply = (struct fg_http_reply){.retry_after_ns = -1};
	fg_strbuf_set_limit(&reply->body, REPLY_MAX_BYTES);
	http->curl_words[0] = '\0';
	set_method(http->curl, request);
	(void)curl_easy_setopt(http->curl, CURLOPT_URL, url);
	(void)curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION,
			       strcmp(request->method, "HEAD") == 0 ? drop : keep);
	(void)curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, reply);
	code = curl_easy_perform(http->curl);
	if (code == CURLE_ABORTED_BY_CALLBACK) {
		status = fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	} else if (code != CURLE_OK) {
		status = fg_error_set(err, FG_ENET, "%s: %s", http->base,
				      *http->curl_words ? http->curl_words
							: curl_easy_strerror(code));
	} else {
		(void)curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &reply->status);
		if (curl_easy_getinfo(http->curl, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK &&
		    wait > 0)
			reply->retry_after_ns = (int64_t)wait * FG_NS_PER_S;
	}
	fg_log(FG_LOG_NET, 1, "%s %s: %ld", request->method, request->path, reply->status);
	curl_slist_free_all(headers);
	free(url);
	return status;
}
