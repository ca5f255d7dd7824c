// SPDX-License-Identifier: Apache-2.0
/* Who may do what.  An administrator of one project sees and gives roles in it alone. */
#include "perfdb/protocol.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"

int fg_handle_roles(struct fg_request *rq, struct fg_error *err)
{
	struct fg_role_list list = {0};
	struct fg_json_writer w;
	const int status = fg_store_role_list(rq->store, &list, err);

	if (status != FG_OK)
		return status;
	fg_request_json_list(rq, &w, "roles");
	for (size_t i = 0; i < list.count; i++) {
		const struct fg_role *role = &list.items[i];

		if (fg_request_may_see(rq, role->project, NULL) != FG_OK)
			continue;
		fg_json_begin_object(&w, NULL);
		fg_json_int(&w, "id", role->id);
		fg_json_text(&w, "who", role->who);
		fg_json_text(&w, "project", role->project);
		fg_json_text(&w, "scope", fg_scope_name(role->scope));
		fg_request_json_time(&w, "created_at", role->created_ns);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_role_list_release(&list);
	return FG_OK;
}

static int add(struct fg_request *rq, struct fg_role *role, struct fg_error *err)
{
	struct fg_audit_entry entry = {.project = role->project, .action = "role.add"};
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_store_role_add(rq->store, role, err);
	entry.subject = role->who;
	entry.detail = fg_scope_name(role->scope);
	return fg_decision_end(rq, status, &entry, err);
}

int fg_handle_role_add(struct fg_request *rq, struct fg_error *err)
{
	const char *project = NULL;
	const char *scope = NULL;
	struct fg_role role = {0};
	cJSON *json = NULL;
	int status = fg_decision_body(rq, &json, &project, err);

	if (status != FG_OK)
		goto out;
	scope = fg_json_text_or(json, "scope", "");
	if (!fg_scope_parse(scope, &role.scope)) {
		status = fg_error_set(err, FG_EINVAL, "'%.40s' is not a scope: " FG_SCOPE_NAMES,
				      scope);
		goto out;
	}
	role.project = fg_arena_strdup(&rq->arena, project);
	role.who = fg_decision_text(rq, json, "who", "");
	status = add(rq, &role, err);
	if (status != FG_OK)
		goto out;
	rq->answer.status = FG_HTTP_CREATED;
	fg_decision_answer(rq, "id", NULL, role.id);
out:
	cJSON_Delete(json);
	return status;
}

static int take_away(struct fg_request *rq, int64_t id, const char *project, struct fg_error *err)
{
	const struct fg_audit_entry entry = {
		.project = project,
		.action = "role.remove",
		.subject = fg_arena_printf(&rq->arena, "role %lld", (long long)id),
	};
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_store_role_remove(rq->store, id, err);
	return fg_decision_end(rq, status, &entry, err);
}

int fg_handle_role_remove(struct fg_request *rq, struct fg_error *err)
{
	char *project = NULL;
	int64_t id = 0;
	int status = fg_decision_number(rq, "a role", &id, err);

	if (status != FG_OK)
		goto out;
	status = fg_store_role_project(rq->store, id, &project, err);
	if (status != FG_OK)
		goto out;
	if (fg_request_may_see(rq, project, NULL) != FG_OK) {
		status = fg_error_set(err, FG_ENOENT, "there is no role %lld", (long long)id);
		goto out;
	}
	status = take_away(rq, id, project, err);
	if (status != FG_OK)
		goto out;
	fg_decision_answer(rq, "removed", NULL, id);
out:
	free(project);
	return status;
}
