/* SPDX-License-Identifier: Apache-2.0 */
/* The result to where report.post of fastgate.yml says. */
#ifndef FG_CLI_SESSION_POSTS_H
#define FG_CLI_SESSION_POSTS_H

#include "cli/framework/command.h"
#include "model/plan.h"
#include "reporters/reporter.h"

/*
 * `json`: the report as it was written; NULL: it is written from `report`.
 * Each target in turn; one that fails is a warning and does not keep the others from theirs.
 * false: one that is required failed.
 */
bool fg_posts_send(const struct fg_cli *cli, const struct fg_plan *plan,
		   const struct fg_report *report, const char *json);
/*
 * A report.json that another job has written (`path`), to where `plan` says.  What it says is
 * shown, nothing of it is believed: project, pull request and commit are those of this job.
 * Returns the exit code.
 */
int fg_posts_send_file(const struct fg_cli *cli, const struct fg_plan *plan, const char *path,
		       struct fg_error *err);

#endif
