// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/api/decision.h"

#include "base/number.h"
#include "base/text.h"
#include "store/transaction.h"

int fg_decision_begin(struct fg_request *rq, struct fg_error *err)
{
	return fg_store_batch_begin(rq->store, err);
}

int fg_decision_end(struct fg_request *rq, int status, const struct fg_audit_entry *entry,
		    struct fg_error *err)
{
	struct fg_audit_entry signed_entry = *entry;

	signed_entry.who = rq->author ? rq->author : rq->client;
	if (status != FG_OK)
		goto undo;
	status = fg_store_audit_add(rq->store, &signed_entry, err);
	if (status != FG_OK || fg_store_batch_is_spoiled(rq->store))
		goto undo;
	return fg_store_batch_end(rq->store, err);
undo:
	fg_store_batch_undo(rq->store);
	return status;
}

static int check_members(const cJSON *json, const char *const *names, struct fg_error *err)
{
	const cJSON *member = NULL;

	cJSON_ArrayForEach(member, json)
	{
		const char *const *name = names;

		while (*name && strcmp(*name, member->string) != 0)
			name++;
		if (!*name && strcmp(member->string, "project") != 0)
			return fg_error_set(err, FG_EINVAL, "unknown member '%.40s'",
					    member->string);
		if (cJSON_GetObjectItemCaseSensitive(json, member->string) != member)
			return fg_error_set(err, FG_EINVAL, "duplicate member '%.40s'",
					    member->string);
	}
	return FG_OK;
}

int fg_decision_body(struct fg_request *rq, const char *const *names, cJSON **json,
		     const char **project, struct fg_error *err)
{
	const char *text = fg_body_data(&rq->body);
	const size_t size = rq->body.size;

	*json = NULL;
	if (!fg_text_is_utf8(text, size))
		return fg_error_set(err, FG_EPARSE, "the body is not UTF-8");
	FG_TRY(fg_json_parse(text, size, size, json, err));
	if (!cJSON_IsObject(*json))
		return fg_error_set(err, FG_EPARSE, "expected a JSON object");
	FG_TRY(check_members(*json, names, err));
	*project = fg_json_text_or(*json, "project", NULL);
	return fg_request_may_see(rq, *project, err);
}

char *fg_decision_text(struct fg_request *rq, const cJSON *json, const char *name,
		       const char *missing)
{
	return fg_arena_strdup(&rq->arena, fg_json_text_or(json, name, missing));
}

int fg_decision_number(struct fg_request *rq, const char *what, int64_t *number,
		       struct fg_error *err)
{
	if (fg_parse_int64(rq->tail, number, NULL) == FG_OK)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL, "'%.40s' is not the number of %s", rq->tail, what);
}

void fg_decision_answer(struct fg_request *rq, const char *name, const char *text, int64_t number)
{
	struct fg_json_writer w;

	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	if (text)
		fg_json_text(&w, name, text);
	else
		fg_json_int(&w, name, number);
	fg_json_end(&w);
}
