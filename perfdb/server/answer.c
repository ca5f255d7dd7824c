// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/gzip.h"
#include "base/text.h"
#include "perfdb/protocol.h"
#include "perfdb/server/guard.h"
#include "perfdb/server/notes.h"
#include "perfdb/server/pages.h"
#include "perfdb/server/request.h"
#include "perfdb/server/routes.h"

enum {
	PACK_FROM_BYTES = 2048
};

struct meaning {
	int code; /* enum fg_status of a failure */
	int http_status;
	const char *word;
	const char *message; /* message for the client; NULL: the error's message */
};

static const struct meaning meanings[] = {
	{FG_EINVAL, 400, "bad_request", NULL},
	{FG_ECONFLICT, 400, "bad_request", NULL},
	{FG_EPARSE, 400, "bad_content", NULL},
	{FG_ENOENT, 404, "not_found", NULL},
	{FG_ELIMIT, 413, "too_large", NULL},
	{FG_EUNSUPPORTED, 415, "unsupported", NULL},
	{FG_EBUSY, 503, "busy", "the server is busy: try again"},
	{FG_ENET, 503, "unavailable", "the database does not answer: try again"},
	{FG_EIO, 507, "storage", "the server cannot read or write its database; its log says why"},
};

/* Error codes of refusals, which set the HTTP status themselves. */
static const struct {
	int http_status;
	const char *word;
} refusals[] = {
	{400, "bad_request"},        {401, "unauthorized"}, {403, "forbidden"},
	{405, "method_not_allowed"}, {415, "unsupported"},  {FG_HTTP_DIFFERENT, "id_taken"},
	{429, "too_many_requests"},  {503, "busy"},
};

static const struct meaning unforeseen = {FG_EDB, 500, "internal",
					  "the server failed; its log says why"};

/* Did a person type the address or follow a link? Programs and the pages' scripts get JSON. */
static bool is_for_a_person(struct fg_request *rq)
{
	const char *accepted = fg_request_header(rq, MHD_HTTP_HEADER_ACCEPT);

	return accepted && strstr(accepted, "text/html") && strcmp(rq->method, "POST") != 0 &&
	       !fg_text_starts_with(rq->path, "/api/");
}

/*
 * For a missing address, the pages show their own message with their navigation. For any other
 * failure, or if the client may not fetch the pages' scripts, the answer is a plain page.
 */
static void write_error_page(struct fg_request *rq, const char *message)
{
	const struct fg_page *page = fg_page_find("index.html");
	struct fg_answer *answer = &rq->answer;
	bool is_entry = false;

	answer->type = "text/html; charset=utf-8";
	if (page && answer->status == 404 && fg_guard_secret(rq, &is_entry, NULL) == FG_OK) {
		fg_strbuf_add(&answer->text, (const char *)page->data, page->size);
		return;
	}
	fg_strbuf_add_text(&answer->text, "<!doctype html><html lang=\"en\"><title>perfdb</title>"
					  "<link rel=\"icon\" href=\"data:,\">"
					  "<h1>This page cannot be shown</h1><p>");
	for (const char *at = message; *at; at++) {
		if (strchr("<>&", *at))
			fg_strbuf_printf(&answer->text, "&#%d;", *at);
		else
			fg_strbuf_add_char(&answer->text, *at);
	}
	fg_strbuf_add_text(&answer->text, "</html>\n");
}

/* Internal errors go to the log only; a client sees details only of mistakes in its own request. */
static void write_error(struct fg_request *rq, const struct fg_error *err)
{
	struct fg_answer *answer = &rq->answer;
	const struct meaning *found = &unforeseen;
	const char *word = NULL;
	struct fg_json_writer w;

	for (size_t i = 0; i < FG_ARRAY_SIZE(meanings); i++) {
		if (meanings[i].code == (int)err->code)
			found = &meanings[i];
	}
	word = found->word;
	for (size_t i = 0; i < FG_ARRAY_SIZE(refusals); i++) {
		if (refusals[i].http_status == answer->status)
			word = refusals[i].word;
	}
	if (answer->refusal)
		word = answer->refusal;
	if (answer->status < 400)
		answer->status = found->http_status;
	if ((answer->status == 503 || answer->status == 507) && !answer->retry_after_s)
		answer->retry_after_s = 1;
	fg_strbuf_clear(&answer->text);
	if (is_for_a_person(rq)) {
		write_error_page(rq, found->message ? found->message : err->message);
		return;
	}
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_begin_object(&w, "error");
	fg_json_text(&w, "code", word);
	fg_json_text(&w, "message", found->message ? found->message : err->message);
	fg_json_end(&w);
	fg_json_end(&w);
}

/* Notes a refusal, except a 401 without a token: a page may not have its token yet. */
static void note_refusal(struct fg_request *rq, const struct fg_error *err)
{
	const bool has_token = fg_request_header(rq, MHD_HTTP_HEADER_AUTHORIZATION);

	if (rq->answer.status == 403 || (rq->answer.status == 401 && has_token))
		fg_notes_refusal(rq, err->message);
}

static void count(struct fg_request *rq, int64_t took_us)
{
	struct fg_counters *counters = &rq->server->counters;

	if (rq->route) {
		const size_t place = (size_t)(rq->route - fg_routes);

		atomic_fetch_add(&counters->requests[place], 1);
		atomic_fetch_add(&counters->microseconds[place], (unsigned long long)took_us);
		for (size_t i = 0; i < FG_LATENCY_STEPS; i++)
			atomic_fetch_add(&counters->faster[i], took_us <= fg_latency_us[i]);
	}
	atomic_fetch_add(&counters->answers[(rq->answer.status / 100) % 6], 1);
}

