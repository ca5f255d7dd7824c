// SPDX-License-Identifier: Apache-2.0
/*
 * Certificates are checked against the file in the options, $SSL_CERT_FILE, or the first list found
 * in the usual places, which differ between distributions. Redirects are not followed, so that a
 * token goes only to its own server. A token is sent unencrypted only to this machine. Proxies come
 * from the usual environment variables (https_proxy, no_proxy) and never see the token.
 */
#include "perfdb/client/http.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/library.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* ---- libcurl, opened when it is first needed ---- */

#define CALLS(CALL)   \
 CALL(easy_cleanup)   \
 CALL(easy_getinfo)   \
 CALL(easy_header)    \
 CALL(easy_init)      \
 CALL(easy_perform)   \
 CALL(easy_setopt)    \
 CALL(easy_strerror)  \
 CALL(free)           \
 CALL(global_init)    \
 CALL(slist_append)   \
 CALL(slist_free_all) \
 CALL(url)            \
 CALL(url_cleanup)    \
 CALL(url_get)        \
 CALL(url_set)
#define MEMBER(name) __typeof__(curl_##name) *(name);
#define NAME(name)   "curl_" #name,
#define LINKED(name) FG_LIBRARY_LINKED(curl_##name)

static struct {
	CALLS(MEMBER)
} libcurl = {CALLS(LINKED)};

static const char *const names[] = {CALLS(NAME)};

static struct fg_library library =
	FG_LIBRARY(libcurl, names, FG_CURL_FILE, FG_CURL_PACKAGE, "to talk to servers");

FG_LIBRARY_NOTE("servers", "Uploads, pull-request comments, webhooks", FG_CURL_FILE);

/*
 * Sets an option. Its number determines the type of its value: a `long` or a pointer. An int does
 * not compile, because libcurl would read past its end. (The check in curl.h sees only calls of
 * curl_easy_setopt() by that name.)
 */
#define TAKES_NUMBER(option)            \
 ((option) < CURLOPTTYPE_OBJECTPOINT || \
  ((option) >= CURLOPTTYPE_OFF_T && (option) < CURLOPTTYPE_BLOB))
#define FITS(option, value)                    \
 _Generic((value), int : 0, unsigned : 0, long \
	  : TAKES_NUMBER(option), default      \
	  : !TAKES_NUMBER(option))
#define SET_OPTION(curl, option, value) \
 ((void)sizeof(char[FITS(option, value) ? 1 : -1]), (void)libcurl.easy_setopt(curl, option, value))

/* ---- connections ---- */

enum {
	REPLY_MAX_BYTES = 64 << 10,
	/* maximum number of bytes dropped beyond a reply's limit; a longer reply is a failure */
	DROPPED_MAX_BYTES = 8 << 20,
	REASON_MAX_BYTES = 300,
	CONNECT_TIMEOUT_MS = 10000,
	SLOW_BYTES = 1,
	SLOW_SECONDS = 30,
	WAIT_MAX_S = 1 << 20,
};

struct fg_http {
	CURL *curl;
	struct fg_http_options options;
	char *base;
	char *name; /* "https://host:port", for messages */
	char curl_words[CURL_ERROR_SIZE];
	bool was_refused;
	/* Valid during a request. */
	struct fg_http_reply *reply;
	size_t received; /* bytes of the body kept or dropped */
	bool is_endless;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
	(void)libcurl.global_init(CURL_GLOBAL_DEFAULT);
}

static int start(struct fg_error *err)
{
	FG_TRY(fg_library_open(&library, err));
	(void)pthread_once(&once, init_curl);
	return FG_OK;
}

/* 127.0.0.0/8 is loopback; "127.example.org" is not. */
static bool is_loopback(const char *host)
{
	struct in_addr address;

	if (!host)
		return false;
	if (inet_pton(AF_INET, host, &address) == 1)
		return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
	return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
}

/*
 * Returns the URL, or only the part from its last '@' on, so that no password is shown. Returns
 * "(secret)" for a secret URL.
 */
static const char *url_to_show(const struct fg_http_options *options)
{
	const char *at = strrchr(options->url, '@');

	if (options->url_is_secret)
		return "(secret)";
	return at ? at : options->url;
}

/*
 * Checks the URL and the token. Sets the server's name for messages, without user, path and query.
 */
