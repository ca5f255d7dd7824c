// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/request.h"

#include "base/number.h"
#include "perfdb/server/replica.h"
#include "perfdb/server/routes.h"
#include "store/serving/uploads.h"
#include "store/store.h"

#include <microhttpd.h>

enum {
	UUID_LENGTH = 36
};

void fg_request_leave_store(struct fg_request *rq)
{
	if (rq->is_of_replica)
		fg_replica_give_back(rq->server->replica, rq->store);
	else
		fg_sessions_give_back(rq->server->sessions, rq->store);
	rq->store = NULL;
	rq->is_of_replica = false;
}

int fg_request_enter_store(struct fg_request *rq, struct fg_error *err)
{
	if (rq->store)
		return FG_OK;
	rq->store = fg_sessions_borrow(rq->server->sessions, err);
	if (rq->store)
		return FG_OK;
	err->code = FG_ENET;
	return FG_ENET;
}

const char *fg_request_parameter(struct fg_request *rq, const char *name)
{
	const char *value =
		MHD_lookup_connection_value(rq->connection, MHD_GET_ARGUMENT_KIND, name);

	return value && *value ? value : NULL;
}

const char *fg_request_header(struct fg_request *rq, const char *name)
{
	return MHD_lookup_connection_value(rq->connection, MHD_HEADER_KIND, name);
}

struct header_list {
	const char *name;
	const char *text;
	struct fg_arena *arena;
};

static enum MHD_Result add_to_list(void *context, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct header_list *list = context;

	(void)kind;
	if (strcasecmp(name, list->name) == 0 && value)
		list->text = list->text ? fg_arena_printf(list->arena, "%s,%s", list->text, value)
					: value;
	return MHD_YES;
}

const char *fg_request_header_list(struct fg_request *rq, const char *name)
{
	struct header_list list = {.name = name, .arena = &rq->arena};

	(void)MHD_get_connection_values(rq->connection, MHD_HEADER_KIND, add_to_list, &list);
	return list.text;
}

int fg_request_need(struct fg_request *rq, const char *name, const char **value,
		    struct fg_error *err)
{
	*value = fg_request_parameter(rq, name);
	return *value ? FG_OK : fg_error_set(err, FG_EINVAL, "parameter '%s' is missing", name);
}

int fg_request_size(struct fg_request *rq, const char *name, size_t max, size_t *value,
		    struct fg_error *err)
{
	const char *text = fg_request_parameter(rq, name);
	uint64_t number = 0;

	if (!text)
		return FG_OK;
	if (fg_parse_uint64(text, &number, err) != FG_OK) {
		fg_error_prefix(err, "parameter '%s'", name);
		return FG_EINVAL;
	}
	if (number > max)
		return fg_error_set(err, FG_EINVAL, "parameter '%s': %llu exceeds the limit of %zu",
				    name, (unsigned long long)number, max);
	*value = (size_t)number;
	return FG_OK;
}

static bool covers(const struct fg_grant *grant, const char *project, enum fg_scope needed)
{
	const bool is_there = !grant->project || (project && strcmp(grant->project, project) == 0);

	return is_there && fg_scope_covers(grant->scope, needed);
}

int fg_request_may_see(const struct fg_request *rq, const char *project, struct fg_error *err)
{
	for (size_t i = 0; i < rq->grants.count; i++) {
		if (covers(&rq->grants.items[i], project, rq->route->scope))
			return FG_OK;
	}
	return fg_error_set(err, FG_ENOENT, "there is no project '%.100s', or you may not see it",
			    project ? project : "");
}

bool fg_request_is_allowed(const struct fg_request *rq, enum fg_scope needed)
{
	for (size_t i = 0; i < rq->grants.count; i++) {
		if (fg_scope_covers(rq->grants.items[i].scope, needed))
			return true;
	}
	return false;
}

int fg_request_which_project(struct fg_request *rq, const char **project, struct fg_error *err)
{
	*project = fg_request_parameter(rq, "project");
	if (!*project)
		*project = rq->project;
	if (fg_request_may_see(rq, *project, err) == FG_OK)
		return FG_OK;
	if (!*project)
		return fg_error_set(err, FG_EINVAL, "parameter 'project' is missing");
	return FG_ENOENT;
}

int fg_request_project(struct fg_request *rq, const char **project, struct fg_error *err)
{
	const int status = fg_request_need(rq, "project", project, err);

	return status == FG_OK ? fg_request_may_see(rq, *project, err) : status;
}

int fg_request_find_run(struct fg_request *rq, const char *name, const char **id,
			struct fg_error *err)
{
	struct fg_upload_state state = {0};
	char found[UUID_LENGTH + 1] = "";
	const char *project = rq->project ? rq->project : fg_request_parameter(rq, "project");
	int status = fg_store_find(rq->store, project, name, found, err);

	*id = NULL;
	if (status != FG_OK)
		return status;
	status = fg_store_upload_state(rq->store, found, &state, err);
	if (status == FG_OK)
		status = fg_request_may_see(rq, state.project, err);
	fg_upload_state_release(&state);
	*id = fg_arena_strdup(&rq->arena, found);
	return status;
}

int fg_request_refuse(struct fg_request *rq, int http_status, struct fg_error *err,
		      const char *message)
{
	rq->answer.status = http_status;
	return fg_error_set(err, FG_EINVAL, "%s", message);
}

void fg_request_json(struct fg_request *rq, struct fg_json_writer *w)
{
	rq->answer.type = "application/json";
	fg_json_writer_init(w, &rq->answer.text, 0);
}

void fg_request_json_list(struct fg_request *rq, struct fg_json_writer *w, const char *name)
{
	fg_request_json(rq, w);
	fg_json_begin_object(w, NULL);
	fg_json_begin_array(w, name);
}

const int64_t fg_latency_us[FG_LATENCY_STEPS] = {500,    2000,    10000,   50000,
						 200000, 1000000, 5000000, 30000000};
