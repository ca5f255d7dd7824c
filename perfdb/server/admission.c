// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/text.h"
#include "perfdb/server/guard.h"
#include "perfdb/server/health.h"
#include "perfdb/server/limiter.h"
#include "perfdb/server/notes.h"
#include "perfdb/server/ranges.h"
#include "perfdb/server/recent_tokens.h"
#include "perfdb/server/request.h"
#include "perfdb/server/routes.h"

#include <arpa/inet.h>
#include <microhttpd.h>

enum {
	SMALL_BODY_BYTES = 64 << 10,
	DATABASE_RETRY_SECONDS = 5,
	GROUPS_MAX = 100,
	HOPS_MAX = 32
};

static const int64_t note_use_every_ns = 60 * FG_NS_PER_S;

/* ---- the client, behind proxies ---- */

/* Accepts "192.0.2.1", "192.0.2.1:80" and "[2001:db8::1]:80". */
static bool parse_node(const char *text, size_t size, struct fg_address *address)
{
	char node[FG_ADDRESS_TEXT_SIZE + 10];
	char *start = node;
	char *end = NULL;

	if (size >= sizeof(node))
		return false;
	memcpy(node, text, size);
	node[size] = '\0';
	if (*start == '[') {
		end = strchr(++start, ']');
		if (!end)
			return false;
	} else if (strchr(start, ':') && strchr(start, ':') == strrchr(start, ':')) {
		end = strchr(start, ':');
	}
	if (end)
		*end = '\0';
	return fg_address_parse(start, address);
}

/*
 * Finds, from the right, the first address that is not a trusted proxy, or the leftmost address if
 * all are proxies. Returns false if an entry is not an address, or if the list is too long.
 */
static bool read_list(const struct fg_ranges *proxies, const char *list, struct fg_address *client)
{
	const char *end = list + strlen(list);

	for (int hop = 0; hop < HOPS_MAX; hop++) {
		const char *start = end;
		size_t size = 0;

		while (start > list && start[-1] != ',')
			start--;
		size = (size_t)(end - start);
		while (size > 0 && (*start == ' ' || *start == '\t')) {
			start++;
			size--;
		}
		while (size > 0 && (start[size - 1] == ' ' || start[size - 1] == '\t'))
			size--;
		if (!parse_node(start, size, client))
			return false;
		if (!fg_ranges_have(proxies, client))
			return true;
		while (start > list && start[-1] != ',')
			start--;
		if (start == list)
			return true; /* the leftmost proxy sent the request itself */
		end = start - 1;
	}
	return false;
}

static bool is_trusted_proxy(const struct fg_ranges *proxies, const char *peer)
{
	struct fg_address address;

	return fg_address_parse(peer, &address) && fg_ranges_have(proxies, &address);
}

/*
 * Sets `client` to the client's address: `peer`, unless the peer is a trusted proxy, which names
 * its client in X-Forwarded-For (NULL: not given). Each proxy appends its client on the right, so
 * the list is read from the right, past other trusted proxies; addresses further left are the
 * client's own claim.
 */
static void name_client(const struct fg_ranges *proxies, const char *peer,
			const char *forwarded_for, char client[FG_ADDRESS_TEXT_SIZE])
{
	struct fg_address address;
	struct fg_address named;

	(void)snprintf(client, FG_ADDRESS_TEXT_SIZE, "%s", peer);
	if (!fg_address_parse(peer, &address))
		return;
	if (forwarded_for && fg_ranges_have(proxies, &address) &&
	    read_list(proxies, forwarded_for, &named))
		address = named;
	fg_address_format(&address, client);
}

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
	rq->peer = fg_arena_strdup(&rq->arena, text);
	rq->client = fg_arena_array(&rq->arena, FG_ADDRESS_TEXT_SIZE, 1);
	name_client(rq->server->proxies, text, fg_request_header_list(rq, "X-Forwarded-For"),
		    rq->client);
	rq->who = rq->client;
}

