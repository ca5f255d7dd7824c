// SPDX-License-Identifier: Apache-2.0
/* What people wrote: annotations, and decisions about change points. */
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/handlers.h"

enum {
	ID_DIGITS_BASE = 10
};

static void add_time(struct fg_json_writer *w, const char *name, int64_t ns)
{
	char time[FG_TIME_TEXT_SIZE];

	fg_time_format_utc(ns, time);
	fg_json_text(w, name, time);
}

int fg_handle_annotations(struct fg_request *rq, struct fg_error *err)
{
	struct fg_annotation_list list = {0};
	const char *project = NULL;
	struct fg_json_writer w;
	int status = fg_request_project(rq, &project, err);

	if (status != FG_OK)
		return status;
	status = fg_store_annotations(rq->store, project, fg_request_parameter(rq, "benchmark"),
				      fg_request_parameter(rq, "run"), &list, err);
	if (status != FG_OK)
		return status;
	fg_request_json_list(rq, &w, "annotations");
	for (size_t i = 0; i < list.count; i++) {
		const struct fg_annotation *a = &list.items[i];

		fg_json_begin_object(&w, NULL);
		fg_json_int(&w, "id", a->id);
		fg_json_text(&w, "run", a->run);
		fg_json_text(&w, "benchmark", a->benchmark);
		fg_json_text(&w, "metric", a->metric);
		fg_json_text(&w, "kind", a->kind);
		fg_json_text(&w, "text", a->text);
		fg_json_text(&w, "author", a->author);
		add_time(&w, "created_at", a->created_ns);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_annotation_list_release(&list);
	return FG_OK;
}

/*
 * The body as JSON, which lives until the caller deletes it, and the project that it names and this
 * token may change.
 */
static int read_body(struct fg_request *rq, cJSON **json, const char **project,
		     struct fg_error *err)
{
	const char *text = fg_body_data(&rq->body);
	const size_t size = rq->body.size;
	int status = FG_OK;

	if (!fg_text_is_utf8(text, size))
		return fg_error_set(err, FG_EPARSE, "the body is not UTF-8");
	status = fg_json_parse(text, size, size, json, err);
	if (status != FG_OK)
		return status;
	if (!cJSON_IsObject(*json))
		return fg_error_set(err, FG_EPARSE, "expected a JSON object");
	status = fg_json_get_text(*json, "project", project, err);
	return status == FG_OK ? fg_request_may_see(rq, *project, err) : status;
}

/* `missing` may be NULL. */
static char *member(struct fg_request *rq, const cJSON *json, const char *name, const char *missing)
{
	return fg_arena_strdup(&rq->arena, fg_json_text_or(json, name, missing));
}

/* {"NAME": "TEXT"} or, without a text, {"NAME": NUMBER}: what a change answers. */
static void answer(struct fg_request *rq, const char *name, const char *text, int64_t number)
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

int fg_handle_annotate(struct fg_request *rq, struct fg_error *err)
{
	struct fg_annotation annotation = {0};
	cJSON *json = NULL;
	const char *project = NULL;
	int status = read_body(rq, &json, &project, err);

	if (status == FG_OK) {
		annotation.run = member(rq, json, "run", NULL);
		annotation.benchmark = member(rq, json, "benchmark", NULL);
		annotation.metric = member(rq, json, "metric", NULL);
		annotation.kind = member(rq, json, "kind", "note");
		annotation.text = member(rq, json, "text", "");
		annotation.author = member(rq, json, "author", NULL);
		status = fg_store_annotate(rq->store, project, &annotation, err);
	}
	cJSON_Delete(json);
	if (status != FG_OK)
		return status;
	rq->answer.status = FG_HTTP_CREATED;
	answer(rq, "id", NULL, annotation.id);
	return FG_OK;
}

int fg_handle_unannotate(struct fg_request *rq, struct fg_error *err)
{
	const char *project = NULL;
	char *end = NULL;
	const long long id = strtoll(rq->tail, &end, ID_DIGITS_BASE);
	int status = fg_request_project(rq, &project, err);

	if (status == FG_OK && (end == rq->tail || *end))
		status = fg_error_set(err, FG_EINVAL, "'%.40s' is no number of an annotation",
				      rq->tail);
	if (status == FG_OK)
		status = fg_store_annotation_delete(rq->store, project, id, err);
	if (status == FG_OK)
		answer(rq, "removed", NULL, id);
	return status;
}

int fg_handle_triage_list(struct fg_request *rq, struct fg_error *err)
{
	struct fg_triage_list list = {0};
	const char *project = NULL;
	struct fg_json_writer w;
	int status = fg_request_project(rq, &project, err);

	if (status != FG_OK)
		return status;
	status = fg_store_triage_list(rq->store, project, fg_request_parameter(rq, "benchmark"),
				      &list, err);
	if (status != FG_OK)
		return status;
	fg_request_json_list(rq, &w, "triage");
	for (size_t i = 0; i < list.count; i++) {
		const struct fg_triage *t = &list.items[i];

		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "benchmark", t->benchmark);
		fg_json_text(&w, "metric", t->metric);
		fg_json_text(&w, "run", t->run);
		fg_json_text(&w, "state", t->state);
		fg_json_text(&w, "note", t->note);
		fg_json_text(&w, "author", t->author);
		add_time(&w, "changed_at", t->changed_ns);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_triage_list_release(&list);
	return FG_OK;
}

int fg_handle_triage_set(struct fg_request *rq, struct fg_error *err)
{
	struct fg_triage triage = {0};
	cJSON *json = NULL;
	const char *project = NULL;
	const char *run = NULL;
	int status = read_body(rq, &json, &project, err);

	if (status == FG_OK)
		status = fg_request_find_run(rq, fg_json_text_or(json, "run", ""), &run, err);
	if (status == FG_OK) {
		triage.run = fg_arena_strdup(&rq->arena, run);
		triage.benchmark = member(rq, json, "benchmark", "");
		triage.metric = member(rq, json, "metric", "");
		triage.state = member(rq, json, "state", "");
		triage.note = member(rq, json, "note", NULL);
		triage.author = member(rq, json, "author", NULL);
		status = fg_store_triage_set(rq->store, project, &triage, err);
	}
	cJSON_Delete(json);
	if (status == FG_OK)
		answer(rq, "state", triage.state, 0);
	return status;
}
