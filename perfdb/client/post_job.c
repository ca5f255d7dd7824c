// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/json.h"
#include "base/secrets.h"
#include "base/text.h"
#include "perfdb/client/post_private.h"

#include <ctype.h>

enum {
	EVENT_MAX_BYTES = 32 << 20
};

const char *fg_post_variable(const char *name)
{
	const char *value = name ? fg_secret(name) : NULL;

	if (name && !value)
		value = getenv(name);

	return value && *value ? value : NULL;
}

void fg_post_job_release(struct fg_post_job *job)
{
	free(job->api);
	free(job->project);
	free(job->head);
	free(job->sha);
	free(job->page);
	*job = (struct fg_post_job){0};
}

/* ---- checks of parts of a path ---- */

static bool is_made_of(const char *text, const char *signs)
{
	for (; *text; text++) {
		if (!(isascii((unsigned char)*text) && isalnum((unsigned char)*text)) &&
		    !strchr(signs, *text))
			return false;
	}
	return true;
}

static bool is_number(const char *text)
{
	return text && *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 19;
}

static char *hash_or_null(const char *text)
{
	const size_t length = text ? strlen(text) : 0;

	return (length == 40 || length == 64) && strspn(text, "0123456789abcdef") == length
		       ? fg_xstrdup(text)
		       : NULL;
}

/* ---- GitHub ---- */

static cJSON *read_event(void)
{
	const char *path = fg_post_variable("GITHUB_EVENT_PATH");
	char *data = NULL;
	size_t size = 0;
	cJSON *json = NULL;

	if (!path || fg_fs_read(path, EVENT_MAX_BYTES, &data, &size, NULL) != FG_OK)
		return NULL;
	if (fg_json_parse(data, size, EVENT_MAX_BYTES, &json, NULL) != FG_OK)
		json = NULL;
	free(data);
	return json;
}

static int64_t number_in(const cJSON *event, const char *path)
{
	int64_t number = 0;

	return fg_json_get_int64(event, path, &number, NULL) == FG_OK && number > 0 ? number : 0;
}

/* Reads the number in "refs/pull/7/merge"; 0 if the ref is not of a pull request. */
static int64_t number_of_ref(const char *ref)
{
	static const char start[] = "refs/pull/";
	int64_t number = 0;

	if (!ref || !fg_text_starts_with(ref, start))
		return 0;
	for (ref += strlen(start); isdigit((unsigned char)*ref) && number < INT32_MAX; ref++)
		number = number * 10 + (*ref - '0');
	return *ref == '/' ? number : 0;
}

/*
 * A follow-up workflow runs for the default branch: GITHUB_REF and GITHUB_SHA describe that branch,
 * so only the event counts. The event lists only pull requests from branches of this repository; a
 * pull request from a fork is looked up by its head.
 */
static void take_followed(struct fg_post_job *job, const cJSON *followed)
{
	const cJSON *requests = cJSON_GetObjectItemCaseSensitive(followed, "pull_requests");
	const char *owner = fg_json_text_or(followed, "head_repository/owner/login", NULL);
	const char *branch = fg_json_text_or(followed, "head_branch", NULL);
	const char *page = fg_json_text_or(followed, "html_url", NULL);

	job->sha = hash_or_null(fg_json_text_or(followed, "head_sha", NULL));
	job->page = page ? fg_xstrdup(page) : NULL;
	if (!fg_text_starts_with(fg_json_text_or(followed, "event", ""), "pull_request"))
		return;
	if (cJSON_GetArraySize(requests) == 1)
		job->number = number_in(cJSON_GetArrayItem(requests, 0), "number");
	else if (owner && branch && job->sha)
		job->head = fg_xasprintf("%s:%s", owner, branch);
}

static void take_job(struct fg_post_job *job, const cJSON *event, const char *repository)
{
	const char *server = fg_post_variable("GITHUB_SERVER_URL");
	const char *run = fg_post_variable("GITHUB_RUN_ID");

	job->number = number_in(event, "pull_request/number");
	if (job->number == 0)
		job->number = number_of_ref(fg_post_variable("GITHUB_REF"));
	/* For a pull request, GITHUB_SHA is a temporary merge commit. */
	job->sha = hash_or_null(fg_json_text_or(event, "pull_request/head/sha", NULL));
	if (!job->sha && job->number == 0)
		job->sha = hash_or_null(fg_post_variable("GITHUB_SHA"));
	if (server && is_number(run))
		job->page = fg_xasprintf("%s/%s/actions/runs/%s", server, repository, run);
}

int fg_post_job_github(struct fg_post_job *job, struct fg_error *err)
{
	const char *api = fg_post_variable("GITHUB_API_URL");
	const char *repository = fg_post_variable("GITHUB_REPOSITORY");
	const cJSON *followed = NULL;
	cJSON *event = NULL;

	if (!repository)
		return FG_OK;
	if (!strchr(repository, '/') || !is_made_of(repository, "/-_.") || strstr(repository, ".."))
		return fg_error_set(err, FG_EINVAL,
				    "GITHUB_REPOSITORY must have the form OWNER/NAME");
	job->api = fg_xstrdup(api ? api : "https://api.github.com");
	job->project = fg_xasprintf("/repos/%s", repository);
	event = read_event();
	followed = cJSON_GetObjectItemCaseSensitive(event, "workflow_run");
	if (cJSON_IsObject(followed))
		take_followed(job, followed);
	else
		take_job(job, event, repository);
	cJSON_Delete(event);
	return FG_OK;
}

/* ---- GitLab ---- */

int fg_post_job_gitlab(struct fg_post_job *job, struct fg_error *err)
{
	const char *api = fg_post_variable("CI_API_V4_URL");
	const char *project = fg_post_variable("CI_PROJECT_ID");
	const char *request = fg_post_variable("CI_MERGE_REQUEST_IID");
	const char *page = fg_post_variable("CI_JOB_URL");

	if (!api || !project)
		return FG_OK;
	if (!is_number(project) || (request && !is_number(request)))
		return fg_error_set(err, FG_EINVAL,
				    "CI_PROJECT_ID and CI_MERGE_REQUEST_IID must be numbers");
	job->api = fg_xstrdup(api);
	job->project = fg_xasprintf("/projects/%s", project);
	job->number = request ? strtoll(request, NULL, 10) : 0;
	job->sha = hash_or_null(fg_post_variable("CI_COMMIT_SHA"));
	job->page = page ? fg_xstrdup(page) : NULL;
	return FG_OK;
}
