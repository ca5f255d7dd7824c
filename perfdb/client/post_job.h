/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pull request and commit of a CI job, from the variables and the event file of the CI service.
 * Inside perfdb/client/ only.
 *
 * URL paths are built from these words, so each is checked: one that would change the path is
 * refused.
 */
#ifndef FG_PERFDB_CLIENT_POST_JOB_H
#define FG_PERFDB_CLIENT_POST_JOB_H

#include "base/base.h"
#include "base/error.h"

struct fg_post_job {
	char *api;      /* NULL: not a job of that service */
	char *project;  /* "/repos/acme/demo", "/projects/31" */
	int64_t number; /* of the pull or merge request; 0: none, or unknown */
	char *head;     /* "OWNER:BRANCH", to look up the pull request; or NULL */
	char *sha;      /* the judged commit; NULL: unknown */
	char *page;     /* the job's web page; or NULL */
};

/* `job` stays empty outside the service, which is not a failure. The caller releases it. */
int fg_post_job_github(struct fg_post_job *job, struct fg_error *err) FG_NODISCARD;
int fg_post_job_gitlab(struct fg_post_job *job, struct fg_error *err) FG_NODISCARD;
void fg_post_job_release(struct fg_post_job *job);

/* The value of an environment variable; NULL if it is unset or empty, or if `name` is NULL. */
const char *fg_post_variable(const char *name);

#endif
