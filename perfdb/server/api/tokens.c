// SPDX-License-Identifier: Apache-2.0
/*
 * Tokens and the audit log. An administrator of one project sees and creates only that project's
 * tokens.
 */
#include "base/clock.h"
#include "base/number.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"

enum {
	AUDIT_PAGE = 1000,
	AUDIT_PAGE_MAX = 10000
};

int fg_handle_tokens(struct fg_request *rq, struct fg_error *err)
{
	struct fg_token_list list = {0};
	struct fg_json_writer w;

	FG_TRY(fg_store_token_list(rq->store, &list, err));
	fg_request_json_list(rq, &w, "tokens");
	for (size_t i = 0; i < list.count; i++) {
		const struct fg_token *token = &list.items[i];

		if (fg_request_may_see(rq, token->project, NULL) != FG_OK)
			continue;
		fg_json_begin_object(&w, NULL);
		fg_json_int(&w, "id", token->id);
		fg_json_text(&w, "project", token->project);
		fg_json_text(&w, "scope", fg_scope_name(token->scope));
		fg_json_text(&w, "note", token->note);
		fg_json_time(&w, "created_at", token->created_ns);
		fg_json_time(&w, "expires_at", token->expires_ns);
		if (token->used_ns)
			fg_json_time(&w, "used_at", token->used_ns);
		if (token->used_from)
			fg_json_text(&w, "used_from", token->used_from);
		fg_json_bool(&w, "revoked", token->revoked);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_token_list_release(&list);
	return FG_OK;
}

static int read_token(struct fg_request *rq, const cJSON *json, struct fg_token *token,
		      struct fg_error *err)
{
	const char *scope = fg_json_text_or(json, "scope", "");
	int64_t life_ns = 0;
	int status = FG_OK;

	if (!fg_scope_parse(scope, &token->scope))
		return fg_error_set(err, FG_EINVAL, "'%.40s' is not a scope: " FG_SCOPE_NAMES,
				    scope);
	status = fg_parse_duration_ns(fg_json_text_or(json, "expires", FG_TOKEN_LIFE), &life_ns,
				      err);
	if (status != FG_OK)
		return status;
	if (life_ns <= 0)
		return fg_error_set(err, FG_EINVAL, "'expires' must be longer than 0, such as 90d");
	if (life_ns > FG_TOKEN_LIFE_MAX_NS)
		return fg_error_set(err, FG_EINVAL, FG_TOKEN_LIFE_REFUSED);
	token->expires_ns = fg_clock_wall_ns() + life_ns;
	token->note = fg_decision_text(rq, json, "note", NULL);
	return FG_OK;
}

static int create(struct fg_request *rq, struct fg_token *token, char text[FG_TOKEN_TEXT_SIZE],
		  struct fg_error *err)
{
	struct fg_audit_entry entry = {.project = token->project, .action = "token.create"};
	int status = FG_OK;

	FG_TRY(fg_decision_begin(rq, err));
	status = fg_store_token_create(rq->store, token, text, err);
	entry.subject = fg_arena_printf(&rq->arena, "token %lld", (long long)token->id);
	entry.detail = fg_arena_printf(&rq->arena, "%s%s%s", fg_scope_name(token->scope),
				       token->note ? ": " : "", token->note ? token->note : "");
	return fg_decision_end(rq, status, &entry, err);
}

int fg_handle_token_create(struct fg_request *rq, struct fg_error *err)
{
	struct fg_token token = {0};
	char text[FG_TOKEN_TEXT_SIZE];
	struct fg_json_writer w;
	static const char *const names[] = {"scope", "expires", "note", NULL};
	const char *project = NULL;
	cJSON *json = NULL;
	int status = fg_decision_body(rq, names, &json, &project, err);

	if (status == FG_OK)
		status = read_token(rq, json, &token, err);
	token.project = fg_arena_strdup(&rq->arena, project);
	cJSON_Delete(json);
	if (status != FG_OK)
		return status;
	FG_TRY(create(rq, &token, text, err));
	rq->answer.status = FG_HTTP_CREATED;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_int(&w, "id", token.id);
	fg_json_text(&w, "token", text);
	fg_json_end(&w);
	explicit_bzero(text, sizeof(text));
	return FG_OK;
}

static int revoke_token(struct fg_request *rq, int64_t id, const char *project,
			struct fg_error *err)
{
	const struct fg_audit_entry entry = {
		.project = project,
		.action = "token.revoke",
		.subject = fg_arena_printf(&rq->arena, "token %lld", (long long)id),
	};
	int status = FG_OK;

	FG_TRY(fg_decision_begin(rq, err));
	status = fg_store_token_revoke(rq->store, id, err);
	return fg_decision_end(rq, status, &entry, err);
}

int fg_handle_token_revoke(struct fg_request *rq, struct fg_error *err)
{
	char *project = NULL;
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY_OUT(fg_decision_number(rq, "a token", &id, err));
	FG_TRY_OUT(fg_store_token_project(rq->store, id, &project, err));
	if (fg_request_may_see(rq, project, NULL) != FG_OK)
		FG_TRY_OUT(fg_error_set(err, FG_ENOENT, "there is no token %lld", (long long)id));
	FG_TRY_OUT(revoke_token(rq, id, project, err));
	fg_decision_answer(rq, "revoked", NULL, id);
out:
	free(project);
	return status;
}

static void add_entry(void *context, const struct fg_audit_entry *entry)
{
	struct fg_strbuf *text = context;

	fg_audit_line(entry, text);
}

/* Answers with lines of JSON, oldest first; the next page begins after this page's last id. */
int fg_handle_audit(struct fg_request *rq, struct fg_error *err)
{
	struct fg_audit_page page = {0};
	size_t after = 0;
	size_t limit = AUDIT_PAGE;

	FG_TRY(fg_request_which_project(rq, &page.project, err));
	FG_TRY(fg_request_size(rq, "after", INT64_MAX, &after, err));
	FG_TRY(fg_request_size(rq, "limit", AUDIT_PAGE_MAX, &limit, err));
	page.after = (int64_t)after;
	page.limit = limit;
	rq->answer.type = "application/x-ndjson";
	return fg_store_audit_list(rq->store, &page, add_entry, &rq->answer.text, err);
}