static int check_route(struct fg_request *rq, struct fg_error *err)
{
	const bool read_only = rq->server->options.read_only;
	const struct fg_route_query query = {rq->method, rq->path, read_only};
	const struct fg_route_query any = {rq->method, rq->path, false};
	bool is_path_known = false;

	rq->route = fg_route_find(&query, &rq->tail, &is_path_known);
	if (rq->route)
		return FG_OK;
	(void)fg_route_find(&any, &rq->tail, &is_path_known);
	if (is_path_known)
		return fg_request_refuse(rq, 405, err,
					 read_only ? "this server is read-only"
						   : "this address does not accept this method");
	return fg_error_set(err, FG_ENOENT, "there is nothing at this address");
}

/* Returns the Authorization header if it has a token, or else NULL. */
static const char *token_of(struct fg_request *rq)
{
	const char *header = fg_request_header(rq, MHD_HTTP_HEADER_AUTHORIZATION);

	return header && fg_text_starts_with(header, "Bearer ") ? header : NULL;
}

static bool has_known_token(struct fg_request *rq)
{
	const char *token = token_of(rq);

	return token && fg_recent_tokens_have(rq->server->good_tokens, token);
}

static int count_request(struct fg_request *rq, const char *caller, struct fg_error *err)
{
	const unsigned wait_s =
		fg_limiter_count(rq->server->requests, caller, fg_clock_monotonic_ns());

	if (!wait_s)
		return FG_OK;
	atomic_fetch_add(&rq->server->counters.limited, 1);
	rq->answer.retry_after_s = wait_s;
	return fg_request_refuse(rq, 429, err, "too many requests in one minute");
}

/*
 * Limits requests per token, or per address for clients without a token. A token that was not seen
 * lately counts against its address only after it has failed, so that a valid token never uses up
 * the address's limit.
 */
static int check_rate(struct fg_request *rq, struct fg_error *err)
{
	const char *token = token_of(rq);

	if (rq->route->is_public || (token && !rq->server->options.secret && !has_known_token(rq)))
		return FG_OK;
	return count_request(rq, token ? token : rq->client, err);
}

static int check_secret(struct fg_request *rq, struct fg_error *err)
{
	bool is_entry = false;
	int status = fg_guard_secret(rq, &is_entry, err);

	if (is_entry)
		rq->answer.cookie =
			fg_arena_printf(&rq->arena, "%s=%s; HttpOnly; SameSite=Strict; Path=/%s",
					rq->server->cookie_name, rq->server->options.secret,
					rq->server->certificate ? "; Secure" : "");
	return status;
}

bool fg_admission_is_unproven(struct fg_request *rq)
{
	return rq->route->scope != FG_SCOPE_NONE && !rq->server->options.secret &&
	       (token_of(rq) || fg_route_writes(rq->route)) && !has_known_token(rq);
}

static size_t body_limit(const struct fg_request *rq)
{
	return rq->route->takes_run ? rq->server->options.body_limit_bytes
				    : (size_t)SMALL_BODY_BYTES;
}

static int check_length(struct fg_request *rq, struct fg_error *err)
{
	const char *length = fg_request_header(rq, MHD_HTTP_HEADER_CONTENT_LENGTH);
	const char *sender = token_of(rq) ? token_of(rq) : rq->client;
	struct fg_server *server = rq->server;
	uint64_t announced = 0;

	rq->body.limit = body_limit(rq);
	rq->body.total = &server->body_bytes;
	rq->body.total_limit = server->options.bodies_limit_bytes;
	rq->body.share =
		&server->body_shares[fg_hash64(sender, strlen(sender), 0) % FG_BODY_SHARES];
	if (length &&
	    (fg_parse_uint64(length, &announced, NULL) != FG_OK || announced > rq->body.limit))
		return fg_error_set(err, FG_ELIMIT, "the body is larger than %zu bytes",
				    rq->body.limit);
	rq->body.announced = (size_t)announced;
	return FG_OK;
}

