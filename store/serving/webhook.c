// SPDX-License-Identifier: Apache-2.0
#include "store/serving/webhook.h"

#include "base/clock.h"
#include "store/db.h"
#include "store/session.h"
#include "store/transaction.h"

int fg_store_webhook_set(struct fg_store *store, const char *project, const char *url,
			 const char *template, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_WEBHOOK_PUT);
	fg_query_text(&q, project);
	fg_query_text(&q, url);
	fg_query_text(&q, template);
	return fg_query_run(&q, err);
}

int fg_store_webhook_get(struct fg_store *store, const char *project, struct fg_arena *arena,
			 struct fg_webhook *hook, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_WEBHOOK_GET);
	fg_query_text(&q, project);
	status = fg_query_step(&q, err);
	if (status > 0)
		*hook = (struct fg_webhook){
			.url = fg_arena_strdup(arena, fg_column_text(&q, 0)),
			.template = fg_arena_strdup(arena, fg_column_text(&q, 1)),
			.problem = fg_arena_strdup(arena, fg_column_text(&q, 2)),
			.waiting = fg_column_int(&q, 3),
		};
	else
		*hook = (struct fg_webhook){0};
	fg_query_end(&q);
	return status > 0 ? FG_OK : status;
}

int fg_store_webhook_remove(struct fg_store *store, const char *project, struct fg_error *err)
{
	static const enum fg_sql steps[] = {FG_SQL_WEBHOOK_CALLS_REMOVE, FG_SQL_WEBHOOK_REMOVE};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(steps) && status == FG_OK; i++) {
		struct fg_query q;

		fg_query_begin(&q, store->db, steps[i]);
		fg_query_text(&q, project);
		status = fg_query_run(&q, err);
	}
	return status;
}

int fg_store_webhook_call(struct fg_store *store, const char *project, const char *run,
			  struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_WEBHOOK_CALL_ADD);
	fg_query_text(&q, project);
	fg_query_text(&q, run);
	fg_query_int(&q, fg_clock_wall_ns());
	return fg_query_run(&q, err);
}

int fg_store_webhook_claim(struct fg_store *store, int64_t until_ns, struct fg_arena *arena,
			   struct fg_webhook_call *call, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_WEBHOOK_CALL_CLAIM);
	fg_query_int(&q, fg_clock_wall_ns());
	fg_query_int(&q, until_ns);
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
			    int64_t again_ns, const char *problem, struct fg_error *err)
{
	struct fg_query q;
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db,
		       again_ns ? FG_SQL_WEBHOOK_CALLS_LATER : FG_SQL_WEBHOOK_CALL_DONE);
	fg_query_int(&q, call->id);
	if (again_ns) {
		fg_query_int(&q, again_ns);
		fg_query_text(&q, call->project);
	}
	status = fg_query_run(&q, err);
	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_WEBHOOK_CALLED);
		fg_query_text(&q, call->project);
		fg_query_text(&q, problem);
		status = fg_query_run(&q, err);
	}
	return fg_store_end(store, status, err);
}
