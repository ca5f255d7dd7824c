// SPDX-License-Identifier: Apache-2.0
/*
 * From bytes to a handler and back.  Who asks, and whether the body may be as large as announced,
 * is settled before a byte of the body is kept.  libmicrohttpd calls fg_http_access() once with the
 * headers, then with pieces of the body, then once more: that is when the answer is made.
 */
#include "perfdb/server/http.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "perfdb/protocol.h"
#include "perfdb/server/lines.h"
#include "perfdb/server/request.h"

#include <arpa/inet.h>
#include <zlib.h>

enum {
	SMALL_BODY_BYTES = 64 << 10,
	PACK_FROM_BYTES = 2048,
	PACK_LEVEL = 1,
	WINDOW_BITS_GZIP = 15 + 16
};

const char *fg_parameter(struct fg_request *rq, const char *name)
{
	const char *value =
		MHD_lookup_connection_value(rq->connection, MHD_GET_ARGUMENT_KIND, name);

	return value && *value ? value : NULL;
}

const char *fg_header(struct fg_request *rq, const char *name)
{
	return MHD_lookup_connection_value(rq->connection, MHD_HEADER_KIND, name);
}

int fg_need(struct fg_request *rq, const char *name, const char **value, struct fg_error *err)
{
	*value = fg_parameter(rq, name);
	return *value ? FG_OK : fg_error_set(err, FG_EINVAL, "parameter '%s' is missing", name);
}

int fg_parameter_size(struct fg_request *rq, const char *name, size_t otherwise, size_t max,
		      size_t *value, struct fg_error *err)
{
	const char *text = fg_parameter(rq, name);
	uint64_t number = otherwise;
	int status = FG_OK;

	if (text)
		status = fg_parse_uint64(text, &number, err);
	if (status == FG_OK && number > max)
		status = fg_error_set(err, FG_EINVAL, "%llu is more than %zu",
				      (unsigned long long)number, max);
	if (status != FG_OK)
		fg_error_prefix(err, "parameter '%s'", name);
	*value = (size_t)number;
	return status;
}

int fg_may_see(const struct fg_request *rq, const char *project, struct fg_error *err)
{
	if (rq->project && (!project || strcmp(rq->project, project) != 0))
		return fg_error_set(err, FG_ENOENT, "there is no project '%.100s' for this token",
				    project ? project : "");
	return FG_OK;
}

void fg_json(struct fg_request *rq, struct fg_json_writer *w)
{
	rq->type = "application/json";
	fg_json_writer_init(w, &rq->answer, 0);
}

struct meaning {
	int code;
	int status;
	const char *word;
	/* of a message that speaks of what is inside; NULL: the message is for the client */
	const char *instead;
};

static const struct meaning meanings[] = {
	{FG_EINVAL, 400, "bad_request", NULL},
	{FG_EPARSE, 400, "bad_content", NULL},
	{FG_ENOENT, 404, "not_found", NULL},
	{FG_ELIMIT, 413, "too_large", NULL},
	{FG_EUNSUPPORTED, 415, "unsupported", NULL},
	{FG_ECONFLICT, 400, "bad_request", NULL},
	{FG_EBUSY, 503, "busy", "the server is busy: try again"},
	{FG_EIO, 507, "storage", "the server cannot read or write its database; its log says why"},
};

static const struct meaning unforeseen = {FG_EDB, 500, "internal",
					  "the server failed; its log says why"};

/* What failed inside is for the log; what the client did wrong is for the client. */
static void answer_error(struct fg_request *rq, const struct fg_error *err)
{
	const struct meaning *found = &unforeseen;
	struct fg_json_writer w;

	for (size_t i = 0; i < FG_ARRAY_SIZE(meanings); i++) {
		if (meanings[i].code == (int)err->code)
			found = &meanings[i];
	}
	if (rq->status < 400)
		rq->status = found->status;
	if (rq->status == 503 && !rq->retry_after_s)
		rq->retry_after_s = 1;
	fg_strbuf_clear(&rq->answer);
	fg_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_begin_object(&w, "error");
	fg_json_text(&w, "code", found->word);
	fg_json_text(&w, "message", found->instead ? found->instead : err->message);
	fg_json_end(&w);
	fg_json_end(&w);
}

