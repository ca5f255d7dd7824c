// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/guard.h"

#include "base/text.h"
#include "perfdb/server/routes.h"

#include <microhttpd.h>

struct counts {
	int hosts;
	int lengths;
	int encodings;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	struct counts *counts = context;

	(void)kind;
	(void)value;
	counts->hosts += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
	counts->lengths += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0;
	counts->encodings += strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
	return MHD_YES;
}

static enum MHD_Result find_nul(void *context, enum MHD_ValueKind kind, const char *name,
				const char *value)
{
	bool *has_nul = context;

	(void)kind;
	*has_nul |= strchr(name, FG_GUARD_NUL) || (value && strchr(value, FG_GUARD_NUL));
	return MHD_YES;
}

int fg_guard_shape(struct fg_request *rq, struct fg_error *err)
{
	struct counts counts = {0};
	bool has_nul = rq->has_nul || strchr(rq->path, FG_GUARD_NUL);

	(void)MHD_get_connection_values(rq->connection, MHD_HEADER_KIND, count_header, &counts);
	(void)MHD_get_connection_values(rq->connection, MHD_GET_ARGUMENT_KIND, find_nul, &has_nul);
	if (has_nul)
		return fg_request_refuse(rq, 400, err, "the address contains a NUL byte");
	if (counts.lengths + counts.encodings > 1)
		return fg_request_refuse(rq, 400, err, "the request gives two body lengths");
	if (counts.hosts > 1)
		return fg_request_refuse(rq, 400, err, "the request has two Host headers");
	if (counts.hosts == 0 && !rq->is_http_1_0)
		return fg_request_refuse(rq, 400, err, "the Host header is missing");
	return FG_OK;
}

/* Returns the length of the host name without the port. */
static size_t name_length(const char *host)
{
	const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
	const char *from = bracket ? bracket : host;

	return (size_t)(from - host) + strcspn(from, ":");
}

/* Compares the whole name: anybody can own "localhost.example.org". */
static bool is_called(const char *host, const char *name)
{
	const size_t length = name_length(host);

	return strlen(name) == length && strncasecmp(host, name, length) == 0;
}

bool fg_guard_is_local_name(const char *host)
{
	return is_called(host, "127.0.0.1") || is_called(host, "localhost") ||
	       is_called(host, "[::1]");
}

int fg_guard_host(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_server_options *options = &rq->server->options;
	const char *host = fg_request_header(rq, MHD_HTTP_HEADER_HOST);

	if ((options->hosts.count == 0 && !options->secret) || !host ||
	    fg_guard_is_local_name(host))
		return FG_OK;
	for (size_t i = 0; i < options->hosts.count; i++) {
		if (is_called(host, options->hosts.items[i]))
			return FG_OK;
	}
	return fg_request_refuse(rq, 403, err, "this server does not serve this host name");
}

/* Does "https://HOST:PORT" match the Host header "HOST:PORT"? */
static bool is_own_origin(struct fg_request *rq, const char *origin)
{
	const char *host = fg_request_header(rq, MHD_HTTP_HEADER_HOST);
	const char *name = strstr(origin, "://");

	return host && name && strcasecmp(name + 3, host) == 0;
}

/*
 * The expected types need a CORS preflight, unlike text/plain, which a form on any site can send.
 */
static bool has_expected_type(struct fg_request *rq)
{
	const char *type = fg_request_header(rq, MHD_HTTP_HEADER_CONTENT_TYPE);
	const char *expected = fg_route_body_type(rq->route);

	return type && strcspn(type, "; \t") == strlen(expected) &&
	       strncasecmp(type, expected, strlen(expected)) == 0;
}

int fg_guard_write(struct fg_request *rq, struct fg_error *err)
{
	const char *site = fg_request_header(rq, "Sec-Fetch-Site");
	const char *origin = fg_request_header(rq, MHD_HTTP_HEADER_ORIGIN);

	if (!fg_route_writes(rq->route))
		return FG_OK;
	if ((site && strcmp(site, "same-origin") != 0) || (origin && !is_own_origin(rq, origin)))
		return fg_request_refuse(rq, 403, err,
					 "requests from other sites may not write here");
	if (strcmp(rq->method, "DELETE") != 0 && !has_expected_type(rq))
		return fg_request_refuse(rq, 415, err,
					 fg_arena_printf(&rq->arena, "expected Content-Type: %s",
							 fg_route_body_type(rq->route)));
	return FG_OK;
}

/* Compares in constant time, independent of where the strings differ. */
static bool is_equal(const char *given, const char *secret)
{
	const size_t length = strlen(secret);
	unsigned difference = 0;

	if (!given || strlen(given) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		difference |= (unsigned char)given[i] ^ (unsigned char)secret[i];
	return difference == 0;
}

int fg_guard_secret(struct fg_request *rq, bool *is_entry, struct fg_error *err)
{
	const char *secret = rq->server->options.secret;
	const char *header = fg_request_header(rq, MHD_HTTP_HEADER_AUTHORIZATION);
	const char *cookie = NULL;

	*is_entry = false;
	if (!secret || rq->route->is_public)
		return FG_OK;
	*is_entry = strcmp(rq->path, "/") == 0 && is_equal(fg_request_parameter(rq, "key"), secret);
	if (*is_entry)
		return FG_OK;
	if (header && fg_text_starts_with(header, "Bearer ") &&
	    is_equal(header + strlen("Bearer "), secret))
		return FG_OK;
	cookie = MHD_lookup_connection_value(rq->connection, MHD_COOKIE_KIND,
					     rq->server->cookie_name);
	if (is_equal(cookie, secret))
		return FG_OK;
	return fg_request_refuse(rq, 401, err,
				 "open the address that the server printed: it contains the key");
}