int fg_admission_database_is_down(struct fg_request *rq, struct fg_error *err)
{
	rq->answer.retry_after_s = DATABASE_RETRY_SECONDS;
	return fg_request_refuse(rq, 503, err, "the database does not answer: try again");
}

static int check_database(struct fg_request *rq, struct fg_error *err)
{
	if (rq->route->scope == FG_SCOPE_NONE || fg_health_database_answers(rq->server->health))
		return FG_OK;
	return fg_admission_database_is_down(rq, err);
}

int fg_admission_check(struct fg_request *rq, struct fg_error *err)
{
	typedef int check(struct fg_request * rq, struct fg_error * err);
	static check *const checks[] = {
		fg_guard_shape, fg_guard_host,  check_route,  check_rate,
		check_secret,   check_database, check_length, fg_guard_write,
	};
	int status = FG_OK;

	find_client(rq);
	for (size_t i = 0; i < FG_ARRAY_SIZE(checks) && status == FG_OK; i++)
		status = checks[i](rq, err);
	return status;
}

/* On a server for this machine only, another name in the Host header means DNS rebinding. */
static int admit_without_token(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_server_options *options = &rq->server->options;
	const char *host = fg_request_header(rq, MHD_HTTP_HEADER_HOST);

	if (options->anonymous_read && rq->server->is_local && host &&
	    !fg_guard_is_local_name(host))
		return fg_request_refuse(
			rq, 403, err,
			"without a token, this server answers only to loopback names");
	if (options->anonymous_read)
		fg_grant_list_add(&rq->grants, NULL, FG_SCOPE_READ);
	if (!fg_request_is_allowed(rq, rq->route->scope))
		return fg_request_refuse(rq, 401, err,
					 "a token is required: Authorization: Bearer TOKEN");
	return FG_OK;
}

static int admit_token(struct fg_request *rq, const char *text, struct fg_error *err)
{
	struct fg_token token = {0};
	struct fg_error reason = {0};
	const int64_t now_ns = fg_clock_wall_ns();
	const int status = fg_store_token_check(rq->store, text, now_ns, &token, &reason);

	if (status == FG_ENOENT) {
		atomic_fetch_add(&rq->server->counters.failed_tokens, 1);
		if (count_request(rq, rq->client, err) != FG_OK)
			return FG_EINVAL;
		return fg_request_refuse(rq, 401, err, reason.message);
	}
	if (status != FG_OK)
		return fg_error_set(err, reason.code, "%s", reason.message);
	fg_recent_tokens_add(rq->server->good_tokens, token_of(rq));
	fg_grant_list_add(&rq->grants, token.project, token.scope);
	rq->project = fg_arena_strdup(&rq->arena, token.project);
	rq->who = fg_arena_printf(&rq->arena, "token %lld", (long long)token.id);
	rq->author = token.note && *token.note ? fg_arena_strdup(&rq->arena, token.note) : rq->who;
	if (token.used_ns < now_ns - note_use_every_ns)
		fg_notes_token_use(rq, token.id, now_ns);
	fg_token_release(&token);
	if (!fg_request_is_allowed(rq, rq->route->scope))
		return fg_request_refuse(rq, 403, err,
					 fg_arena_printf(&rq->arena,
							 "this token lacks the scope '%s'",
							 fg_scope_name(rq->route->scope)));
	return FG_OK;
}

/* Returns the only project that the grants cover; NULL: none, several or all projects. */
static const char *only_project(const struct fg_grant_list *grants)
{
	for (size_t i = 0; i < grants->count; i++) {
		if (!grants->items[i].project ||
		    strcmp(grants->items[i].project, grants->items[0].project) != 0)
			return NULL;
	}
	return grants->count ? grants->items[0].project : NULL;
}

