// SPDX-License-Identifier: Apache-2.0
/* Posts the project's only comment on a pull request, or its only note on a merge request. */
#include "base/json_write.h"
#include "base/text.h"
#include "perfdb/client/post_private.h"

#include <ctype.h>
#include <inttypes.h>

enum {
	MAX_PAGES = 50
};

struct thread {
	char *list;   /* URL for listing and creating comments */
	char *single; /* "/…/"; a comment's id is appended */
	const char *edit_method;
};

static void thread_release(struct thread *thread)
{
	free(thread->list);
	free(thread->single);
}

/* ---- the pull request of a fork ---- */

static void add_percent_encoded(struct fg_strbuf *text, const char *words)
{
	for (; *words; words++) {
		const unsigned char byte = (unsigned char)*words;

		if (isascii(byte) && (isalnum(byte) || strchr("-._~", byte)))
			fg_strbuf_add_char(text, *words);
		else
			fg_strbuf_printf(text, "%%%02X", byte);
	}
}

/*
 * Finds the open pull request whose head is the measured commit. If the branch has newer commits,
 * the job of the newest commit posts.
 */
static int find_number(struct fg_post *p, struct fg_error *err)
{
	struct fg_strbuf path = {0};
	const cJSON *request = NULL;
	cJSON *json = NULL;
	int status = FG_OK;

	fg_strbuf_printf(&path, "%s/pulls?state=open&per_page=%d&head=", p->job.project,
			 (int)FG_POST_PAGE_SIZE);
	add_percent_encoded(&path, p->job.head);
	status = fg_post_get(p, fg_strbuf_text(&path), "the list of pull requests", &json, err);
	cJSON_ArrayForEach(request, json)
	{
		if (strcmp(fg_json_text_or(request, "head/sha", ""), p->job.sha) == 0 &&
		    fg_json_get_int64(request, "number", &p->job.number, NULL) != FG_OK)
			p->job.number = 0;
	}
	cJSON_Delete(json);
	fg_strbuf_release(&path);
	return status;
}

/* ---- thread of comments ---- */

/* Sets *id if our comment is on this page, and *is_last if no page follows. */
static int look_at_page(struct fg_post *p, const struct thread *thread, unsigned page, int64_t *id,
			bool *is_last, struct fg_error *err)
{
	char *path =
		fg_xasprintf("%s?per_page=%d&page=%u", thread->list, (int)FG_POST_PAGE_SIZE, page);
	const cJSON *comment = NULL;
	cJSON *json = NULL;
	int status = fg_post_get(p, path, "the list of comments", &json, err);

	if (status == FG_OK) {
		*is_last = cJSON_GetArraySize(json) < FG_POST_PAGE_SIZE;
		cJSON_ArrayForEach(comment, json)
		{
			if (*id == 0 &&
			    fg_text_starts_with(fg_json_text_or(comment, "body", ""),
						p->message->marker) &&
			    fg_json_get_int64(comment, "id", id, NULL) != FG_OK)
				*id = 0;
		}
	}
	cJSON_Delete(json);
	free(path);
	return status;
}

static int find_comment(struct fg_post *p, const struct thread *thread, int64_t *id,
			struct fg_error *err)
{
	bool is_last = false;
	int status = FG_OK;

	*id = 0;
	for (unsigned page = 1; status == FG_OK && *id == 0 && !is_last; page++) {
		if (page > MAX_PAGES) {
			p->may_pass = false;
			return fg_error_set(err, FG_ELIMIT,
					    "the first %d comments do not include fastgate's",
					    FG_POST_PAGE_SIZE * MAX_PAGES);
		}
		status = look_at_page(p, thread, page, id, &is_last, err);
	}
	return status;
}

static int write_comment(struct fg_post *p, const struct thread *thread,
			 enum fg_post_result *result, struct fg_error *err)
{
	struct fg_strbuf body = {0};
	struct fg_json_writer w;
	char *path = NULL;
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY(find_comment(p, thread, &id, err));
	fg_json_writer_init(&w, &body, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "body", p->message->comment);
	fg_json_end(&w);
	path = id ? fg_xasprintf("%s%" PRId64, thread->single, id) : fg_xstrdup(thread->list);
	status = fg_post_put(p, id ? thread->edit_method : "POST", path, &body, err);
	if (status == FG_OK)
		*result = id ? FG_POST_UPDATED : FG_POST_CREATED;
	fg_strbuf_release(&body);
	free(path);
	return status;
}

int fg_post_github_comment(struct fg_post *p, enum fg_post_result *result, struct fg_error *err)
{
	struct thread thread = {.edit_method = "PATCH"};
	int status = p->job.number ? FG_OK : find_number(p, err);

	if (status != FG_OK || p->job.number == 0)
		return status;
	thread.list = fg_xasprintf("%s/issues/%" PRId64 "/comments", p->job.project, p->job.number);
	thread.single = fg_xasprintf("%s/issues/comments/", p->job.project);
	status = write_comment(p, &thread, result, err);
	thread_release(&thread);
	return status;
}

int fg_post_gitlab_note(struct fg_post *p, enum fg_post_result *result, struct fg_error *err)
{
	struct thread thread = {.edit_method = "PUT"};
	int status = FG_OK;

	thread.list =
		fg_xasprintf("%s/merge_requests/%" PRId64 "/notes", p->job.project, p->job.number);
	thread.single = fg_xasprintf("%s/", thread.list);
	status = write_comment(p, &thread, result, err);
	thread_release(&thread);
	return status;
}
