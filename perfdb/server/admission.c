// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/admission.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "perfdb/server/limiter.h"
#include "perfdb/server/routes.h"

#include <arpa/inet.h>
#include <microhttpd.h>

enum {
	SMALL_BODY_BYTES = 64 << 10
};

static void find_client(struct fg_request *rq)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(rq->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info ? info->client_addr : NULL;
	char text[INET6_ADDRSTRLEN] = "?";

	if (address && address->sa_family == AF_INET)
		(void)inet_ntop(AF_INET,
				&((const struct sockaddr_in *)(const void *)address)->sin_addr,
				text, sizeof(text));
	else if (address && address->sa_family == AF_INET6)
		(void)inet_ntop(AF_INET6,
				&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
				text, sizeof(text));
	rq->client = fg_arena_strdup(&rq->arena, text);
	rq->who = rq->client;
}

static int check_route(struct fg_request *rq, struct fg_error *err)
{
	bool is_path_known = false;

	rq->route = fg_route_find(rq->method, rq->path, &rq->tail, &is_path_known);
	if (rq->route)
		return FG_OK;
	if (is_path_known)
		return fg_request_refuse(rq, 405, err, "this address has no such method");
	return fg_error_set(err, FG_ENOENT, "there is nothing at this address");
}

static int check_rate(struct fg_request *rq, struct fg_error *err)
{
	struct fg_server *server = rq->server;
	const unsigned wait = fg_limiter_count(server->requests, rq->who, fg_clock_monotonic_ns());

	if (!wait)
		return FG_OK;
	atomic_fetch_add(&server->counters.limited, 1);
	rq->answer.retry_after_s = wait;
	return fg_request_refuse(rq, 429, err, "too many requests in one minute");
}

static int check_length(struct fg_request *rq, struct fg_error *err)
{
	const char *length = fg_request_header(rq, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct fg_server *server = rq->server;
	uint64_t announced = 0;

	rq->body.limit = rq->route->takes_run ? server->options.body_limit_bytes : SMALL_BODY_BYTES;
	rq->body.total = &server->body_bytes;
	rq->body.total_limit = server->options.bodies_limit_bytes;
	if (length &&
	    (fg_parse_uint64(length, &announced, NULL) != FG_OK || announced > rq->body.limit))
		return fg_error_set(err, FG_ELIMIT, "the body is larger than %zu bytes",
				    rq->body.limit);
	if (atomic_load(rq->body.total) > rq->body.total_limit)
		return fg_request_refuse(rq, 503, err, "the server is busy with other uploads");
	return FG_OK;
}

int fg_admission_check(struct fg_request *rq, struct fg_error *err)
{
	int status = FG_OK;

	find_client(rq);
	status = check_route(rq, err);
	if (status != FG_OK)
		return status;
	status = check_rate(rq, err);
	return status == FG_OK ? check_length(rq, err) : status;
}

/*
 * A loopback name, with or without a port, compared as a whole: "localhost.example.org" can be
 * anybody's.  Every browser sends a Host.
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

/* The Host header can be forged, and to this server a proxy on this machine looks local. */
static int admit_without_token(struct fg_request *rq, struct fg_error *err)
{
	static const char *const proxy_headers[] = {"Forwarded", "X-Forwarded-For", "Via"};

	if (!rq->server->is_open)
		return fg_request_refuse(
			rq, 403, err,
			"this server lets nobody in before a token is made: `perfdb token create`");
	if (!is_local_name(fg_request_header(rq, MHD_HTTP_HEADER_HOST)))
		return fg_request_refuse(rq, 403, err,
					 "a server without tokens answers to loopback names only");
	for (size_t i = 0; i < FG_ARRAY_SIZE(proxy_headers); i++) {
		if (fg_request_header(rq, proxy_headers[i]))
			return fg_request_refuse(
				rq, 403, err,
				"a server without tokens does not answer through a proxy");
	}
	rq->scope = FG_SCOPE_ADMIN;
	return FG_OK;
}

static int admit_token(struct fg_request *rq, const char *text, struct fg_error *err)
{
	struct fg_token token = {0};
	struct fg_error reason = {0};
	const int status =
		fg_store_token_check(rq->store, text, fg_clock_wall_ns(), &token, &reason);

	if (status == FG_ENOENT)
		return fg_request_refuse(rq, 401, err, reason.message);
	if (status != FG_OK)
		return fg_error_set(err, reason.code, "%s", reason.message);
	rq->scope = token.scope;
	rq->project = fg_arena_strdup(&rq->arena, token.project);
	rq->who = fg_arena_printf(&rq->arena, "token %lld", (long long)token.id);
	fg_token_release(&token);
	if (rq->scope < rq->route->scope)
		return fg_request_refuse(rq, 403, err, "this token may not do that");
	return FG_OK;
}

/* Failing to open a session is never the client's fault. */
static int open_session(struct fg_request *rq, struct fg_error *err)
{
	rq->store = fg_sessions_borrow(rq->server->sessions, err);
	if (rq->store)
		return FG_OK;
	rq->answer.status = 503;
	err->code = FG_EIO;
	return FG_EIO;
}

int fg_admission_authorize(struct fg_request *rq, struct fg_error *err)
{
	const char *header = fg_request_header(rq, MHD_HTTP_HEADER_AUTHORIZATION);
	size_t tokens = 0;
	int status = FG_OK;

	if (!rq->store && open_session(rq, err) != FG_OK)
		return (int)err->code;
	if (rq->authorized)
		return FG_OK;
	status = fg_store_token_count(rq->store, &tokens, err);
	if (status != FG_OK)
		return status;
	if (tokens == 0)
		status = admit_without_token(rq, err);
	else if (!header || !fg_text_starts_with(header, "Bearer "))
		status = fg_request_refuse(rq, 401, err,
					   "a token is needed: Authorization: Bearer TOKEN");
	else
		status = admit_token(rq, header + strlen("Bearer "), err);
	rq->authorized = status == FG_OK;
	return status;
}