/* A session of this request's own; what stands in its way is nothing that the client asked for. */
static int open_session(struct fg_request *rq, struct fg_error *err)
{
	rq->store = fg_server_session(rq->server, err);
	if (rq->store)
		return FG_OK;
	rq->status = 503;
	err->code = FG_EIO;
	return FG_EIO;
}

static int refuse(struct fg_request *rq, int http_status, struct fg_error *err, const char *words)
{
	rq->status = http_status;
	return fg_error_set(err, FG_EINVAL, "%s", words);
}

/*
 * Called by a loopback name, with or without a port, or not called by a browser that was talked
 * into it.  The name as a whole: "localhost.example.org" is anybody's.
 */
static bool is_local_name(const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

	for (size_t i = 0; host && i < FG_ARRAY_SIZE(names); i++) {
		const size_t length = strlen(names[i]);

		if (strncasecmp(host, names[i], length) == 0 &&
		    (host[length] == '\0' || host[length] == ':'))
			return true;
	}
	return !host;
}

/*
 * No token was made yet.  A name in a header can be made up, and a proxy is this machine for
 * whoever asks it.
 */
static int admit_without_token(struct fg_request *rq, struct fg_error *err)
{
	static const char *const left_by_proxies[] = {"Forwarded", "X-Forwarded-For", "Via"};

	if (!rq->server->is_open)
		return refuse(
			rq, 403, err,
			"this server lets nobody in before a token is made: `perfdb token create`");
	if (!is_local_name(fg_header(rq, MHD_HTTP_HEADER_HOST)))
		return refuse(rq, 403, err,
			      "a server without tokens answers to loopback names only");
	for (size_t i = 0; i < FG_ARRAY_SIZE(left_by_proxies); i++) {
		if (fg_header(rq, left_by_proxies[i]))
			return refuse(rq, 403, err,
				      "a server without tokens does not answer through a proxy");
	}
	rq->scope = FG_SCOPE_ADMIN;
	return FG_OK;
}

static int authorize(struct fg_request *rq, struct fg_error *err)
{
	const char *header = fg_header(rq, MHD_HTTP_HEADER_AUTHORIZATION);
	struct fg_token token = {0};
	struct fg_error reason = {0};
	size_t tokens = 0;
	int status = fg_store_token_count(rq->store, &tokens, err);

	if (status != FG_OK)
		return status;
	if (tokens == 0)
		return admit_without_token(rq, err);
	if (!header || !fg_text_starts_with(header, "Bearer "))
		return refuse(rq, 401, err, "a token is needed: Authorization: Bearer TOKEN");
	status = fg_store_token_check(rq->store, header + strlen("Bearer "), fg_clock_wall_ns(),
				      &token, &reason);
	if (status == FG_ENOENT)
		return refuse(rq, 401, err, reason.message);
	if (status != FG_OK)
		return fg_error_set(err, reason.code, "%s", reason.message);
	rq->scope = token.scope;
	rq->project = fg_arena_strdup(&rq->arena, token.project);
	rq->who = fg_arena_printf(&rq->arena, "token %lld", (long long)token.id);
	fg_token_release(&token);
	if (rq->scope < rq->route->scope)
		return refuse(rq, 403, err, "this token may not do that");
	return FG_OK;
}

static void note_address(struct fg_request *rq)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(rq->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	char text[INET6_ADDRSTRLEN] = "?";

	if (info && info->client_addr && info->client_addr->sa_family == AF_INET)
		(void)inet_ntop(
			AF_INET,
			&((const struct sockaddr_in *)(const void *)info->client_addr)->sin_addr,
			text, sizeof(text));
	else if (info && info->client_addr && info->client_addr->sa_family == AF_INET6)
		(void)inet_ntop(
			AF_INET6,
			&((const struct sockaddr_in6 *)(const void *)info->client_addr)->sin6_addr,
			text, sizeof(text));
	rq->who = fg_arena_strdup(&rq->arena, text);
}

static bool leads_to(const struct fg_route *route, const char *path)
{
	const size_t length = strlen(route->path);
	const bool prefix = length > 1 && route->path[length - 1] == '/';

	return prefix ? strncmp(path, route->path, length) == 0 && path[length]
		      : strcmp(path, route->path) == 0;
}

