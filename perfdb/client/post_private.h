/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of one post, shared by post.c, post_comment.c and post_status.c. Private to perfdb/client/.
 */
#ifndef FG_PERFDB_CLIENT_POST_PRIVATE_H
#define FG_PERFDB_CLIENT_POST_PRIVATE_H

#include "base/base.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "perfdb/client/http.h"
#include "perfdb/client/post.h"

/* ---- post_job.c ---- */

struct fg_post_job {
	char *api;      /* URL of the service's API; NULL outside a CI job of the service */
	char *project;  /* "/repos/acme/demo", "/projects/31" */
	int64_t number; /* number of the pull or merge request; 0: none, or unknown */
	char *head;     /* "OWNER:BRANCH", for looking up the pull request; or NULL */
	char *sha;      /* commit that was judged; NULL: unknown */
	char *page;     /* the job's web page; or NULL */
};

/*
 * Fills `job`, which the caller releases. Outside the service `job` stays empty, which is not a
 * failure.
 */
int fg_post_job_github(struct fg_post_job *job, struct fg_error *err) FG_NODISCARD;
int fg_post_job_gitlab(struct fg_post_job *job, struct fg_error *err) FG_NODISCARD;
void fg_post_job_release(struct fg_post_job *job);

/*
 * Returns the value of an environment variable; NULL if it is unset or empty, or if `name` is NULL.
 */
const char *fg_post_variable(const char *name);

/* ---- post_request.c ---- */

enum {
	FG_POST_PAGE_SIZE = 100,
	/* room for 100 comments of 65,536 characters of up to four bytes */
	FG_POST_REPLY_MAX_BYTES = 32 << 20,
};

struct fg_post {
	const struct fg_post_message *message;
	struct fg_post_job job;
	const char *token; /* may be NULL */
	struct fg_http *http;
	int64_t retry_after_ns; /* from the last failure; -1: not given */
	bool may_pass;          /* the last failure is temporary */
};

/*
 * Sends one request; any status but 2xx is a failure with the server's message. The caller releases
 * the reply's body.
 */
int fg_post_send(struct fg_post *p, const struct fg_http_request *request,
		 struct fg_http_reply *reply, struct fg_error *err) FG_NODISCARD;
/*
 * Sends GET and parses the reply as JSON, which the caller deletes; `what` names the reply in the
 * message if it is not JSON.
 */
int fg_post_get(struct fg_post *p, const char *path, const char *what, cJSON **json,
		struct fg_error *err) FG_NODISCARD;
/* Sends a JSON body and discards the reply. */
int fg_post_put(struct fg_post *p, const char *method, const char *path,
		const struct fg_strbuf *body, struct fg_error *err) FG_NODISCARD;

/* Each function posts to one target. *result stays FG_POST_NOWHERE if no pull request is found. */
int fg_post_github_comment(struct fg_post *p, enum fg_post_result *result, struct fg_error *err);
int fg_post_gitlab_note(struct fg_post *p, enum fg_post_result *result, struct fg_error *err);
int fg_post_github_status(struct fg_post *p, enum fg_post_result *result, struct fg_error *err);
int fg_post_gitlab_status(struct fg_post *p, enum fg_post_result *result, struct fg_error *err);
int fg_post_check_run(struct fg_post *p, enum fg_post_result *result, struct fg_error *err);

#endif
