// SPDX-License-Identifier: Apache-2.0
/* The webhook of a project: shown, set, removed and tested by its administrators. */
#include "perfdb/server/webhook.h"

#include "base/clock.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/limiter.h"

/* A project without a webhook is answered alike, with nulls. */
int fg_handle_webhook(struct fg_request *rq, struct fg_error *err)
{
	struct fg_webhook hook = {0};
	struct fg_error reason = {0};
	struct fg_json_writer w;
	const char *project = NULL;
	int status = fg_request_project(rq, &project, err);

	if (status != FG_OK)
		return status;
	status = fg_store_webhook_get(rq->store, project, &rq->arena, &hook, &reason);
	if (status != FG_OK && status != FG_ENOENT)
		return fg_error_set(err, status, "%s", reason.message);
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "project", project);
	fg_json_text(&w, "url", hook.url);
	fg_json_text(&w, "template", hook.template);
	fg_json_int(&w, "waiting", hook.waiting);
	fg_json_text(&w, "problem", hook.problem);
	fg_json_end(&w);
	return FG_OK;
}

/* `url` NULL: removes it.  The address may be a secret: the log gets none of it. */
static int set(struct fg_request *rq, const char *project, const char *url, const char *template,
	       struct fg_error *err)
{
	const struct fg_audit_entry entry = {.project = project,
					     .action = url ? "webhook.set" : "webhook.remove"};
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	status = url ? fg_store_webhook_set(rq->store, project, url, template, err)
		     : fg_store_webhook_remove(rq->store, project, err);
	return fg_decision_end(rq, status, &entry, err);
}

/* The body's members; `project` and what the names say live in the request's arena. */
static int read_body(struct fg_request *rq, const char *const *names, const char **texts,
		     struct fg_error *err)
{
	cJSON *json = NULL;
	int status = fg_decision_body(rq, names, &json, &texts[0], err);

	for (size_t i = 0; names[i] && status == FG_OK; i++)
		texts[i] = fg_decision_text(rq, json, names[i], NULL);
	cJSON_Delete(json);
	if (status != FG_OK)
		return status;
	if (!texts[0] || !*texts[0])
		return fg_error_set(err, FG_EINVAL,
				    "'project' is missing: a webhook belongs to one project");
	return FG_OK;
}

int fg_handle_webhook_set(struct fg_request *rq, struct fg_error *err)
{
	static const char *const names[] = {"project", "url", "template", NULL};
	const char *texts[3] = {NULL};
	const char *template = NULL;
	int status = read_body(rq, names, texts, err);

	if (status != FG_OK)
		return status;
	template = texts[2] && *texts[2] ? texts[2] : FG_WEBHOOK_TEMPLATE;
	status = fg_webhooks_check(rq->server->webhooks, texts[1] ? texts[1] : "", template, err);
	if (status != FG_OK)
		return status;
	status = set(rq, texts[0], texts[1], template, err);
	if (status != FG_OK)
		return status;
	fg_decision_answer(rq, "project", texts[0], 0);
	return FG_OK;
}

int fg_handle_webhook_remove(struct fg_request *rq, struct fg_error *err)
{
	const char *project = NULL;
	int status = fg_request_project(rq, &project, err);

	if (status != FG_OK)
		return status;
	status = set(rq, project, NULL, NULL, err);
	if (status != FG_OK)
		return status;
	fg_decision_answer(rq, "removed", project, 0);
	return FG_OK;
}

/* Sent at once, at most a few times a minute; the answer reports the result. */
int fg_handle_webhook_test(struct fg_request *rq, struct fg_error *err)
{
	static const char *const names[] = {"project", NULL};
	struct fg_webhook_values values = {.verdict = "test", .summary = "a test of the webhook"};
	struct fg_webhook hook = {0};
	struct fg_strbuf body = {0};
	struct fg_error why = {0};
	int64_t wait_ns = 0;
	int status = read_body(rq, names, &values.project, err);

	if (status != FG_OK)
		return status;
	status = fg_store_webhook_get(rq->store, values.project, &rq->arena, &hook, err);
	if (status != FG_OK)
		return status;
	rq->answer.retry_after_s = fg_limiter_count(rq->server->webhook_tests, values.project,
						    fg_clock_monotonic_ns());
	if (rq->answer.retry_after_s)
		return fg_request_refuse(rq, 429, err, "too many tests in one minute");
	fg_request_leave_store(rq); /* the other end is slow */
	fg_webhook_fill(hook.template, &values, &body);
	status = fg_webhooks_send(rq->server->webhooks, hook.url, fg_strbuf_text(&body), &wait_ns,
				  &why);
	fg_strbuf_release(&body);
	fg_decision_answer(rq, "problem", status == FG_OK ? "" : why.message, 0);
	return FG_OK;
}
