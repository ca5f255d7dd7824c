// SPDX-License-Identifier: Apache-2.0
/* What there is, how the server is, and what people wrote. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/version.h"
#include "perfdb/protocol.h"
#include "perfdb/server/pages.h"
#include "perfdb/server/request.h"
#include "reporters/web/assets.h"
#include "store/serving/access.h"
#include "store/serving/history.h"
#include "store/store.h"

enum {
	ID_DIGITS_BASE = 10
};

static void write_names(struct fg_request *rq, const char *member, const struct fg_name_list *list)
{
	struct fg_json_writer w;

	fg_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_begin_array(&w, member);
	for (size_t i = 0; i < list->count; i++)
		fg_json_text(&w, NULL, list->items[i]);
	fg_json_end(&w);
	fg_json_end(&w);
}

int fg_handle_projects(struct fg_request *rq, struct fg_error *err)
{
	struct fg_name_list all = {0};
	struct fg_name_list seen = {0};
	int status = fg_store_projects(rq->store, &all, err);

	if (status != FG_OK)
		return status;
	seen.items = fg_arena_array(&rq->arena, all.count + 1, sizeof(char *));
	for (size_t i = 0; i < all.count; i++) {
		if (fg_may_see(rq, all.items[i], NULL) == FG_OK)
			seen.items[seen.count++] = all.items[i];
	}
	write_names(rq, "projects", &seen);
	fg_name_list_release(&all);
	return FG_OK;
}

static int read_project(struct fg_request *rq, const char **project, struct fg_error *err)
{
	int status = fg_need(rq, "project", project, err);

	if (status == FG_OK)
		status = fg_may_see(rq, *project, err);
	return status;
}

int fg_handle_benchmarks(struct fg_request *rq, struct fg_error *err)
{
	struct fg_name_list list = {0};
	const char *project = NULL;
	int status = read_project(rq, &project, err);

	if (status == FG_OK)
		status = fg_store_benchmarks(rq->store, project, &list, err);
	if (status == FG_OK)
		write_names(rq, "benchmarks", &list);
	fg_name_list_release(&list);
	return status;
}

int fg_handle_metric_names(struct fg_request *rq, struct fg_error *err)
{
	struct fg_name_list list = {0};
	const char *project = NULL;
	const char *benchmark = NULL;
	int status = read_project(rq, &project, err);

	if (status == FG_OK)
		status = fg_need(rq, "benchmark", &benchmark, err);
	if (status == FG_OK)
		status = fg_store_metrics(rq->store, project, benchmark, &list, err);
	if (status == FG_OK)
		write_names(rq, "metrics", &list);
	fg_name_list_release(&list);
	return status;
}

int fg_handle_facts(struct fg_request *rq, struct fg_error *err)
{
	const char *project = fg_parameter(rq, "project");
	struct fg_name_list list = {0};
	int status = project ? fg_may_see(rq, project, err) : FG_OK;

	if (status == FG_OK)
		status = fg_store_fact_keys(rq->store, project ? project : rq->project, &list, err);
	if (status == FG_OK)
		write_names(rq, "facts", &list);
	fg_name_list_release(&list);
	return status;
}

int fg_handle_baselines(struct fg_request *rq, struct fg_error *err)
{
	struct fg_baseline_list list = {0};
	const char *project = NULL;
	struct fg_json_writer w;
	int status = read_project(rq, &project, err);

	if (status == FG_OK)
		status = fg_store_baseline_list(rq->store, project, &list, err);
	if (status != FG_OK)
		return status;
	fg_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_begin_array(&w, "baselines");
	for (size_t i = 0; i < list.count; i++) {
		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "name", list.items[i].name);
		fg_json_text(&w, "run", list.items[i].run);
		fg_json_text(&w, "commit", list.items[i].commit);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_baseline_list_release(&list);
	return FG_OK;
}

int fg_handle_capabilities(struct fg_request *rq, struct fg_error *err)
{
	struct fg_json_writer w;

	(void)err;
	fg_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "server", "perfdb");
	fg_json_text(&w, "version", fg_version());
	fg_json_int(&w, "api", 1);
	fg_json_begin_array(&w, "run_formats");
	fg_json_text(&w, NULL, "fastgate-run/1");
	fg_json_end(&w);
	fg_json_int(&w, "body_limit_bytes", (int64_t)rq->server->options.body_limit_bytes);
	fg_json_bool(&w, "read_only", rq->server->options.read_only);
	fg_json_text(&w, "scope", fg_scope_name(rq->scope));
	fg_json_text(&w, "project", rq->project);
	fg_json_end(&w);
	return FG_OK;
}

int fg_handle_health(struct fg_request *rq, struct fg_error *err)
{
	struct fg_store *store = fg_server_session(rq->server, err);
	size_t tokens = 0;
	int status = store ? fg_store_token_count(store, &tokens, err) : FG_EDB;

	fg_session_back(rq->server, store);
	if (status != FG_OK) {
		rq->status = 503;
		err->code = FG_EIO; /* whatever it is: for the log */
		return FG_EIO;
	}
	fg_strbuf_add_text(&rq->answer, atomic_load(&rq->server->draining) ? "draining\n" : "ok\n");
	return FG_OK;
}

