// SPDX-License-Identifier: Apache-2.0
/* Runs: listed, shown, removed. */
#include "base/clock.h"
#include "base/text.h"
#include "perfdb/server/request.h"
#include "store/bundle.h"
#include "store/serving/uploads.h"
#include "store/store.h"

enum {
	UUID_LENGTH = 36,
	LIST_MAX = 1000
};

int fg_find_run(struct fg_request *rq, const char *words, const char **id, struct fg_error *err)
{
	struct fg_upload_state state = {0};
	char found[UUID_LENGTH + 1] = "";
	int status = fg_store_find(rq->store, rq->project, words, found, err);

	if (status == FG_OK)
		status = fg_store_upload_state(rq->store, found, &state, err);
	if (status == FG_OK)
		status = fg_may_see(rq, state.project, err);
	fg_upload_state_release(&state);
	*id = fg_arena_strdup(&rq->arena, found);
	return status;
}

/* Where the next page begins: opaque to clients. */
static int read_cursor(struct fg_request *rq, struct fg_run_filter *filter, struct fg_error *err)
{
	const char *cursor = fg_parameter(rq, "after");
	char *end = NULL;

	if (!cursor)
		return FG_OK;
	filter->before_ns = strtoll(cursor, &end, 10);
	if (end == cursor || *end != '.' || strlen(end + 1) != UUID_LENGTH)
		return fg_error_set(err, FG_EINVAL,
				    "parameter 'after' is none that this server gave");
	filter->before_id = end + 1;
	return FG_OK;
}

int fg_handle_list_runs(struct fg_request *rq, struct fg_error *err)
{
	struct fg_run_filter filter = {
		.project = fg_parameter(rq, "project"),
		.branch = fg_parameter(rq, "branch"),
		.commit = fg_parameter(rq, "commit"),
		.tag = fg_parameter(rq, "tag"),
		.benchmark = fg_parameter(rq, "benchmark"),
		.fact_key = fg_parameter(rq, "fact"),
		.fact_value = fg_parameter(rq, "value"),
		.outcome = fg_parameter(rq, "outcome"),
	};
	struct fg_run_list list = {0};
	struct fg_json_writer w;
	int status = fg_parameter_size(rq, "limit", 50, LIST_MAX, &filter.limit, err);

	if (status == FG_OK)
		status = read_cursor(rq, &filter, err);
	if (status == FG_OK && filter.project)
		status = fg_may_see(rq, filter.project, err);
	if (rq->project)
		filter.project = rq->project;
	if (status == FG_OK)
		status = fg_store_list(rq->store, &filter, &list, err);
	if (status != FG_OK)
		return status;
	fg_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_begin_array(&w, "runs");
	for (size_t i = 0; i < list.count; i++)
		fg_run_summary_write(&w, &list.items[i]);
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

int fg_handle_get_run(struct fg_request *rq, struct fg_error *err)
{
	struct fg_stored_run run = {0};
	struct fg_bundle bundle = {0};
	const char *id = NULL;
	int status = fg_find_run(rq, rq->tail, &id, err);

	if (status == FG_OK)
		status = fg_store_load_run(rq->store, id, &run, err);
	if (status == FG_OK)
		status = fg_bundle_from_run(&run, &bundle, err);
	if (status == FG_OK) {
		rq->type = "application/json";
		fg_strbuf_add(&rq->answer, bundle.envelope.data, bundle.envelope.length);
	}
	fg_bundle_release(&bundle);
	fg_stored_run_release(&run);
	return status;
}

int fg_handle_delete_run(struct fg_request *rq, struct fg_error *err)
{
	const char *id = NULL;
	struct fg_json_writer w;
	int status = fg_find_run(rq, rq->tail, &id, err);

	if (status == FG_OK && strcmp(id, rq->tail) != 0)
		status = fg_error_set(err, FG_EINVAL, "to remove a run, give its whole id");
	if (status == FG_OK)
		status = fg_store_delete(rq->store, id, err);
	if (status == FG_OK) {
		fg_json(rq, &w);
		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "removed", id);
		fg_json_end(&w);
	}
	return status;
}
