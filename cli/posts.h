/* SPDX-License-Identifier: Apache-2.0 */
/* The result to where report.post of fastgate.yml says. */
#ifndef FG_CLI_POSTS_H
#define FG_CLI_POSTS_H

#include "cli/command.h"
#include "model/plan.h"
#include "reporters/reporter.h"

/*
 * Each target in turn; one that fails is a warning and does not keep the others from theirs.
 * false: one that is required failed.
 */
bool fg__posts_send(const struct fg_cli *cli, const struct fg_plan *plan,
		    const struct fg_report *report);

#endif
