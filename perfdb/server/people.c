// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/people.h"

#include "perfdb/server/proxies.h"
#include "perfdb/server/routes.h"

enum {
	GROUPS_MAX = 100
};

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
		return fg_request_refuse(rq, 403, err, "runs are uploaded with a token");
	if (!fg_request_is_allowed(rq, rq->route->scope))
		return fg_request_refuse(rq, 403, err,
					 fg_arena_printf(&rq->arena,
							 "the role of %.200s does not allow that",
							 name));
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

/* A person named in a way that this server does not accept is refused, not skipped. */
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

int fg_people_admit(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_server_options *options = &rq->server->options;
	const char *name = NULL;
	int status = FG_OK;

	if (fg_proxies_trust(rq->server->proxies, rq->peer))
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