static int check_url(const struct fg_http_options *options, char **name, struct fg_error *err)
{
	const bool has_token = options->token && *options->token;
	CURLU *parsed = libcurl.url();
	char *scheme = NULL;
	char *host = NULL;
	char *port = NULL;
	int status = FG_OK;

	if (!parsed || libcurl.url_set(parsed, CURLUPART_URL, options->url, 0) != CURLUE_OK ||
	    libcurl.url_get(parsed, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
	    libcurl.url_get(parsed, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
	    (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		status = fg_error_set(err, FG_EINVAL,
				      "'%s' is not the address of a server: expected https://HOST",
				      url_to_show(options));
	else if (has_token && strpbrk(options->token, "\r\n"))
		status = fg_error_set(err, FG_EINVAL, "the token contains a line break");
	else if (has_token && strcmp(scheme, "http") == 0 && !is_loopback(host))
		status = fg_error_set(
			err, FG_EINVAL,
			"the token would travel unencrypted to '%s': give an https:// URL", host);
	if (status == FG_OK) {
		(void)libcurl.url_get(parsed, CURLUPART_PORT, &port, 0);
		*name = fg_xasprintf("%s://%s%s%s", scheme, host, port ? ":" : "",
				     port ? port : "");
	}
	libcurl.free(scheme);
	libcurl.free(host);
	libcurl.free(port);
	libcurl.url_cleanup(parsed);
	return status;
}

static const char *header_of(CURL *curl, const char *name)
{
	struct curl_header *header = NULL;

	return libcurl.easy_header(curl, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK
		       ? header->value
		       : NULL;
}

static size_t keep(char *data, size_t size, size_t count, void *context)
{
	struct fg_http *http = context;
	struct fg_http_reply *reply = http->reply;

	fg_strbuf_add(&reply->body, data, size * count);
	http->received += size * count;
	http->is_endless = http->received > reply->body.limit + DROPPED_MAX_BYTES;
	return http->is_endless ? 0 : size * count;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the parameters are libcurl's */
static size_t drop(char *data, size_t size, size_t count, void *context)
{
	(void)data;
	(void)context;
	return size * count;
}

static int is_interrupted(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct fg_http *http = context;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return http->options.interrupted && *http->options.interrupted;
}

/* libcurl calls this function with the address to connect to. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct fg_http *http = context;
	char text[INET6_ADDRSTRLEN] = "";

	(void)purpose;
	if (address->family == AF_INET)
		(void)inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)&address->addr)->sin_addr,
				text, sizeof(text));
	else if (address->family == AF_INET6)
		(void)inet_ntop(AF_INET6,
				&((struct sockaddr_in6 *)(void *)&address->addr)->sin6_addr, text,
				sizeof(text));
	if (!*text || !http->options.admits(http->options.context, text)) {
		http->was_refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void configure(struct fg_http *http)
{
	CURL *curl = http->curl;
	const int64_t timeout_ns =
		http->options.timeout_ns ? http->options.timeout_ns : 60 * FG_NS_PER_S;

	SET_OPTION(curl, CURLOPT_NOSIGNAL, 1L);
	SET_OPTION(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	SET_OPTION(curl, CURLOPT_FOLLOWLOCATION, 0L);
	SET_OPTION(curl, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	SET_OPTION(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
	SET_OPTION(curl, CURLOPT_TIMEOUT_MS, (long)(timeout_ns / FG_NS_PER_MS));
	SET_OPTION(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
	SET_OPTION(curl, CURLOPT_LOW_SPEED_TIME, (long)SLOW_SECONDS);
	SET_OPTION(curl, CURLOPT_ERRORBUFFER, http->curl_words);
	SET_OPTION(curl, CURLOPT_NOPROGRESS, 0L);
	SET_OPTION(curl, CURLOPT_XFERINFOFUNCTION, is_interrupted);
	SET_OPTION(curl, CURLOPT_XFERINFODATA, http);
	SET_OPTION(curl, CURLOPT_USERAGENT, "fastgate");
	if (http->options.needs_tls)
		SET_OPTION(curl, CURLOPT_PROTOCOLS_STR, "https");
	if (http->options.admits) {
		SET_OPTION(curl, CURLOPT_PROXY, "");
		SET_OPTION(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
		SET_OPTION(curl, CURLOPT_OPENSOCKETDATA, http);
	}
	SET_OPTION(curl, CURLOPT_WRITEDATA, http);
}

/* Returns $SSL_CERT_FILE or the distribution's file of certificates; NULL if neither exists. */
static const char *system_certificates(void)
{
	static const char *const places[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Alpine, Arch */
		"/etc/pki/tls/certs/ca-bundle.crt",   /* Red Hat, Fedora, Amazon */
		"/etc/ssl/ca-bundle.pem",             /* SUSE */
		"/etc/ssl/cert.pem",
	};
	const char *named = getenv("SSL_CERT_FILE");

	if (named && *named)
		return named;
	for (size_t i = 0; i < FG_ARRAY_SIZE(places); i++)
		if (access(places[i], R_OK) == 0)
			return places[i];
	return NULL;
}

static int trust(struct fg_http *http, struct fg_error *err)
{
	const char *file = http->options.ca_file ? http->options.ca_file : system_certificates();

	if (file)
		SET_OPTION(http->curl, CURLOPT_CAINFO, file);
	else if (fg_text_starts_with(http->name, "https:"))
		return fg_error_set(
			err, FG_ENOENT,
			"there are no certificates to check %s with: install the package "
			"ca-certificates, or name a file in $SSL_CERT_FILE",
			http->name);
	return FG_OK;
}

int fg_http_open(const struct fg_http_options *options, struct fg_http **http, struct fg_error *err)
{
	struct fg_http *h = NULL;
	char *name = NULL;
	size_t length = 0;
	int status = FG_OK;

	FG_TRY(start(err));
	FG_TRY(check_url(options, &name, err));
	h = fg_xcalloc(1, sizeof(*h));
	h->curl = libcurl.easy_init();
	if (!h->curl) {
		free(name);
		free(h);
		return fg_error_set(err, FG_ENET, "libcurl cannot be started");
	}
	h->options = *options;
	h->name = name;
	length = strlen(options->url);
	while (length > 0 && options->url[length - 1] == '/')
		length--;
	h->base = fg_xstrndup(options->url, length);
	configure(h);
	status = trust(h, err);
	if (status == FG_OK)
		*http = h;
	else
		fg_http_close(h);
	return status;
}

void fg_http_close(struct fg_http *http)
{
	if (!http)
		return;
	libcurl.easy_cleanup(http->curl);
	free(http->base);
	free(http->name);
	free(http);
}

static struct curl_slist *make_headers(const struct fg_http *http,
				       const struct fg_http_request *request)
{
	struct curl_slist *list = libcurl.slist_append(NULL, "Expect:");

	for (size_t i = 0; request->headers && request->headers[i]; i++)
		list = libcurl.slist_append(list, request->headers[i]);
	if (http->options.token && *http->options.token) {
		const char *header = http->options.token_header;
		char *line = header ? fg_xasprintf("%s: %s", header, http->options.token)
				    : fg_xasprintf("Authorization: Bearer %s", http->options.token);

		list = libcurl.slist_append(list, line);
		explicit_bzero(line, strlen(line));
		free(line);
	}
	return list;
}

static void set_method(CURL *curl, const struct fg_http_request *request)
{
	const bool is_head = strcmp(request->method, "HEAD") == 0;

	SET_OPTION(curl, CURLOPT_CUSTOMREQUEST, NULL);
	SET_OPTION(curl, CURLOPT_HTTPGET, 1L);
	SET_OPTION(curl, CURLOPT_NOBODY, is_head ? 1L : 0L);
	if (request->body) {
		SET_OPTION(curl, CURLOPT_POST, 1L);
		SET_OPTION(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
		SET_OPTION(curl, CURLOPT_POSTFIELDS, request->body);
	}
	if (!is_head && strcmp(request->method, "GET") != 0)
		SET_OPTION(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static int64_t bounded_wait_ns(int64_t wait_s)
{
	if (wait_s < 0)
		return 0;
	return (wait_s < WAIT_MAX_S ? wait_s : WAIT_MAX_S) * FG_NS_PER_S;
}

/*
 * Returns the wait that the server asks for, or -1. GitHub's rate limit gives the second at which
 * it ends.
 */
static int64_t retry_after(CURL *curl)
{
	const char *left = header_of(curl, "x-ratelimit-remaining");
	const char *end = NULL;
	curl_off_t wait = 0;
	int64_t end_s = 0;

	if (header_of(curl, "retry-after") &&
	    libcurl.easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK)
		return bounded_wait_ns((int64_t)wait);
	if (!left || strcmp(left, "0") != 0)
		return -1;
	end = header_of(curl, "x-ratelimit-reset");
	if (!end || fg_parse_int64(end, &end_s, NULL) != FG_OK || end_s < 0)
		return -1;
	return bounded_wait_ns(end_s - fg_clock_wall_ns() / FG_NS_PER_S);
}

int fg_http_send(struct fg_http *http, const struct fg_http_request *request,
		 struct fg_http_reply *reply, struct fg_error *err)
{
	char *url = fg_xasprintf("%s%s", http->base, request->path);
	struct curl_slist *headers = make_headers(http, request);
	CURLcode code = CURLE_OK;
	int status = FG_OK;

	*reply = (struct fg_http_reply){.retry_after_ns = -1};
	fg_strbuf_set_limit(&reply->body, http->options.reply_max_bytes
						  ? http->options.reply_max_bytes
						  : REPLY_MAX_BYTES);
	http->curl_words[0] = '\0';
	http->was_refused = false;
	http->is_endless = false;
	http->received = 0;
	http->reply = reply;
	set_method(http->curl, request);
	SET_OPTION(http->curl, CURLOPT_URL, url);
	SET_OPTION(http->curl, CURLOPT_HTTPHEADER, headers);
	SET_OPTION(http->curl, CURLOPT_WRITEFUNCTION,
		   strcmp(request->method, "HEAD") == 0 ? drop : keep);
	code = libcurl.easy_perform(http->curl);
	reply->was_refused = http->was_refused && code != CURLE_OK;
	if (code != CURLE_OK)
		reply->status = 0;
	if (code == CURLE_ABORTED_BY_CALLBACK) {
		status = fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	} else if (http->is_endless) {
		status = fg_error_set(err, FG_ENET, "%s: the answer is larger than %d MiB",
				      http->name, DROPPED_MAX_BYTES >> 20);
	} else if (code != CURLE_OK) {
		status = fg_error_set(err, FG_ENET, "%s: %s", http->name,
				      *http->curl_words ? http->curl_words
							: libcurl.easy_strerror(code));
	} else {
		(void)libcurl.easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &reply->status);
		reply->retry_after_ns = retry_after(http->curl);
	}
	fg_log(FG_LOG_NET, 1, "%s %s: %ld", request->method, request->path, reply->status);
	libcurl.slist_free_all(headers);
	free(url);
	return status;
}

bool fg_http_is_passing(long status)
{
	return status == 408 || status == 425 || status == 429 || status >= 500 || status < 200;
}

/* perfdb, GitHub and GitLab put the message in different places. */
static const char *find_message(const cJSON *json)
{
	static const char *const places[] = {"error/message", "message", "error"};
	const char *message = NULL;

	for (size_t i = 0; !message && i < FG_ARRAY_SIZE(places); i++)
		message = fg_json_text_or(json, places[i], NULL);
	return message;
}

int fg_http_describe(const struct fg_http *http, const struct fg_http_reply *reply,
		     struct fg_error *err)
{
	const char *token = http->options.token;
	struct fg_strbuf words = {0};
	cJSON *json = NULL;
	const char *message = NULL;

	if (reply->body.length && fg_json_parse(reply->body.data, reply->body.length,
						reply->body.length, &json, NULL) == FG_OK)
		message = find_message(json);
	if (message && token && *token && strstr(message, token))
		message = NULL;
	if (message)
		fg_text_add_clean(&words, message, strlen(message), REASON_MAX_BYTES);
	(void)fg_error_set(err, FG_ENET, "%s answered %ld%s%s", http->name, reply->status,
			   message ? ": " : "", fg_strbuf_text(&words));
	cJSON_Delete(json);
	fg_strbuf_release(&words);
	return FG_ENET;
}

void fg_http_patience_init(struct fg_http_patience *patience)
{
	if (patience->first_wait_ns == 0)
		patience->first_wait_ns = 500 * FG_NS_PER_MS;
	if (patience->longest_wait_ns == 0)
		patience->longest_wait_ns = 30 * FG_NS_PER_S;
	fg_random_seed(&patience->random, (uint64_t)fg_clock_monotonic_ns() ^ (uint64_t)getpid());
}

static int64_t wait_after(struct fg_http_patience *patience, unsigned attempt,
			  int64_t retry_after_ns)
{
	const int64_t longest = patience->longest_wait_ns;
	int64_t wait = patience->first_wait_ns;

	for (unsigned i = 1; i < attempt && wait < longest; i++)
		wait *= 2;
	if (wait > longest)
		wait = longest;
	/*
	 * Half of the wait is random, so that clients that failed together do not retry together.
	 */
	wait = wait / 2 + (int64_t)fg_random_below(&patience->random, (uint64_t)wait / 2 + 1);
	if (retry_after_ns > wait)
		wait = retry_after_ns < longest ? retry_after_ns : longest;
	return wait;
}

/* Waits in small steps, so that Ctrl-C works. */
void fg_http_wait(struct fg_http_patience *patience, unsigned attempt, int64_t retry_after_ns)
{
	int64_t left_ns = wait_after(patience, attempt, retry_after_ns);

	while (left_ns > 0 && !(patience->interrupted && *patience->interrupted)) {
		const int64_t step = left_ns < 100 * FG_NS_PER_MS ? left_ns : 100 * FG_NS_PER_MS;
		const struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)step};

		(void)nanosleep(&pause, NULL);
		left_ns -= step;
	}
}