static void add_metric(struct fg_strbuf *text, const char *name, const char *help,
		       unsigned long long value)
{
	fg_strbuf_printf(text, "# HELP perfdb_%s %s\n# TYPE perfdb_%s counter\nperfdb_%s %llu\n",
			 name, help, name, name, value);
}

/* Prometheus' text format. */
int fg_handle_metrics(struct fg_request *rq, struct fg_error *err)
{
	struct fg_counters *c = &rq->server->counters;
	struct fg_strbuf *text = &rq->answer;

	(void)err;
	rq->type = "text/plain; version=0.0.4; charset=utf-8";
	add_metric(text, "runs_stored_total", "Runs stored.", atomic_load(&c->runs_stored));
	add_metric(text, "runs_known_total", "Uploads of runs that were there already.",
		   atomic_load(&c->runs_known));
	add_metric(text, "body_bytes_total", "Bytes of request bodies.", atomic_load(&c->bytes_in));
	add_metric(text, "batches_total", "Transactions that stored uploads.",
		   atomic_load(&c->batches));
	add_metric(text, "tiles_total", "Tiles sealed.", atomic_load(&c->tiles));
	add_metric(text, "limited_total", "Requests refused because there were too many.",
		   atomic_load(&c->limited));
	fg_strbuf_add_text(
		text,
		"# HELP perfdb_answers_total Answers by class of status.\n# TYPE perfdb_answers_total counter\n");
	for (int i = 2; i < 6; i++)
		fg_strbuf_printf(text, "perfdb_answers_total{class=\"%dxx\"} %llu\n", i,
				 (unsigned long long)atomic_load(&c->answers[i]));
	fg_strbuf_add_text(
		text,
		"# HELP perfdb_request_seconds Time spent on requests.\n# TYPE perfdb_request_seconds summary\n");
	for (size_t i = 0; i < fg_route_count; i++) {
		const char *labels = fg_arena_printf(&rq->arena, "{method=\"%s\",path=\"%s\"}",
						     fg_routes[i].method, fg_routes[i].path);

		fg_strbuf_printf(
			text,
			"perfdb_request_seconds_sum%s %.6f\nperfdb_request_seconds_count%s %llu\n",
			labels, (double)atomic_load(&c->microseconds[i]) / 1e6, labels,
			(unsigned long long)atomic_load(&c->requests[i]));
	}
	fg_strbuf_printf(
		text,
		"# HELP perfdb_body_bytes Bytes of bodies held now.\n# TYPE perfdb_body_bytes gauge\nperfdb_body_bytes %zu\n",
		atomic_load(&rq->server->body_bytes));
	fg_strbuf_printf(
		text,
		"# HELP perfdb_start_time_seconds When the server started.\n# TYPE perfdb_start_time_seconds gauge\nperfdb_start_time_seconds %lld\n",
		(long long)(rq->server->started_ns / FG_NS_PER_S));
	return FG_OK;
}

