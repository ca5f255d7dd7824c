/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the functions of a program and of its linked libraries that can be counted by a jump at
 * their entry, before the program starts. The result is a file (collector/calls/entry_plan.h) that
 * the collector reads in the program.
 */
#ifndef FG_RUNNER_ENTRY_PLAN_H
#define FG_RUNNER_ENTRY_PLAN_H

#include "base/base.h"
#include "base/error.h"

struct fg_entry_plan {
	const char *program;           /* path of the program; scripts have no entries */
	char *const *environment;      /* the program's environment; NULL: ours */
	const char *working_directory; /* NULL: ours */
	const char *path;              /* the file to write */
};

/*
 * Writes the plan of a program, or the plans of two builds that are compared: a function refused in
 * one build is refused in the other, so that both builds count the same calls. The dynamic linker
 * lists the libraries; the programs do not run. FG_EUNSUPPORTED: no plan can be made for this kind
 * of program.
 */
int fg_entry_plans_write(const struct fg_entry_plan *plans, size_t count, struct fg_error *err)
	FG_NODISCARD;

#endif
