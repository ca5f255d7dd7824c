// SPDX-License-Identifier: Apache-2.0
/* The server's state, for clients and for monitoring. */
#include "base/clock.h"
#include "base/version.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/connections.h"
#include "perfdb/server/health.h"
#include "perfdb/server/replica.h"
#include "perfdb/server/routes.h"
#include "perfdb/server/workers.h"

#include <math.h>

static enum fg_scope widest_scope(const struct fg_request *rq)
{
	enum fg_scope widest = FG_SCOPE_NONE;

	for (size_t i = 0; i < rq->grants.count; i++) {
		if (rq->grants.items[i].scope > widest)
			widest = rq->grants.items[i].scope;
	}
	return widest;
}

int fg_handle_capabilities(struct fg_request *rq, struct fg_error *err)
{
	struct fg_json_writer w;

	(void)err;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "server", "perfdb");
	fg_json_text(&w, "version", fg_version());
	fg_json_int(&w, "api", 1);
	fg_json_begin_array(&w, "run_formats");
	fg_json_text(&w, NULL, "fastgate-run/1");
	fg_json_end(&w);
	fg_json_int(&w, "body_limit_bytes", (int64_t)rq->server->options.body_limit_bytes);
	fg_json_bool(&w, "read_only", rq->server->options.read_only);
	fg_json_text(&w, "scope", fg_scope_name(widest_scope(rq)));
	fg_json_text(&w, "project", rq->project);
	fg_json_text(&w, "name", rq->author);
	fg_json_end(&w);
	return FG_OK;
}

/* Answers that the process is alive, without checking anything. */
int fg_handle_health(struct fg_request *rq, struct fg_error *err)
{
	(void)err;
	fg_strbuf_add_text(&rq->answer.text,
			   atomic_load(&rq->server->draining) ? "draining\n" : "ok\n");
	return FG_OK;
}

/* Reports whether the server can answer and store, according to the health threads. */
int fg_handle_ready(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_server *server = rq->server;
	struct fg_strbuf *text = &rq->answer.text;

	(void)err;
	if (atomic_load(&server->draining))
		fg_strbuf_add_text(text, "draining\n");
	if (!fg_health_database_answers(server->health))
		fg_strbuf_add_text(text, "the database does not answer\n");
	if (!server->options.read_only && !fg_health_disk_has_room(server->health))
		fg_strbuf_add_text(text, "the disk is full or read-only\n");
	rq->answer.status = text->length ? 503 : 200;
	if (text->length)
		rq->answer.retry_after_s = 1;
	else
		fg_strbuf_add_text(text, "ready\n");
	return FG_OK;
}

static void add_head(struct fg_strbuf *text, const char *type, const char *name, const char *help)
{
	fg_strbuf_printf(text, "# HELP perfdb_%s %s\n# TYPE perfdb_%s %s\n", name, help, name,
			 type);
}

static void add_metric(struct fg_strbuf *text, const char *name, const char *help,
		       unsigned long long value)
{
	add_head(text, "counter", name, help);
	fg_strbuf_printf(text, "perfdb_%s %llu\n", name, value);
}

static void add_gauge(struct fg_strbuf *text, const char *name, const char *help, double value)
{
	add_head(text, "gauge", name, help);
	fg_strbuf_printf(text, "perfdb_%s %.*f\n", name, value > trunc(value) ? 3 : 0, value);
}

static void add_replica(struct fg_strbuf *text, const struct fg_replica *replica)
{
	const int64_t lag_ms = fg_replica_lag_ms(replica);

	add_metric(text, "replica_questions_total", "Queries sent to the replica.",
		   fg_replica_query_count(replica));
	add_gauge(text, "replica_up", "Whether the replica answers.", lag_ms >= 0);
	if (lag_ms >= 0)
		add_gauge(text, "replica_lag_seconds", "Lag of the replica.", (double)lag_ms / 1e3);
}

static void add_latency(struct fg_strbuf *text, struct fg_server *server)
{
	struct fg_counters *c = &server->counters;
	unsigned long long sum_us = 0;
	unsigned long long count = 0;

	for (size_t i = 0; i < server->route_count; i++) {
		sum_us += atomic_load(&c->microseconds[i]);
		count += atomic_load(&c->requests[i]);
	}
	add_head(text, "histogram", "latency_seconds", "Duration of requests.");
	for (size_t i = 0; i < FG_LATENCY_STEPS; i++)
		fg_strbuf_printf(text, "perfdb_latency_seconds_bucket{le=\"%g\"} %llu\n",
				 (double)fg_latency_us[i] / 1e6,
				 (unsigned long long)atomic_load(&c->faster[i]));
	fg_strbuf_printf(
		text,
		"perfdb_latency_seconds_bucket{le=\"+Inf\"} %llu\nperfdb_latency_seconds_sum "
		"%.6f\nperfdb_latency_seconds_count %llu\n",
		count, (double)sum_us / 1e6, count);
}

/* Answers in Prometheus' text format. */
int fg_handle_metrics(struct fg_request *rq, struct fg_error *err)
{
	struct fg_counters *c = &rq->server->counters;
	struct fg_strbuf *text = &rq->answer.text;

	(void)err;
	rq->answer.type = "text/plain; version=0.0.4; charset=utf-8";
	add_metric(text, "runs_stored_total", "Runs stored.", atomic_load(&c->runs_stored));
	add_metric(text, "runs_known_total", "Uploads of runs already stored.",
		   atomic_load(&c->runs_known));
	add_metric(text, "over_quota_total", "Uploads refused because of a quota.",
		   atomic_load(&c->over_quota));
	add_metric(text, "body_bytes_total", "Bytes of request bodies received.",
		   atomic_load(&c->bytes_in));
	add_metric(text, "failed_tokens_total", "Requests refused because of their token.",
		   atomic_load(&c->failed_tokens));
	add_metric(text, "limited_total", "Requests refused because of a rate limit.",
		   atomic_load(&c->limited));
	if (rq->server->replica)
		add_replica(text, rq->server->replica);
	add_head(text, "counter", "answers_total", "Answers by status class.");
	for (int i = 2; i < 6; i++)
		fg_strbuf_printf(text, "perfdb_answers_total{class=\"%dxx\"} %llu\n", i,
				 (unsigned long long)atomic_load(&c->answers[i]));
	add_head(text, "summary", "request_seconds", "Time spent on requests.");
	for (size_t i = 0; i < rq->server->route_count; i++) {
		const char *labels =
			fg_arena_printf(&rq->arena, "{method=\"%s\",path=\"%s\"}",
					rq->server->routes[i].method, rq->server->routes[i].path);

		fg_strbuf_printf(
			text,
			"perfdb_request_seconds_sum%s %.6f\nperfdb_request_seconds_count%s %llu\n",
			labels, (double)atomic_load(&c->microseconds[i]) / 1e6, labels,
			(unsigned long long)atomic_load(&c->requests[i]));
	}
	add_latency(text, rq->server);
	add_gauge(text, "body_bytes", "Bytes of request bodies in memory.",
		  (double)atomic_load(&rq->server->body_bytes));
	add_gauge(text, "connections", "Open connections.",
		  (double)fg_connections_count(rq->server->connections));
	add_gauge(text, "waiting", "Requests running or queued.",
		  (double)fg_workers_count(rq->server->workers));
	add_gauge(text, "start_time_seconds", "Start time of the server.",
		  floor((double)rq->server->started_ns / FG_NS_PER_S));
	return FG_OK;
}