/* What may be done at this address; the text lives in the request's arena. */
static const char *list_methods(struct fg_request *rq)
{
	const char *list = "";

	for (size_t i = 0; i < fg_route_count; i++) {
		const char *method = fg_routes[i].method;

		if (leads_to(&fg_routes[i], rq->path))
			list = fg_arena_printf(&rq->arena, "%s%s%s%s", list, *list ? ", " : "",
					       method, strcmp(method, "GET") == 0 ? ", HEAD" : "");
	}
	return list;
}

static const struct fg_route *find_route(const char *method, const char *path, const char **tail,
					 bool *path_known)
{
	*path_known = false;
	for (size_t i = 0; i < fg_route_count; i++) {
		const struct fg_route *route = &fg_routes[i];

		if (!leads_to(route, path))
			continue;
		*path_known = true;
		if (strcmp(route->method, method) == 0 ||
		    (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0)) {
			*tail = path + strlen(route->path);
			return route;
		}
	}
	return NULL;
}

/* Everything that can be said before the body has come. */
static int admit(struct fg_request *rq, struct fg_error *err)
{
	const char *length = fg_header(rq, MHD_HTTP_HEADER_CONTENT_LENGTH);
	const size_t limit = rq->route && rq->route->takes_run
				     ? rq->server->options.body_limit_bytes
				     : SMALL_BODY_BYTES;
	uint64_t announced = 0;
	bool path_known = false;
	unsigned wait = 0;
	int status = FG_OK;

	rq->route = find_route(rq->method, rq->path, &rq->tail, &path_known);
	if (!rq->route)
		return path_known
			       ? refuse(rq, 405, err, "this address knows no such method")
			       : fg_error_set(err, FG_ENOENT, "there is nothing at this address");
	if (rq->route->scope != FG_SCOPE_NONE) {
		status = open_session(rq, err);
		if (status == FG_OK)
			status = authorize(rq, err);
		if (status != FG_OK)
			return status;
	}
	wait = fg_limiter_ask(rq->server->limiter, rq->who, fg_clock_monotonic_ns());
	if (wait) {
		atomic_fetch_add(&rq->server->counters.limited, 1);
		rq->retry_after_s = wait;
		return refuse(rq, 429, err, "too many requests in one minute");
	}
	if (length &&
	    (fg_parse_uint64(length, &announced, NULL) != FG_OK ||
	     announced > (rq->route->takes_run ? rq->server->options.body_limit_bytes : limit)))
		return fg_error_set(err, FG_ELIMIT, "the body is larger than %zu bytes",
				    rq->route->takes_run ? rq->server->options.body_limit_bytes
							 : limit);
	if (atomic_load(&rq->server->body_bytes) > rq->server->options.bodies_limit_bytes) {
		rq->retry_after_s = 2;
		return refuse(rq, 503, err, "the server is busy with other uploads");
	}
	return FG_OK;
}

static bool accepts_gzip(struct fg_request *rq)
{
	const char *accepted = fg_header(rq, MHD_HTTP_HEADER_ACCEPT_ENCODING);

	return accepted && strstr(accepted, "gzip");
}