static int check_person(struct fg_request *rq, const char *name, struct fg_error *err)
{
	rq->author = fg_arena_strdup(&rq->arena, name);
	rq->who = rq->author;
	rq->project = only_project(&rq->grants);
	if (rq->grants.count == 0)
		return fg_request_refuse(
			rq, 403, err,
			fg_arena_printf(
				&rq->arena,
				"%.200s has no role here yet: an administrator can grant one",
				name));
	if (rq->route->takes_run)
		return fg_request_refuse(rq, 403, err, "uploading a run requires a token");
	if (!fg_request_is_allowed(rq, rq->route->scope))
		return fg_request_refuse(rq, 403, err,
					 fg_arena_printf(&rq->arena, "%.200s lacks the scope '%s'",
							 name, fg_scope_name(rq->route->scope)));
	return FG_OK;
}

static char *trim(char *text)
{
	size_t length = 0;

	while (*text == ' ')
		text++;
	length = strlen(text);
	while (length > 0 && text[length - 1] == ' ')
		text[--length] = '\0';
	return text;
}

static int add_grants(struct fg_request *rq, enum fg_role_kind kind, const char *name,
		      struct fg_error *err)
{
	struct fg_error reason = {0};

	if (fg_role_check_name(name, &reason) != FG_OK)
		return fg_request_refuse(
			rq, 400, err,
			fg_arena_printf(&rq->arena, "the proxy's header: %s", reason.message));
	return fg_store_grants(rq->store, kind, name, &rq->grants, err);
}

/* A name in a form that this server does not accept fails the request instead of being skipped. */
static int add_groups(struct fg_request *rq, const char *list, struct fg_error *err)
{
	char *rest = list ? fg_arena_strdup(&rq->arena, list) : NULL;
	int status = FG_OK;

	for (size_t count = 0; rest && status == FG_OK; count++) {
		char *next = strchr(rest, ',');
		const char *name = NULL;

		if (count == GROUPS_MAX)
			return fg_request_refuse(rq, 400, err,
						 "the proxy's header names too many groups");
		if (next)
			*next++ = '\0';
		name = trim(rest);
		if (*name)
			status = add_grants(rq, FG_ROLE_GROUP, name, err);
		rest = next;
	}
	return status;
}

/*
 * Admits a person named by a trusted proxy. --user-header names the header with the name,
 * --groups-header the header with the groups.
 */
static int admit_person(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_server_options *options = &rq->server->options;
	const char *name = NULL;
	int status = FG_OK;

	if (is_trusted_proxy(rq->server->proxies, rq->peer))
		name = fg_request_header_list(rq, options->user_header);
	if (!name || !*name)
		return fg_request_refuse(rq, 401, err,
					 "a token is required: Authorization: Bearer TOKEN");
	if (strchr(name, ','))
		return fg_request_refuse(rq, 400, err, "the proxy's header names several people");
	status = add_grants(rq, FG_ROLE_PERSON, name, err);
	if (status == FG_OK && options->groups_header)
		status = add_groups(rq, fg_request_header_list(rq, options->groups_header), err);
	return status == FG_OK ? check_person(rq, name, err) : status;
}

/* Admits a request by a token or a proxy's headers; without either, only if everybody may read. */
static int admit(struct fg_request *rq, struct fg_error *err)
{
	const char *header = token_of(rq);

	if (header)
		return admit_token(rq, header + strlen("Bearer "), err);
	if (rq->server->options.user_header)
		return admit_person(rq, err);
	return admit_without_token(rq, err);
}

int fg_admission_authorize(struct fg_request *rq, struct fg_error *err)
{
	int status = fg_request_enter_store(rq, err);

	if (status != FG_OK || rq->authorized)
		return status;
	if (rq->server->options.secret) {
		fg_grant_list_add(&rq->grants, NULL,
				  rq->server->options.read_only ? FG_SCOPE_READ : FG_SCOPE_ADMIN);
		rq->authorized = true;
		return FG_OK;
	}
	status = admit(rq, err);
	rq->authorized = status == FG_OK;
	return status;
}
