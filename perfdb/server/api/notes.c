// SPDX-License-Identifier: Apache-2.0
/* Notes, and decisions about change points. */
#include "base/json.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"

int fg_handle_annotations(struct fg_request *rq, struct fg_error *err)
{
	struct fg_annotation_list list = {0};
	const char *project = NULL;
	struct fg_json_writer w;

	FG_TRY(fg_request_project(rq, &project, err));
	FG_TRY(fg_store_annotations(rq->store, project, fg_request_parameter(rq, "benchmark"),
				    fg_request_parameter(rq, "run"), &list, err));
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
		fg_json_time(&w, "created_at", a->created_ns);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_annotation_list_release(&list);
	return FG_OK;
}

/* Returns the signed-in author, or the author named in the body if nobody is signed in. */
static char *author_of(struct fg_request *rq, const cJSON *json)
{
	return rq->author ? fg_arena_strdup(&rq->arena, rq->author)
			  : fg_decision_text(rq, json, "author", NULL);
}

static int read_body(struct fg_request *rq, const char *const *names, cJSON **json,
		     const char **project, struct fg_error *err)
{
	FG_TRY(fg_decision_body(rq, names, json, project, err));
	if (!*project)
		return fg_error_set(err, FG_EPARSE, "expected a member 'project'");
	*project = fg_arena_strdup(&rq->arena, *project);
	return FG_OK;
}

static int annotate(struct fg_request *rq, const char *project, struct fg_annotation *annotation,
		    struct fg_error *err)
{
	struct fg_audit_entry entry = {.project = project, .action = "annotation.add"};
	int status = FG_OK;

	FG_TRY(fg_decision_begin(rq, err));
	status = fg_store_annotate(rq->store, project, annotation, err);
	entry.subject = fg_arena_printf(&rq->arena, "annotation %lld", (long long)annotation->id);
	entry.detail = fg_arena_printf(&rq->arena, "%s: %s", annotation->kind, annotation->text);
	return fg_decision_end(rq, status, &entry, err);
}

int fg_handle_annotate(struct fg_request *rq, struct fg_error *err)
{
	static const char *const names[] = {"run",  "benchmark", "metric", "kind",
					    "text", "author",    NULL};
	struct fg_annotation annotation = {0};
	cJSON *json = NULL;
	const char *project = NULL;
	const char *run = NULL;
	int status = FG_OK;

	FG_TRY_OUT(read_body(rq, names, &json, &project, err));
	run = fg_json_text_or(json, "run", NULL);
	if (run)
		FG_TRY_OUT(fg_request_find_run(rq, run, &run, err));
	annotation.run = fg_arena_strdup(&rq->arena, run);
	annotation.benchmark = fg_decision_text(rq, json, "benchmark", NULL);
	annotation.metric = fg_decision_text(rq, json, "metric", NULL);
	annotation.kind = fg_decision_text(rq, json, "kind", "note");
	annotation.text = fg_decision_text(rq, json, "text", "");
	annotation.author = author_of(rq, json);
	FG_TRY_OUT(annotate(rq, project, &annotation, err));
	rq->answer.status = FG_HTTP_CREATED;
	fg_decision_answer(rq, "id", NULL, annotation.id);
out:
	cJSON_Delete(json);
	return status;
}

int fg_handle_unannotate(struct fg_request *rq, struct fg_error *err)
{
	struct fg_audit_entry entry = {.action = "annotation.remove"};
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY(fg_request_project(rq, &entry.project, err));
	FG_TRY(fg_decision_number(rq, "an annotation", &id, err));
	FG_TRY(fg_decision_begin(rq, err));
	entry.subject = fg_arena_printf(&rq->arena, "annotation %lld", (long long)id);
	status = fg_store_annotation_delete(rq->store, entry.project, id, err);
	FG_TRY(fg_decision_end(rq, status, &entry, err));
	fg_decision_answer(rq, "removed", NULL, id);
	return FG_OK;
}
