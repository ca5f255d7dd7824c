// SPDX-License-Identifier: Apache-2.0
#include "store/serving/webhook.h"

#include "base/clock.h"
#include "store/db.h"
#include "store/session.h"
#include "store/transaction.h"

int fg_store_webhook_set(struct fg_store *store, const char *project, const char *url,
			 const char *template, struct fg_error *err)
{
	if (url)
		return FG_QUERY_DO(store->db, err, FG_SQL_WEBHOOK_PUT, FG_BIND(project),
				   FG_BIND(url), FG_BIND(template));
	FG_TRY(FG_QUERY_DO(store->db, err, FG_SQL_WEBHOOK_CALLS_REMOVE, FG_BIND(project)));
	return FG_QUERY_DO(store->db, err, FG_SQL_WEBHOOK_REMOVE, FG_BIND(project));
}

int fg_store_webhook_get(struct fg_store *store, const char *project, struct fg_arena *arena,
			 struct fg_webhook *hook, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*hook = (struct fg_webhook){0};
	FG_QUERY_WITH(&q, store->db, FG_SQL_WEBHOOK_GET, FG_BIND(project));
	status = fg_query_step(&q, err);
	if (status > 0)
		*hook = (struct fg_webhook){
			.url = fg_arena_strdup(arena, fg_column_text(&q, 0)),
			.template = fg_arena_strdup(arena, fg_column_text(&q, 1)),
			.problem = fg_arena_strdup(arena, fg_column_text(&q, 2)),
			.waiting = fg_column_int(&q, 3),
		};
	fg_query_end(&q);
	return status > 0 ? FG_OK : status;
}

int fg_store_webhook_call(struct fg_store *store, const char *project, const char *run,
			  struct fg_error *err)
{
	return FG_QUERY_DO(store->db, err, FG_SQL_WEBHOOK_CALL_ADD, FG_BIND(project), FG_BIND(run),
			   FG_BIND(fg_clock_wall_ns()));
}

int fg_store_webhook_claim(struct fg_store *store, int64_t retry_ns, struct fg_arena *arena,
			   struct fg_webhook_call *call, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_WEBHOOK_CALL_CLAIM, FG_BIND(fg_clock_wall_ns()),
		      FG_BIND(retry_ns));
	status = fg_query_step(&q, err);
	if (status > 0)
		*call = (struct fg_webhook_call){
			.id = fg_column_int(&q, 0),
			.attempts = fg_column_int(&q, 1),
			.project = fg_arena_strdup(arena, fg_column_text(&q, 2)),
			.run = fg_arena_strdup(arena, fg_column_text(&q, 3)),
		};
	fg_query_end(&q);
	if (status > 0)
		return fg_store_webhook_get(store, call->project, arena, &call->hook, err);
	return status == FG_OK ? FG_ENOENT : status;
}

int fg_store_webhook_settle(struct fg_store *store, const struct fg_webhook_call *call,
			    bool is_done, const char *problem, struct fg_error *err)
{
	int status = FG_OK;

	FG_TRY(fg_store_begin(store, err));
	if (is_done)
		status = FG_QUERY_DO(store->db, err, FG_SQL_WEBHOOK_CALL_DONE, FG_BIND(call->id));
	if (status == FG_OK)
		status = FG_QUERY_DO(store->db, err, FG_SQL_WEBHOOK_CALLED, FG_BIND(call->project),
				     FG_BIND(problem));
	return fg_store_end(store, status, err);
}
