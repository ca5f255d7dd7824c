/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Posts a verdict: as a project's only comment on a GitHub pull request or only note on a GitLab
 * merge request, as a commit status or a check run, or as a report of any format to a webhook.
 *
 * A comment is found by its marker (its first line) on all pages of the thread and rewritten; a new
 * comment is created only if no comment has the marker. A thread of more than 5,000 comments
 * without the marker is a failure. Temporary failures (no connection, 408, 425, 429, 5xx, a rate
 * limit that says when it ends) are retried, beginning with the search, so that a lost reply does
 * not cause a second comment. If the rate limit lasts too long, the request is not sent again.
 *
 * The target comes from the variables that the CI service sets for a job:
 *
 *	github   GITHUB_API_URL, GITHUB_REPOSITORY, and pull request and commit from
 *	         GITHUB_EVENT_PATH, GITHUB_REF, GITHUB_SHA
 *	gitlab   CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, CI_COMMIT_SHA
 *
 * In a workflow that follows another workflow (the event has a "workflow_run"), the pull request
 * and the commit of the first workflow are used. A job without a pull request posts no comment, and
 * outside CI only webhooks are called; neither is a failure.
 *
 * A webhook's body is signed when its target names a secret: "X-Fastgate-Signature-256: sha256=HEX"
 * is the HMAC-SHA256 of the body. "X-Fastgate-Delivery" is the run's id, the same on every try.
 */
#ifndef FG_PERFDB_CLIENT_POST_H
#define FG_PERFDB_CLIENT_POST_H

#include "base/base.h"
#include "base/error.h"
#include "model/plan.h"
#include "model/verdict.h"

#include <signal.h>

struct fg_post_message {
	const char *marker;  /* first line of the comment */
	const char *comment; /* Markdown */
	/* the report for a webhook, in the format that its target names */
	const char *body;
	const char *media_type;
	const char *run_id;
	const char *name;  /* name of a status or check run: letters, digits, '/', '.', '_', '-' */
	const char *title; /* the verdict in one line */
	enum fg_exit exit_code;
	bool is_open; /* the run passed without a decision */
};

/* Zero selects the default; only tests set the limits. */
struct fg_post_options {
	unsigned attempts;                        /* maximum number of attempts; 0: 4 */
	int64_t first_wait_ns;                    /* wait before the second attempt; 0: 500 ms */
	int64_t longest_wait_ns;                  /* a longer rate limit fails at once; 0: 60 s */
	int64_t timeout_ns;                       /* time limit per request; 0: 20 s */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
};

enum fg_post_result {
	FG_POST_NOWHERE, /* no commit or pull request is known for this run */
	FG_POST_CREATED,
	FG_POST_UPDATED,
	FG_POST_DELIVERED, /* sent to a webhook */
};

/* Any status but FG_OK means that no post was confirmed. Messages never contain a secret. */
int fg_post(const struct fg_post_target *target, const struct fg_post_message *message,
	    const struct fg_post_options *options, enum fg_post_result *result,
	    struct fg_error *err) FG_NODISCARD;

#endif
