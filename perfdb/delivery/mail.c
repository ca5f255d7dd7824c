// SPDX-License-Identifier: Apache-2.0
/*
 * The relay is the operator's choice, so its address is not guarded.  With credentials the line to
 * it must be encrypted, unless it is on this machine.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "perfdb/client/libcurl.h"
#include "perfdb/delivery/delivery.h"

#include <time.h>

enum {
	TIMEOUT_MS = 20000,
	SUBJECT_MAX_BYTES = 200,
	WORD_BYTES = 20, /* of one encoded word, which has 75 characters at most */
	DATE_SIZE = 64,
	REPLY_REFUSED = 500, /* from here on the relay will not take it at another try either */
	REPLY_END = 600,
};

int fg_mail_check(const char *address, struct fg_error *err)
{
	const char *at = strchr(address, '@');
	const size_t length = strlen(address);
	bool is_fine = at && at != address && at[1] && !strchr(at + 1, '@') &&
		       length <= FG_MAIL_ADDRESS_MAX;

	for (size_t i = 0; i < length && is_fine; i++)
		is_fine = address[i] > ' ' && address[i] < 0x7f &&
			  !strchr("<>()[],;:\\\"", address[i]);
	return is_fine ? FG_OK
		       : fg_error_set(
				 err, FG_EINVAL,
				 "'%.100s' is no mail address: expected one like ann@example.org",
				 address);
}

/* The relay on this machine: what goes there is on no network. */
static bool is_here(const char *url)
{
	CURLU *parsed = fg_curl.url();
	char *host = NULL;
	bool here = false;

	if (parsed && fg_curl.url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    fg_curl.url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK)
		here = fg_http_is_loopback(host);
	fg_curl.free(host);
	fg_curl.url_cleanup(parsed);
	return here;
}

int fg_mail_check_relay(const struct fg_delivery_options *options, struct fg_error *err)
{
	CURLU *parsed = NULL;
	bool is_fine = false;
	int status = FG_OK;

	if (!options->relay)
		return FG_OK;
	if (!options->from)
		return fg_error_set(err, FG_EINVAL, "--mail-relay needs --mail-from");
	status = fg_http_start(err);
	if (status != FG_OK)
		return status;
	parsed = fg_curl.url();
	is_fine = (fg_text_starts_with(options->relay, "smtp://") ||
		   fg_text_starts_with(options->relay, "smtps://")) &&
		  !strchr(options->relay, '@') && parsed &&
		  fg_curl.url_set(parsed, CURLUPART_URL, options->relay, 0) == CURLUE_OK;
	fg_curl.url_cleanup(parsed);
	if (!is_fine)
		return fg_error_set(err, FG_EINVAL,
				    "--mail-relay: expected smtp://HOST:PORT or smtps://HOST:PORT");
	return fg_mail_check(options->from, err);
}

/* A header's text as encoded words (RFC 2047), each with whole characters. */
static void add_encoded(struct fg_strbuf *line, const char *text, size_t length)
{
	while (length > 0) {
		size_t step = fg_min_size(length, (size_t)WORD_BYTES);

		while (step < length && step > 1 && ((unsigned char)text[step] & 0xC0U) == 0x80U)
			step--;
		fg_strbuf_add_text(line, "=?utf-8?Q?");
		for (size_t i = 0; i < step; i++)
			fg_strbuf_printf(line, "=%02X", (unsigned char)text[i]);
		text += step;
		length -= step;
		fg_strbuf_add_text(line, length ? "?= " : "?=");
	}
}

/* Names come from measured programs: nothing in them may begin another header. */
static void add_subject(struct fg_strbuf *line, const char *subject)
{
	struct fg_strbuf clean = {0};
	bool is_plain = true;

	fg_text_add_clean(&clean, subject, strlen(subject), SUBJECT_MAX_BYTES);
	for (const char *c = fg_strbuf_text(&clean); *c; c++)
		is_plain = is_plain && *c >= ' ' && *c < 0x7f;
	fg_strbuf_add_text(line, "Subject: ");
	if (is_plain && !strstr(fg_strbuf_text(&clean), "=?"))
		fg_strbuf_add_text(line, fg_strbuf_text(&clean));
	else
		add_encoded(line, fg_strbuf_text(&clean), clean.length);
	fg_strbuf_release(&clean);
}

static struct curl_slist *add_line(struct curl_slist *list, const char *name, const char *value)
{
	char *line = fg_xasprintf("%s: %s", name, value);
	struct curl_slist *longer = fg_curl.slist_append(list, line);

	free(line);
	return longer;
}

/* The same at each attempt, and no other database's. */
static struct curl_slist *add_id(struct curl_slist *list, const char *from,
				 const struct fg_delivery *delivery)
{
	char hex[FG_SHA256_HEX_SIZE];
	struct curl_slist *longer = NULL;
	char *id = NULL;

	fg_sha256_hex(delivery->body, strlen(delivery->body), hex);
	id = fg_xasprintf("<perfdb.%lld.%.20s%s>", (long long)delivery->number, hex,
			  strchr(from, '@'));
	longer = add_line(list, "Message-ID", id);
	free(id);
	return longer;
}

