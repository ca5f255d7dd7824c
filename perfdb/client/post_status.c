// SPDX-License-Identifier: Apache-2.0
/*
 * Sets the commit status of GitHub and GitLab, and GitHub's check run with the whole report. A
 * status or check run is identified by a name that is the same for every run of a project, so that
 * it can be a required check. A new status replaces an earlier status of the same name; a check run
 * is found and updated.
 */
#include "base/json_write.h"
#include "base/text.h"
#include "perfdb/client/post_private.h"

#include <inttypes.h>

enum {
	DESCRIPTION_MAX_BYTES = 140 /* GitHub refuses longer descriptions */
};

/* GitHub's words for the result of a run. */
struct words {
	const char *state;
	const char *conclusion;
};

static struct words github_words(const struct fg_post_message *message)
{
	switch (message->exit_code) {
	case FG_EXIT_PASS:
		return (struct words){"success", message->is_open ? "neutral" : "success"};
	case FG_EXIT_REGRESSION:
	case FG_EXIT_INCONCLUSIVE:
		return (struct words){"failure", "failure"};
	default:
		return (struct words){"error", "action_required"};
	}
}

static void add_description(struct fg_json_writer *w, const char *title)
{
	struct fg_strbuf cut = {0};

	fg_text_add_clean(&cut, title, strlen(title), DESCRIPTION_MAX_BYTES);
	fg_json_text(w, "description", fg_strbuf_text(&cut));
	fg_strbuf_release(&cut);
}

static int write_status(struct fg_post *p, const char *state, const char *name_key,
			enum fg_post_result *result, struct fg_error *err)
{
	char *path = fg_xasprintf("%s/statuses/%s", p->job.project, p->job.sha);
	struct fg_strbuf body = {0};
	struct fg_json_writer w;
	int status = FG_OK;

	fg_json_writer_init(&w, &body, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "state", state);
	fg_json_text(&w, name_key, p->message->name);
	add_description(&w, p->message->title);
	if (p->job.page)
		fg_json_text(&w, "target_url", p->job.page);
	fg_json_end(&w);
	status = fg_post_put(p, "POST", path, &body, err);
	if (status == FG_OK)
		*result = FG_POST_CREATED;
	fg_strbuf_release(&body);
	free(path);
	return status;
}

int fg_post_github_status(struct fg_post *p, enum fg_post_result *result, struct fg_error *err)
{
	return write_status(p, github_words(p->message).state, "context", result, err);
}

int fg_post_gitlab_status(struct fg_post *p, enum fg_post_result *result, struct fg_error *err)
{
	return write_status(p, p->message->exit_code == FG_EXIT_PASS ? "success" : "failed", "name",
			    result, err);
}

static int find_check_run(struct fg_post *p, int64_t *id, struct fg_error *err)
{
	char *path = fg_xasprintf("%s/commits/%s/check-runs?check_name=%s&per_page=1",
				  p->job.project, p->job.sha, p->message->name);
	cJSON *json = NULL;
	const int status = fg_post_get(p, path, "the list of check runs", &json, err);
	const cJSON *runs = cJSON_GetObjectItemCaseSensitive(json, "check_runs");

	*id = 0;
	if (status == FG_OK && cJSON_GetArraySize(runs) > 0 &&
	    fg_json_get_int64(cJSON_GetArrayItem(runs, 0), "id", id, NULL) != FG_OK)
		*id = 0;
	cJSON_Delete(json);
	free(path);
	return status;
}

static void write_check_run(const struct fg_post *p, bool is_new, struct fg_strbuf *body)
{
	const struct fg_post_message *message = p->message;
	struct fg_json_writer w;

	fg_json_writer_init(&w, body, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "name", message->name);
	if (is_new)
		fg_json_text(&w, "head_sha", p->job.sha);
	fg_json_text(&w, "status", "completed");
	fg_json_text(&w, "conclusion", github_words(message).conclusion);
	fg_json_text(&w, "external_id", message->run_id);
	if (p->job.page)
		fg_json_text(&w, "details_url", p->job.page);
	fg_json_begin_object(&w, "output");
	fg_json_text(&w, "title", message->title);
	fg_json_text(&w, "summary", message->comment);
	fg_json_end(&w);
	fg_json_end(&w);
}

int fg_post_check_run(struct fg_post *p, enum fg_post_result *result, struct fg_error *err)
{
	struct fg_strbuf body = {0};
	char *path = NULL;
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY(find_check_run(p, &id, err));
	write_check_run(p, id == 0, &body);
	path = id ? fg_xasprintf("%s/check-runs/%" PRId64, p->job.project, id)
		  : fg_xasprintf("%s/check-runs", p->job.project);
	status = fg_post_put(p, id ? "PATCH" : "POST", path, &body, err);
	if (status == FG_OK)
		*result = id ? FG_POST_UPDATED : FG_POST_CREATED;
	fg_strbuf_release(&body);
	free(path);
	return status;
}
