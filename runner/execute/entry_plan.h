/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before a program starts: which functions of it and of the libraries that it is linked with can be
 * counted by a jump at their entry?  The answer is a file (collector/calls/entry_plan.h) that the
 * collector reads in the program.
 */
#ifndef FG_RUNNER_ENTRY_PLAN_H
#define FG_RUNNER_ENTRY_PLAN_H

#include "base/error.h"

struct fg_entry_plan {
	const char *program;           /* as it is started: a name, or a path */
	char *const *environment;      /* of the program; NULL: ours */
	const char *working_directory; /* NULL: ours */
};

/*
 * Writes the plan of this program to `path`.  The dynamic linker is asked for the libraries; the
 * program does not run.  FG_EUNSUPPORTED: it is none that a plan can be made for.
 */
int fg_entry_plan_write(const struct fg_entry_plan *plan, const char *path, struct fg_error *err)
	FG_NODISCARD;
/*
 * Two plans for two builds that are compared: a function that is refused in one is refused in the
 * other, so that both count the same calls of it.
 */
int fg_entry_plans_agree(const char *one, const char *other, struct fg_error *err) FG_NODISCARD;

#endif
