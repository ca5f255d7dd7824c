// SPDX-License-Identifier: Apache-2.0
/* Lists of names (projects, benchmarks, metrics, recorded conditions), and a project's usage. */
#include "perfdb/server/api/handlers.h"
#include "store/serving/history.h"
#include "store/serving/limits.h"

static void write_names(struct fg_request *rq, const char *member, const struct fg_name_list *list)
{
	struct fg_json_writer w;

	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_begin_array(&w, member);
	for (size_t i = 0; i < list->count; i++)
		fg_json_text(&w, NULL, list->items[i]);
	fg_json_end(&w);
	fg_json_end(&w);
}

/* Answers with the list and releases it; `status` is the result of the call that filled it. */
static int answer(struct fg_request *rq, const char *member, int status, struct fg_name_list *list)
{
	if (status == FG_OK)
		write_names(rq, member, list);
	fg_name_list_release(list);
	return status;
}

int fg_handle_projects(struct fg_request *rq, struct fg_error *err)
{
	struct fg_name_list all = {0};
	struct fg_name_list seen = {0};

	FG_TRY(fg_store_projects(rq->store, &all, err));
	seen.items = fg_arena_array(&rq->arena, all.count + 1, sizeof(char *));
	for (size_t i = 0; i < all.count; i++) {
		if (fg_request_may_see(rq, all.items[i], NULL) == FG_OK)
			seen.items[seen.count++] = all.items[i];
	}
	write_names(rq, "projects", &seen);
	fg_name_list_release(&all);
	return FG_OK;
}

int fg_handle_benchmarks(struct fg_request *rq, struct fg_error *err)
{
	struct fg_name_list list = {0};
	const char *project = NULL;
	int status = FG_OK;

	FG_TRY(fg_request_project(rq, &project, err));
	status = fg_store_benchmarks(rq->store, project, &list, err);
	return answer(rq, "benchmarks", status, &list);
}

int fg_handle_metric_names(struct fg_request *rq, struct fg_error *err)
{
	struct fg_name_list list = {0};
	const char *project = NULL;
	const char *benchmark = NULL;
	int status = FG_OK;

	FG_TRY(fg_request_project(rq, &project, err));
	FG_TRY(fg_request_need(rq, "benchmark", &benchmark, err));
	status = fg_store_metrics(rq->store, project, benchmark, &list, err);
	return answer(rq, "metrics", status, &list);
}

int fg_handle_facts(struct fg_request *rq, struct fg_error *err)
{
	struct fg_name_list list = {0};
	const char *project = NULL;
	int status = FG_OK;

	FG_TRY(fg_request_which_project(rq, &project, err));
	status = fg_store_fact_keys(rq->store, project, &list, err);
	return answer(rq, "facts", status, &list);
}

/*
 * Answers with the number and size of a project's runs, and with the project's limits, if it has
 * any.
 */
int fg_handle_usage(struct fg_request *rq, struct fg_error *err)
{
	const char *project = NULL;
	struct fg_limits limits = {0};
	struct fg_usage usage = {0};
	struct fg_json_writer w;

	FG_TRY(fg_request_project(rq, &project, err));
	FG_TRY(fg_store_usage(rq->store, project, &usage, err));
	FG_TRY(fg_store_limits_of(rq->store, project, &limits, err));
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "project", project);
	fg_json_int(&w, "runs", usage.runs);
	fg_json_int(&w, "bytes", usage.bytes);
	if (limits.project) {
		fg_json_begin_object(&w, "limits");
		fg_json_int(&w, "most_runs", limits.most_runs);
		fg_json_int(&w, "most_bytes", limits.most_bytes);
		fg_json_int(&w, "keep_days", limits.keep_days);
		fg_json_int(&w, "keep_newest", limits.keep_newest);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	return FG_OK;
}
