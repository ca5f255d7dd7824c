// SPDX-License-Identifier: Apache-2.0
/* Lists, shows and removes runs. */
#include "perfdb/server/api/card.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"
#include "store/bundle.h"
#include "store/serving/uploads.h"
#include "store/store.h"

enum {
	UUID_LENGTH = 36,
	LIST_DEFAULT = 50,
	LIST_MAX = 1000
};

/* Reads the cursor at which the next page begins; clients treat the cursor as opaque. */
static int read_cursor(struct fg_request *rq, struct fg_run_filter *filter, struct fg_error *err)
{
	const char *cursor = fg_request_parameter(rq, "after");
	char *end = NULL;

	if (!cursor)
		return FG_OK;
	filter->before_ns = strtoll(cursor, &end, 10);
	if (end == cursor || *end != '.' || strlen(end + 1) != UUID_LENGTH)
		return fg_error_set(err, FG_EINVAL,
				    "parameter 'after' is not a cursor of this server");
	filter->before_id = end + 1;
	return FG_OK;
}

int fg_handle_list_runs(struct fg_request *rq, struct fg_error *err)
{
	struct fg_run_filter filter = {
		.project = fg_request_parameter(rq, "project"),
		.branch = fg_request_parameter(rq, "branch"),
		.commit = fg_request_parameter(rq, "commit"),
		.tag = fg_request_parameter(rq, "tag"),
		.benchmark = fg_request_parameter(rq, "benchmark"),
		.fact_key = fg_request_parameter(rq, "fact"),
		.fact_value = fg_request_parameter(rq, "value"),
		.outcome = fg_request_parameter(rq, "outcome"),
		.limit = LIST_DEFAULT,
	};
	struct fg_run_list list = {0};
	struct fg_json_writer w;
	int status = FG_OK;

	FG_TRY_OUT(fg_request_size(rq, "limit", LIST_MAX, &filter.limit, err));
	FG_TRY_OUT(read_cursor(rq, &filter, err));
	status = fg_request_which_project(rq, &filter.project, err);
out:
	if (status != FG_OK)
		return status;
	FG_TRY(fg_store_list(rq->store, &filter, &list, err));
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_begin_array(&w, "runs");
	for (size_t i = 0; i < list.count; i++)
		fg_run_summary_write(&w, NULL, &list.items[i]);
	fg_json_end(&w);
	if (list.more) {
		const struct fg_run_summary *last = &list.items[list.count - 1];

		fg_json_text(&w, "next",
			     fg_arena_printf(&rq->arena, "%lld.%s", (long long)last->started_ns,
					     last->id));
	}
	fg_json_end(&w);
	fg_run_list_release(&list);
	return FG_OK;
}

static void write_neighbour(struct fg_json_writer *w, const char *name,
			    const struct fg_run_list *list)
{
	if (list->count)
		fg_run_summary_write(w, name, &list->items[0]);
}

int fg_handle_around(struct fg_request *rq, struct fg_error *err)
{
	struct fg_run_around around = {0};
	struct fg_json_writer w;
	struct fg_cards cards = {.store = rq->store};
	const char *benchmark = fg_request_parameter(rq, "benchmark");
	const char *name = NULL;
	const char *id = NULL;

	FG_TRY(fg_request_need(rq, "run", &name, err));
	FG_TRY(fg_request_find_run(rq, name, &id, err));
	FG_TRY(fg_store_run_around(rq->store, id, &around, err));
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	write_neighbour(&w, "run", &around.run);
	write_neighbour(&w, "previous", &around.previous);
	write_neighbour(&w, "next", &around.next);
	if (benchmark)
		fg_cards_write(&cards, id, benchmark, &w);
	fg_json_end(&w);
	fg_cards_release(&cards);
	fg_run_around_release(&around);
	return FG_OK;
}

int fg_handle_get_run(struct fg_request *rq, struct fg_error *err)
{
	struct fg_stored_run run = {0};
	struct fg_bundle bundle = {0};
	const char *id = NULL;
	int status = FG_OK;

	FG_TRY_OUT(fg_request_find_run(rq, rq->tail, &id, err));
	FG_TRY_OUT(fg_store_load_run(rq->store, id, &run, err));
	FG_TRY_OUT(fg_bundle_from_run(&run, &bundle, err));
	rq->answer.type = "application/json";
	fg_strbuf_add(&rq->answer.text, bundle.envelope.data, bundle.envelope.length);
out:
	fg_bundle_release(&bundle);
	fg_stored_run_release(&run);
	return status;
}

static int remove_run(struct fg_request *rq, const char *id, struct fg_error *err)
{
	struct fg_upload_state state = {0};
	struct fg_audit_entry entry = {.action = "run.remove", .subject = id};
	int status = FG_OK;

	FG_TRY_OUT(fg_store_upload_state(rq->store, id, &state, err));
	FG_TRY_OUT(fg_decision_begin(rq, err));
	entry.project = state.project;
	status = fg_store_delete(rq->store, id, err);
	status = fg_decision_end(rq, status, &entry, err);
out:
	fg_upload_state_release(&state);
	return status;
}

int fg_handle_delete_run(struct fg_request *rq, struct fg_error *err)
{
	const char *id = NULL;

	FG_TRY(fg_request_find_run(rq, rq->tail, &id, err));
	if (strcmp(id, rq->tail) != 0)
		return fg_error_set(err, FG_EINVAL, "to remove a run, give its whole id");
	FG_TRY(remove_run(rq, id, err));
	fg_decision_answer(rq, "removed", id, 0);
	return FG_OK;
}
