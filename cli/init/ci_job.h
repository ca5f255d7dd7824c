/* SPDX-License-Identifier: Apache-2.0 */
/* The job of a CI system that gates a project: one row each. */
#ifndef FG_CLI_INIT_PROJECT_CI_H
#define FG_CLI_INIT_PROJECT_CI_H

#include "base/base.h"

struct fg_project_ci {
	const char *name; /* "github"; NULL ends the table */
	const char *path; /* of the file that is written */
	const char *text;
	const char *next; /* what is left to do by hand */
};

/* NULL: there is none of this name. */
const struct fg_project_ci *fg_project_ci_find(const char *name);

#endif
