/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the result of a CI job belongs, by the variables and the event file that the CI service
 * gives it.  Inside perfdb/client/ only.
 *
 * Paths are made of these words, so each is checked before it is taken: one that would lead
 * elsewhere is refused.
 */
#ifndef FG_PERFDB_CLIENT_POST_JOB_H
#define FG_PERFDB_CLIENT_POST_JOB_H

#include "base/base.h"
#include "base/error.h"

struct fg_post_job {
	char *api;      /* NULL: this is no job of that service */
	char *project;  /* "/repos/acme/demo", "/projects/31" */
	int64_t number; /* of the pull or merge request; 0: none, or not known */
	char *head;     /* "OWNER:BRANCH", by which the pull request can be asked for; or NULL */
	char *sha;      /* the commit that was judged; NULL: not known */
	char *page;     /* of the job, for people; or NULL */
};

/* `job` is empty where the variables are not there: that is no failure.  Release it. */
int fg_post_job_github(struct fg_post_job *job, struct fg_error *err) FG_NODISCARD;
int fg_post_job_gitlab(struct fg_post_job *job, struct fg_error *err) FG_NODISCARD;
void fg_post_job_release(struct fg_post_job *job);

/* The value of an environment variable; NULL when it is not set or empty, or `name` is NULL. */
const char *fg_post_variable(const char *name);

#endif
