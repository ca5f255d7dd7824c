/* SPDX-License-Identifier: Apache-2.0 */
/* Posts the result to the targets in report.post of fastgate.yml. */
#ifndef FG_CLI_SESSION_POSTS_H
#define FG_CLI_SESSION_POSTS_H

#include "cli/framework/command.h"
#include "model/plan.h"
#include "reporters/reporter.h"

/*
 * `json`: the report as written; NULL: it is generated from `report`. Tries every target; a failure
 * is a warning. Returns false if a required target failed.
 */
bool fg_posts_send(const struct fg_cli *cli, const struct fg_plan *plan,
		   const struct fg_report *report, const char *json);
/*
 * Posts a report.json that another job has written (`path`). It is shown but not trusted: project,
 * pull request and commit come from this job. Returns the exit code.
 */
int fg_posts_send_file(const struct fg_cli *cli, const struct fg_plan *plan, const char *path,
		       struct fg_error *err);

#endif