/* {"NAME": [ ... ]} */
static void open_list(struct fg_request *rq, struct fg_json_writer *w, const char *name)
{
	fg_json(rq, w);
	fg_json_begin_object(w, NULL);
	fg_json_begin_array(w, name);
}

static void close_list(struct fg_json_writer *w)
{
	fg_json_end(w);
	fg_json_end(w);
}

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
	int status = read_project(rq, &project, err);

	if (status == FG_OK)
		status = fg_store_annotations(rq->store, project, fg_parameter(rq, "benchmark"),
					      fg_parameter(rq, "run"), &list, err);
	if (status != FG_OK)
		return status;
	open_list(rq, &w, "annotations");
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
	close_list(&w);
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
	int status = FG_OK;

	if (rq->server->options.read_only) {
		rq->status = 403;
		return fg_error_set(err, FG_EINVAL, "this server only shows runs");
	}
	status = fg_json_parse(rq->body.data ? rq->body.data : "", rq->body.length, rq->body.length,
			       json, err);
	if (status == FG_OK && !cJSON_IsObject(*json))
		status = fg_error_set(err, FG_EPARSE, "expected a JSON object");
	if (status == FG_OK)
		status = fg_json_get_text(*json, "project", project, err);
	return status == FG_OK ? fg_may_see(rq, *project, err) : status;
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

	fg_json(rq, &w);
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
	rq->status = FG_HTTP_CREATED;
	answer(rq, "id", NULL, annotation.id);
	return FG_OK;
}

int fg_handle_unannotate(struct fg_request *rq, struct fg_error *err)
{
	const char *project = NULL;
	char *end = NULL;
	const long long id = strtoll(rq->tail, &end, ID_DIGITS_BASE);
	int status = read_project(rq, &project, err);

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
	int status = read_project(rq, &project, err);

	if (status == FG_OK)
		status = fg_store_triage_list(rq->store, project, fg_parameter(rq, "benchmark"),
					      &list, err);
	if (status != FG_OK)
		return status;
	open_list(rq, &w, "triage");
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
	close_list(&w);
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
		status = fg_find_run(rq, fg_json_text_or(json, "run", ""), &run, err);
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

static void give(struct fg_request *rq, const char *type, const void *data, size_t size)
{
	char hex[FG_SHA256_HEX_SIZE];

	fg_sha256_hex(data, size, hex);
	hex[16] = '\0';
	rq->type = type;
	rq->asset = data;
	rq->asset_size = size;
	rq->asset_tag = fg_arena_printf(&rq->arena, "\"%s\"", hex);
	/* Not again what the browser has already. */
	if (fg_header(rq, "If-None-Match") &&
	    strcmp(fg_header(rq, "If-None-Match"), rq->asset_tag) == 0) {
		rq->status = 304;
		rq->asset_size = 0;
	}
}

int fg_handle_openapi(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_page *page = fg_page_find("openapi.json");

	if (!page)
		return fg_error_set(err, FG_ENOENT, "this build has no API description");
	give(rq, page->media_type, page->data, page->size);
	return FG_OK;
}

/*
 * Pages are found by name in two tables; nothing is ever read from a disk, whatever the path says.
 */
int fg_handle_asset(struct fg_request *rq, struct fg_error *err)
{
	const char *name = strcmp(rq->path, "/") == 0 ? "index.html" : rq->tail;
	const struct fg_page *page = fg_page_find(name);
	const struct fg_web_asset *asset = page ? NULL : fg_web_asset_find(name);

	if (page)
		give(rq, page->media_type, page->data, page->size);
	else if (asset)
		give(rq, asset->media_type, asset->data, asset->size);
	else
		return fg_error_set(err, FG_ENOENT, "there is nothing at this address");
	return FG_OK;
}