/* Large answers travel packed; on failure they travel as they are. */
static bool pack(struct fg_strbuf *answer)
{
	z_stream stream = {0};
	struct fg_strbuf packed = {0};
	const size_t room = answer->length / 2;
	unsigned char *data = NULL;
	bool done = false;

	if (deflateInit2(&stream, PACK_LEVEL, Z_DEFLATED, WINDOW_BITS_GZIP, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	data = fg_xmalloc(room);
	stream.next_in = (unsigned char *)answer->data;
	stream.avail_in = (unsigned)answer->length;
	stream.next_out = data;
	stream.avail_out = (unsigned)room;
	done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
	if (done)
		fg_strbuf_add(&packed, data, stream.total_out);
	(void)deflateEnd(&stream);
	free(data);
	if (done) {
		fg_strbuf_release(answer);
		*answer = packed;
	}
	return done;
}

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	(void)MHD_add_response_header(response, name, value);
}

static void add_headers(struct fg_request *rq, struct MHD_Response *response, bool packed)
{
	char number[24];

	add_header(response, "X-Content-Type-Options", "nosniff");
	add_header(response, "Referrer-Policy", "no-referrer");
	add_header(
		response, "Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
	add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
		   rq->type ? rq->type : "text/plain; charset=utf-8");
	add_header(response, MHD_HTTP_HEADER_VARY, "Accept-Encoding");
	if (packed)
		add_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (rq->asset) {
		add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
		add_header(response, MHD_HTTP_HEADER_ETAG, rq->asset_tag);
	} else {
		add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	}
	if (rq->status == 405)
		add_header(response, MHD_HTTP_HEADER_ALLOW, list_methods(rq));
	if (rq->status == 401)
		add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (rq->retry_after_s) {
		(void)snprintf(number, sizeof(number), "%u", rq->retry_after_s);
		add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, number);
	}
	if (atomic_load(&rq->server->draining))
		add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static enum MHD_Result send_answer(struct fg_request *rq)
{
	struct MHD_Response *response = NULL;
	const bool packed = rq->asset ? rq->asset_packed : rq->packed;
	enum MHD_Result result = MHD_NO;

	if (rq->asset) {
		response = MHD_create_response_from_buffer(
			rq->asset_size, (void *)(uintptr_t)rq->asset, MHD_RESPMEM_PERSISTENT);
	} else {
		const size_t size = rq->answer.length;
		char *data = fg_strbuf_detach(&rq->answer);

		response = MHD_create_response_from_buffer(size, data, MHD_RESPMEM_MUST_FREE);
	}
	if (!response)
		return MHD_NO;
	add_headers(rq, response, packed);
	result = MHD_queue_response(rq->connection, (unsigned)rq->status, response);
	MHD_destroy_response(response);
	return result;
}

static void write_log(struct fg_request *rq, const struct fg_error *err)
{
	const int64_t took_us = (fg_clock_monotonic_ns() - rq->started_ns) / FG_NS_PER_US;
	struct fg_strbuf line = {0};
	struct fg_json_writer w;
	char time[FG_TIME_TEXT_SIZE];

	if (rq->route) {
		atomic_fetch_add(&rq->server->counters.requests[rq->route - fg_routes], 1);
		atomic_fetch_add(&rq->server->counters.microseconds[rq->route - fg_routes],
				 (unsigned long long)took_us);
	}
	atomic_fetch_add(&rq->server->counters.answers[(rq->status / 100) % 6], 1);
	if (rq->server->options.log_fd < 0)
		return;
	fg_time_format_utc(fg_clock_wall_ns(), time);
	fg_json_writer_init(&w, &line, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "time", time);
	fg_json_text(&w, "method", rq->method);
	fg_json_text(&w, "path", rq->path);
	fg_json_text(&w, "who", rq->who);
	fg_json_int(&w, "status", rq->status);
	fg_json_int(&w, "us", took_us);
	fg_json_int(&w, "in", (int64_t)rq->body.length);
	fg_json_int(&w, "out", (int64_t)(rq->asset ? rq->asset_size : rq->answer.length));
	if (err->code != FG_OK)
		fg_json_text(&w, "error", err->message);
	if (rq->status >= 500)
		fg_json_text(&w, "database", rq->server->database_shown);
	fg_json_end(&w);
	fg_strbuf_add_char(&line, '\n');
	if (fg_fs_write_all(rq->server->options.log_fd, line.data, line.length, NULL) != FG_OK)
		rq->server->options.log_fd = -1; /* nobody reads it any more */
	fg_strbuf_release(&line);
}

/* Everything but sending it. */
static void settle(struct fg_request *rq, const struct fg_error *err)
{
	if (err->code != FG_OK)
		answer_error(rq, err);
	else if (!rq->status)
		rq->status = 200;
	write_log(rq, err);
	/* A session is not held while a slow client reads. */
	fg_session_back(rq->server, rq->store);
	rq->store = NULL;
	if (!rq->asset && rq->answer.length >= PACK_FROM_BYTES && accepts_gzip(rq))
		rq->packed = pack(&rq->answer);
}

static enum MHD_Result begin(struct fg_server *server, struct MHD_Connection *connection,
			     const char *method, const char *path, void **request)
{
	struct fg_request *rq = fg_xcalloc(1, sizeof(*rq));
	struct fg_error err = {0};

	*request = rq;
	rq->server = server;
	rq->connection = connection;
	rq->method = fg_arena_strdup(&rq->arena, method);
	rq->path = fg_arena_strdup(&rq->arena, path);
	rq->started_ns = fg_clock_monotonic_ns();
	fg_connections_request(server->lines, connection, true);
	note_address(rq);
	if (admit(rq, &err) != FG_OK) {
		settle(rq, &err);
		return send_answer(rq);
	}
	fg_session_back(server, rq->store); /* not while the body trickles in */
	rq->store = NULL;
	return MHD_YES;
}

static enum MHD_Result take(struct fg_request *rq, const char *data, size_t *size)
{
	const size_t limit =
		rq->route->takes_run ? rq->server->options.body_limit_bytes : SMALL_BODY_BYTES;

	if (rq->body.length + *size > limit) {
		rq->too_large = true;
		fg_strbuf_release(&rq->body);
	}
	if (!rq->too_large) {
		fg_strbuf_add(&rq->body, data, *size);
		rq->counted_bytes += *size;
		atomic_fetch_add(&rq->server->body_bytes, *size);
		atomic_fetch_add(&rq->server->counters.bytes_in, *size);
	}
	*size = 0;
	return MHD_YES;
}

/* The first step, or the one after a write. */
static int step(struct fg_request *rq, struct fg_error *err)
{
	fg_handler *then = rq->then;

	if (then) {
		rq->then = NULL;
		if (rq->write.status != FG_OK)
			*err = rq->write.err;
		return then(rq, err);
	}
	if (rq->too_large)
		return fg_error_set(err, FG_ELIMIT, "the body is too large");
	if (rq->route->scope != FG_SCOPE_NONE && open_session(rq, err) != FG_OK)
		return (int)err->code;
	return rq->route->handler(rq, err);
}

/* False: the writer has the request now. */
static bool handle(struct fg_request *rq)
{
	struct fg_error err = {0};

	if (step(rq, &err) != FG_OK && err.code == FG_OK)
		(void)fg_error_set(&err, FG_EDB, "a handler failed without a reason");
	if (!rq->then) {
		settle(rq, &err);
		return true;
	}
	/* A session is not held while the disk works. */
	fg_session_back(rq->server, rq->store);
	rq->store = NULL;
	fg_writer_give(rq->server->writer, rq);
	return false;
}

bool fg_http_answer(struct fg_request *rq)
{
	if (!handle(rq))
		return false;
	MHD_resume_connection(rq->connection);
	return true;
}

static void refuse_when_stopping(struct fg_request *rq)
{
	struct fg_error err = {0};

	(void)refuse(rq, 503, &err, "the server is stopping");
	settle(rq, &err);
}

/* All of it has come.  Called again once the answer is made, when it was made by another thread. */
static enum MHD_Result finish(struct fg_request *rq)
{
	if (rq->held)
		return send_answer(rq);
	if (rq->route->scope != FG_SCOPE_NONE && fg_workers_hold(rq->server->workers)) {
		rq->held = true;
		MHD_suspend_connection(rq->connection);
		fg_workers_give(rq->server->workers, rq);
		return MHD_YES;
	}
	/* What is to be written cannot be waited for here. */
	if (rq->route->takes_run)
		refuse_when_stopping(rq);
	else
		(void)handle(rq);
	return send_answer(rq);
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are libmicrohttpd's */
enum MHD_Result fg_http_access(void *context, struct MHD_Connection *connection, const char *url,
			       const char *method, const char *version, const char *data,
			       size_t *size, void **request)
{
	struct fg_request *rq = *request;

	(void)version;
	if (!rq)
		return begin(context, connection, method, url, request);
	if (*size)
		return take(rq, data, size);
	return finish(rq);
}

void fg_http_completed(void *context, struct MHD_Connection *connection, void **request,
		       enum MHD_RequestTerminationCode code)
{
	struct fg_request *rq = *request;

	(void)code;
	if (!rq)
		return;
	fg_connections_request(((struct fg_server *)context)->lines, connection, false);
	if (rq->held)
		fg_workers_let_go(rq->server->workers);
	atomic_fetch_sub(&rq->server->body_bytes, rq->counted_bytes);
	fg_session_back(rq->server, rq->store);
	fg_strbuf_release(&rq->body);
	fg_strbuf_release(&rq->answer);
	fg_arena_release(&rq->arena);
	free(rq);
	*request = NULL;
}
