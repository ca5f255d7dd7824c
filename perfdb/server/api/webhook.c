// SPDX-License-Identifier: Apache-2.0
/* Shows, sets and removes a project's webhook, for its administrators. */
#include "store/serving/webhook.h"

#include "base/text.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"

enum {
	TEXT_MAX_BYTES = 4096 /* maximum size of an address or template */
};

static const char default_template[] =
	"{\"text\": \"{project}: {summary} at {commit} on {branch} {url}\"}";

/*
 * Answers with the webhook; `url`, `template` and `problem` are null if the project has no webhook.
 */
int fg_handle_webhook(struct fg_request *rq, struct fg_error *err)
{
	struct fg_webhook hook = {0};
	struct fg_json_writer w;
	const char *project = NULL;

	FG_TRY(fg_request_project(rq, &project, err));
	FG_TRY(fg_store_webhook_get(rq->store, project, &rq->arena, &hook, err));
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

/* `url` NULL removes the webhook. The address may be secret, so the log does not show it. */
static int set(struct fg_request *rq, const char *project, const char *url, const char *template,
	       struct fg_error *err)
{
	const struct fg_audit_entry entry = {.project = project,
					     .action = url ? "webhook.set" : "webhook.remove"};

	FG_TRY(fg_decision_begin(rq, err));
	FG_TRY(fg_decision_end(rq, fg_store_webhook_set(rq->store, project, url, template, err),
			       &entry, err));
	fg_decision_answer(rq, url ? "project" : "removed", project, 0);
	return FG_OK;
}

/* Refuses an address or a template that could never be used. */
static int check_webhook(const struct fg_webhook_options *options, const char *url,
			 const char *template, struct fg_error *err)
{
	const char *visible = url;
	cJSON *json = NULL;
	bool is_object = false;

	while (*visible > ' ' && *visible < 0x7f && *visible != '@')
		visible++;
	if (*visible || strlen(url) > TEXT_MAX_BYTES ||
	    !(fg_text_starts_with(url, "https://") ||
	      (options->allows_plain && fg_text_starts_with(url, "http://"))))
		return fg_error_set(err, FG_EINVAL,
				    "'url': expected https://HOST/... without a user (the server's "
				    "option --webhook-http also allows http://)");
	/* A placeholder outside a string is not JSON. */
	is_object =
		fg_json_parse(template, strlen(template), TEXT_MAX_BYTES, &json, NULL) == FG_OK &&
		cJSON_IsObject(json);
	cJSON_Delete(json);
	if (is_object)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "'template': expected a JSON object with placeholders inside strings");
}

int fg_handle_webhook_set(struct fg_request *rq, struct fg_error *err)
{
	static const char *const names[] = {"url", "template", NULL};
	const char *project = NULL;
	const char *url = NULL;
	const char *template = NULL;
	cJSON *json = NULL;
	int status = fg_decision_body(rq, names, &json, &project, err);

	if (status == FG_OK) {
		project = fg_decision_text(rq, json, "project", NULL);
		url = fg_decision_text(rq, json, names[0], "");
		template = fg_decision_text(rq, json, names[1], default_template);
	}
	cJSON_Delete(json);
	if (status != FG_OK)
		return status;
	if (!project || !*project)
		return fg_error_set(err, FG_EINVAL,
				    "'project' is missing: a webhook belongs to one project");
	FG_TRY(check_webhook(&rq->server->options.webhooks, url, template, err));
	return set(rq, project, url, template, err);
}

int fg_handle_webhook_remove(struct fg_request *rq, struct fg_error *err)
{
	const char *project = NULL;

	FG_TRY(fg_request_project(rq, &project, err));
	return set(rq, project, NULL, NULL, err);
}