static uint64_t size_of(const struct fg_answer *answer)
{
	return answer->asset ? answer->asset_size : answer->text.length;
}

static void write_log(struct fg_request *rq, const struct fg_error *err, int64_t took_us)
{
	const struct fg_answer *answer = &rq->answer;
	struct fg_strbuf line = {0};
	struct fg_json_writer w;

	if (rq->server->options.log_fd < 0)
		return;
	fg_json_writer_init(&w, &line, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_time(&w, "time", fg_clock_wall_ns());
	fg_json_text(&w, "method", rq->method);
	fg_json_text(&w, "path", rq->path);
	fg_json_text(&w, "client", rq->client);
	fg_json_text(&w, "who", rq->who);
	fg_json_int(&w, "status", answer->status);
	fg_json_int(&w, "us", took_us);
	fg_json_int(&w, "in", (int64_t)rq->body.size);
	fg_json_int(&w, "out", (int64_t)size_of(answer));
	if (err->code != FG_OK)
		fg_json_text(&w, "error", answer->cause ? answer->cause : err->message);
	if (answer->status >= 500)
		fg_json_text(&w, "database", rq->server->database_shown);
	fg_json_end(&w);
	fg_strbuf_add_char(&line, '\n');
	/* One write per line, so that lines of several threads do not mix. */
	(void)!write(rq->server->options.log_fd, line.data, line.length);
	fg_strbuf_release(&line);
}

/* Compresses a large answer if the client accepts gzip and the answer becomes smaller. */
static void pack(struct fg_request *rq)
{
	const char *accepted = fg_request_header(rq, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	struct fg_strbuf *text = &rq->answer.text;
	struct fg_strbuf packed = {0};

	if (rq->answer.asset || text->length < PACK_FROM_BYTES || !accepted ||
	    !strstr(accepted, "gzip"))
		return;
	rq->answer.packed =
		fg_gzip_pack(text->data, text->length, FG_GZIP_QUICK, &packed, NULL) == FG_OK &&
		packed.length < text->length;
	if (!rq->answer.packed) {
		fg_strbuf_release(&packed);
		return;
	}
	fg_strbuf_release(text);
	*text = packed;
}

void fg_answer_settle(struct fg_request *rq, const struct fg_error *err)
{
	const int64_t took_us = (fg_clock_monotonic_ns() - rq->started_ns) / FG_NS_PER_US;

	if (err->code != FG_OK) {
		write_error(rq, err);
		note_refusal(rq, err);
	} else if (!rq->answer.status) {
		rq->answer.status = 200;
	}
	count(rq, took_us);
	write_log(rq, err, took_us);
	/* Do not hold the session while a slow client reads. */
	fg_request_leave_store(rq);
	pack(rq);
}

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	(void)MHD_add_response_header(response, name, value);
}

static void add_headers(struct fg_request *rq, struct MHD_Response *response)
{
	const struct fg_answer *answer = &rq->answer;
	const struct fg_route_query query = {
		.path = rq->path,
		.read_only = rq->server->options.read_only,
	};
	char number[24];

	add_header(response, "X-Content-Type-Options", "nosniff");
	add_header(response, "Referrer-Policy", "no-referrer");
	add_header(response, "Content-Security-Policy",
		   "default-src 'none'; script-src 'self'; style-src 'self'; "
		   "img-src 'self' data:; connect-src 'self'; "
		   "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
	add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
		   answer->type ? answer->type : "text/plain; charset=utf-8");
	add_header(response, MHD_HTTP_HEADER_VARY, "Accept-Encoding");
	if (answer->packed)
		add_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (answer->asset) {
		add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
		add_header(response, MHD_HTTP_HEADER_ETAG, answer->asset_tag);
	} else {
		add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	}
	if (answer->status == 405)
		add_header(response, MHD_HTTP_HEADER_ALLOW, fg_route_methods(&query, &rq->arena));
	if (answer->status == 401)
		add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (answer->cookie)
		add_header(response, MHD_HTTP_HEADER_SET_COOKIE, answer->cookie);
	if (rq->server->certificate)
		add_header(response, "Strict-Transport-Security", "max-age=31536000");
	if (answer->retry_after_s) {
		(void)snprintf(number, sizeof(number), "%u", answer->retry_after_s);
		add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, number);
	}
	if (atomic_load(&rq->server->draining))
		add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

void fg_answer_release(struct fg_request *rq)
{
	fg_strbuf_release(&rq->answer.text);
}

enum MHD_Result fg_answer_send(struct fg_request *rq)
{
	struct fg_answer *answer = &rq->answer;
	struct MHD_Response *response = NULL;
	enum MHD_Result result = MHD_NO;

	if (answer->asset) {
		response = MHD_create_response_from_buffer(answer->asset_size,
							   (void *)(uintptr_t)answer->asset,
							   MHD_RESPMEM_PERSISTENT);
	} else {
		const size_t size = answer->text.length;
		char *data = fg_strbuf_detach(&answer->text);

		response = MHD_create_response_from_buffer(size, data, MHD_RESPMEM_MUST_FREE);
	}
	if (!response)
		return MHD_NO;
	add_headers(rq, response);
	result = MHD_queue_response(rq->connection, (unsigned)answer->status, response);
	MHD_destroy_response(response);
	return result;
}