static struct curl_slist *make_headers(const struct fg_delivery_options *options,
				       const struct fg_delivery *delivery)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	const time_t now = (time_t)(fg_clock_wall_ns() / FG_NS_PER_S);
	struct curl_slist *list = NULL;
	struct fg_strbuf subject = {0};
	struct tm t = {0};
	char date[DATE_SIZE];

	(void)gmtime_r(&now, &t);
	(void)snprintf(date, sizeof(date), "%s, %02d %s %d %02d:%02d:%02d +0000", days[t.tm_wday],
		       t.tm_mday, months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min,
		       t.tm_sec);
	add_subject(&subject, delivery->subject);
	list = add_line(list, "Date", date);
	list = add_line(list, "From", options->from);
	list = add_line(list, "To", delivery->target);
	list = fg_curl.slist_append(list, fg_strbuf_text(&subject));
	list = add_id(list, options->from, delivery);
	list = add_line(list, "Auto-Submitted", "auto-generated");
	fg_strbuf_release(&subject);
	return list;
}

static void set_text(CURL *curl, curl_mime *mime, const char *text)
{
	curl_mimepart *part = fg_curl.mime_addpart(mime);

	(void)fg_curl.mime_data(part, text, CURL_ZERO_TERMINATED);
	(void)fg_curl.mime_type(part, "text/plain; charset=utf-8");
	(void)fg_curl.mime_encoder(part, "quoted-printable");
	fg_curl_set(curl, CURLOPT_MIMEPOST, mime);
}

static void configure(CURL *curl, const struct fg_delivery_options *options)
{
	fg_curl_set(curl, CURLOPT_NOSIGNAL, 1L);
	fg_curl_set(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	fg_curl_set(curl, CURLOPT_PROXY, "");
	fg_curl_set(curl, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	fg_curl_set(curl, CURLOPT_URL, options->relay);
	fg_curl_set(curl, CURLOPT_USE_SSL,
		    (long)(options->user && !is_here(options->relay) ? CURLUSESSL_ALL
								     : CURLUSESSL_TRY));
	if (options->ca_file)
		fg_curl_set(curl, CURLOPT_CAINFO, options->ca_file);
	if (options->user) {
		fg_curl_set(curl, CURLOPT_USERNAME, options->user);
		fg_curl_set(curl, CURLOPT_PASSWORD, options->password);
	}
}

static enum fg_delivery_result send_by(CURL *curl, const struct fg_delivery_options *options,
				       const struct fg_delivery *delivery, struct fg_error *err)
{
	struct curl_slist *headers = make_headers(options, delivery);
	struct curl_slist *recipients = fg_curl.slist_append(NULL, delivery->target);
	curl_mime *mime = fg_curl.mime_init(curl);
	long reply = 0;
	CURLcode code = CURLE_OK;

	configure(curl, options);
	fg_curl_set(curl, CURLOPT_MAIL_FROM, options->from);
	fg_curl_set(curl, CURLOPT_MAIL_RCPT, recipients);
	fg_curl_set(curl, CURLOPT_HTTPHEADER, headers);
	set_text(curl, mime, delivery->text);
	code = fg_curl.easy_perform(curl);
	(void)fg_curl.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply);
	fg_curl.mime_free(mime);
	fg_curl.slist_free_all(recipients);
	fg_curl.slist_free_all(headers);
	if (code == CURLE_OK)
		return FG_DELIVERY_DONE;
	(void)fg_error_set(err, FG_ENET, "the mail relay: %s (reply %ld)",
			   fg_curl.easy_strerror(code), reply);
	/* Credentials that are refused today are the operator's to mend: the mail waits. */
	return code != CURLE_LOGIN_DENIED && reply >= REPLY_REFUSED && reply < REPLY_END
		       ? FG_DELIVERY_NEVER
		       : FG_DELIVERY_LATER;
}

enum fg_delivery_result fg_mail_send(const struct fg_delivery_options *options,
				     const struct fg_delivery *delivery, struct fg_error *err)
{
	enum fg_delivery_result result = FG_DELIVERY_NEVER;
	CURL *curl = NULL;

	if (!options->relay) {
		(void)fg_error_set(err, FG_EINVAL,
				   "this server sends no mail: it has no --mail-relay");
		return FG_DELIVERY_NEVER;
	}
	if (fg_mail_check(delivery->target, err) != FG_OK)
		return FG_DELIVERY_NEVER;
	if (fg_http_start(err) != FG_OK)
		return FG_DELIVERY_LATER;
	curl = fg_curl.easy_init();
	if (!curl) {
		(void)fg_error_set(err, FG_ENET, "libcurl cannot be started");
		return FG_DELIVERY_LATER;
	}
	result = send_by(curl, options, delivery, err);
	fg_curl.easy_cleanup(curl);
	return result;
}
