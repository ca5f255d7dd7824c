// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/people.h"

#include "base/clock.h"
#include "base/text.h"
#include "perfdb/server/limiter.h"
#include "perfdb/server/proxies.h"
#include "perfdb/server/routes.h"

#include <microhttpd.h>

bool fg_people_can_sign_in(const struct fg_server *server)
{
	return server->oidc || server->options.user_header;
}

static const char *cookie_name(struct fg_request *rq, const char *suffix)
{
	return fg_arena_printf(&rq->arena, "%s%s", rq->server->cookie_name, suffix);
}

/* Lax: the browser comes back from the identity server's page, and must bring it. */
const char *fg_people_cookie(struct fg_request *rq, const char *suffix, const char *value,
			     int64_t life_s)
{
	return fg_arena_printf(&rq->arena, "%s=%s; HttpOnly; SameSite=Lax; Path=/; Max-Age=%lld%s",
			       cookie_name(rq, suffix), value, (long long)life_s,
			       rq->server->cookies_are_secure ? "; Secure" : "");
}

const char *fg_people_kept(struct fg_request *rq, const char *suffix)
{
	const char *value = NULL;

	if (!rq->server->oidc)
		return NULL;
	value = MHD_lookup_connection_value(rq->connection, MHD_COOKIE_KIND,
					    cookie_name(rq, suffix));
	return value && *value ? value : NULL;
}

/* The only project of all grants; NULL: several, or all. */
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
	rq->is_person = true;
	rq->author = fg_arena_strdup(&rq->arena, name);
	rq->who = rq->author;
	rq->project = only_project(&rq->grants);
	if (rq->grants.count == 0)
		return fg_request_refuse(
			rq, 403, err,
			fg_arena_printf(
				&rq->arena,
				"%.200s has no role here yet: an administrator can give one",
				name));
	if (rq->route->takes_run)
		return fg_request_refuse(rq, 403, err, "runs are sent with a token");
	if (!fg_request_is_allowed(rq, rq->route->scope))
		return fg_request_refuse(
			rq, 403, err, fg_arena_printf(&rq->arena, "%.200s may not do that", name));
	return FG_OK;
}

static void add_groups(struct fg_request *rq, const char *list, struct fg_person *person)
{
	char *rest = fg_arena_strdup(&rq->arena, list);

	while (rest && *rest) {
		char *next = strchr(rest, ',');
		size_t length = next ? (size_t)(next - rest) : strlen(rest);

		while (length > 0 && *rest == ' ') {
			rest++;
			length--;
		}
		while (length > 0 && rest[length - 1] == ' ')
			length--;
		rest[length] = '\0';
		fg_person_add(person, rest, true);
		rest = next ? next + 1 : NULL;
	}
}

/* FG_ENOENT: no proxy of ours names anybody. */
static int admit_by_proxy(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_server_options *options = &rq->server->options;
	struct fg_person person = {0};
	const char *name = NULL;
	int status = FG_OK;

	if (!options->user_header || !fg_proxies_trust(rq->server->proxies, rq->peer))
		return FG_ENOENT;
	name = fg_request_header_list(rq, options->user_header);
	if (!name || !*name)
		return FG_ENOENT;
	if (strchr(name, ',') || fg_text_starts_with(name, FG_GROUP_START))
		return fg_request_refuse(rq, 400, err, "the proxy's header names several people");
	fg_person_add(&person, name, false);
	if (options->groups_header)
		add_groups(rq, fg_request_header_list(rq, options->groups_header), &person);
	status = fg_store_grants(rq->store, &person, &rq->grants, err);
	fg_person_release(&person);
	return status == FG_OK ? check_person(rq, name, err) : status;
}

static int admit_by_cookie(struct fg_request *rq, const char *text, struct fg_error *err)
{
	struct fg_error reason = {0};
	char *who = NULL;
	int status =
		fg_store_signed_in(rq->store, text, fg_clock_wall_ns(), &who, &rq->grants, &reason);

	if (status == FG_ENOENT) {
		(void)fg_limiter_count(rq->server->failures, rq->client, fg_clock_monotonic_ns());
		return fg_request_refuse(rq, 401, err, reason.message);
	}
	if (status != FG_OK)
		return fg_error_set(err, reason.code, "%s", reason.message);
	status = check_person(rq, who, err);
	free(who);
	return status;
}

int fg_people_admit(struct fg_request *rq, struct fg_error *err)
{
	const int status = admit_by_proxy(rq, err);
	const char *cookie = NULL;

	if (status != FG_ENOENT)
		return status;
	cookie = fg_people_kept(rq, "");
	if (cookie)
		return admit_by_cookie(rq, cookie, err);
	return fg_request_refuse(rq, 401, err,
				 "sign in, or give a token: Authorization: Bearer TOKEN");
}
