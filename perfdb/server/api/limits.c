// SPDX-License-Identifier: Apache-2.0
/* Quotas and retention, and what a project holds.  An administrator of one project sets its own. */
#include "store/serving/limits.h"

#include "perfdb/protocol.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"
#include "store/serving/history.h"

/* The members; 0: unlimited. */
static void add_limits(struct fg_json_writer *w, const struct fg_limits *limits)
{
	fg_json_text(w, "project", *limits->project ? limits->project : NULL);
	fg_json_int(w, "most_runs", limits->most_runs);
	fg_json_int(w, "most_bytes", limits->most_bytes);
	fg_json_int(w, "keep_days", limits->keep_days);
	fg_json_int(w, "keep_newest", limits->keep_newest);
	fg_request_json_time(w, "set_at", limits->set_ns);
	fg_json_text(w, "set_by", limits->set_by);
}

int fg_handle_limits(struct fg_request *rq, struct fg_error *err)
{
	struct fg_limits_list list = {0};
	struct fg_json_writer w;
	const int status = fg_store_limits_list(rq->store, &list, err);

	if (status != FG_OK)
		return status;
	fg_request_json_list(rq, &w, "limits");
	for (size_t i = 0; i < list.count; i++) {
		const struct fg_limits *limits = &list.items[i];

		/* An empty project name: limits of every project. */
		if (*limits->project && fg_request_may_see(rq, limits->project, NULL) != FG_OK)
			continue;
		fg_json_begin_object(&w, NULL);
		add_limits(&w, limits);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_limits_list_release(&list);
	return FG_OK;
}

int fg_handle_usage(struct fg_request *rq, struct fg_error *err)
{
	const char *project = NULL;
	struct fg_limits limits = {0};
	struct fg_usage usage = {0};
	struct fg_json_writer w;
	int status = fg_request_which_project(rq, &project, err);

	if (status != FG_OK)
		return status;
	if (!project)
		return fg_error_set(err, FG_EINVAL, "expected the parameter 'project'");
	status = fg_store_usage(rq->store, project, &usage, err);
	if (status != FG_OK)
		return status;
	status = fg_store_limits_of(rq->store, project, &limits, err);
	if (status != FG_OK)
		return status;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "project", project);
	fg_json_int(&w, "runs", usage.runs);
	fg_json_int(&w, "bytes", usage.bytes);
	if (usage.oldest_ns)
		fg_request_json_time(&w, "oldest_at", usage.oldest_ns);
	if (limits.project) {
		fg_json_begin_object(&w, "limits");
		add_limits(&w, &limits);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_limits_release(&limits);
	return FG_OK;
}

static void add_sample(struct fg_strbuf *text, const char *name, const char *project, int64_t value)
{
	fg_strbuf_printf(text, "perfdb_project_%s{project=\"", name);
	for (const char *at = project; *at; at++) {
		if (strchr("\\\"", *at))
			fg_strbuf_add_char(text, '\\');
		fg_strbuf_add_char(text, *at);
	}
	fg_strbuf_printf(text, "\"} %lld\n", (long long)value);
}

/* Apart from /metrics, which strangers may read: projects have names. */
int fg_handle_project_metrics(struct fg_request *rq, struct fg_error *err)
{
	struct fg_strbuf *text = &rq->answer.text;
	struct fg_strbuf bytes = {0};
	struct fg_name_list projects = {0};
	int status = fg_store_projects(rq->store, &projects, err);

	rq->answer.type = "text/plain; version=0.0.4; charset=utf-8";
	fg_strbuf_add_text(text, "# TYPE perfdb_project_runs gauge\n");
	fg_strbuf_add_text(&bytes, "# TYPE perfdb_project_bytes gauge\n");
	for (size_t i = 0; i < projects.count && status == FG_OK; i++) {
		const char *project = projects.items[i];
		struct fg_usage usage = {0};

		if (fg_request_may_see(rq, project, NULL) != FG_OK)
			continue;
		status = fg_store_usage(rq->store, project, &usage, err);
		add_sample(text, "runs", project, usage.runs);
		add_sample(&bytes, "bytes", project, usage.bytes);
	}
	fg_strbuf_add_text(text, fg_strbuf_text(&bytes));
	fg_strbuf_release(&bytes);
	fg_name_list_release(&projects);
	return status;
}

/* A member that may be missing: then there is no such limit. */
static int read_number(const cJSON *json, const char *name, int64_t *number, struct fg_error *err)
{
	const cJSON *member = fg_json_find(json, name);

	*number = 0;
	if (!member || cJSON_IsNull(member))
		return FG_OK;
	if (fg_json_get_int64(json, name, number, err) != FG_OK)
		return fg_error_set(err, FG_EINVAL, "'%s' is not a whole number", name);
	return FG_OK;
}

static int read_limits(const cJSON *json, struct fg_limits *limits, struct fg_error *err)
{
	const struct {
		const char *name;
		int64_t *number;
	} members[] = {
		{"most_runs", &limits->most_runs},
		{"most_bytes", &limits->most_bytes},
		{"keep_days", &limits->keep_days},
		{"keep_newest", &limits->keep_newest},
	};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(members) && status == FG_OK; i++)
		status = read_number(json, members[i].name, members[i].number, err);
	return status;
}

static int set(struct fg_request *rq, struct fg_limits *limits, struct fg_error *err)
{
	struct fg_strbuf words = {0};
	struct fg_audit_entry entry = {
		.project = *limits->project ? limits->project : NULL,
		.action = "limits.set",
		.subject = *limits->project ? limits->project : "all projects",
	};
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_store_limits_set(rq->store, limits, err);
	fg_limits_describe(limits, &words);
	entry.detail = fg_strbuf_text(&words);
	status = fg_decision_end(rq, status, &entry, err);
	fg_strbuf_release(&words);
	return status;
}

int fg_handle_limits_set(struct fg_request *rq, struct fg_error *err)
{
	static const char *const names[] = {"most_runs", "most_bytes", "keep_days", "keep_newest",
					    NULL};
	struct fg_limits limits = {0};
	struct fg_json_writer w;
	const char *project = NULL;
	cJSON *json = NULL;
	int status = fg_decision_body(rq, names, &json, &project, err);

	if (status != FG_OK)
		goto out;
	status = read_limits(json, &limits, err);
	if (status != FG_OK)
		goto out;
	limits.project = fg_arena_strdup(&rq->arena, project ? project : "");
	limits.set_by = fg_arena_strdup(&rq->arena, rq->author ? rq->author : rq->client);
	status = set(rq, &limits, err);
	if (status != FG_OK)
		goto out;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	add_limits(&w, &limits);
	fg_json_end(&w);
out:
	cJSON_Delete(json);
	return status;
}
