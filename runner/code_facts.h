/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decides whether two builds do the same thing, as facts that can be compared later and
 * elsewhere:
 *
 *	build.code            digest of the program's machine code and data, wherever they lie
 *	build.code.LIBRARY    the same of a shared library of the project
 *	build.inputs          digest of the files that the command names and of the project's data
 *
 * A fact that cannot be had (stripped, another processor, too large) is left out: then nobody
 * claims that the code is the same.
 */
#ifndef FG_RUNNER_CODE_FACTS_H
#define FG_RUNNER_CODE_FACTS_H

#include "model/environment.h"
#include "runner/target.h"

void fg_code_facts_add_program(const struct fg_target *target, struct fg_environment *build);
/* `name` as the program asks for it, `path` as the loader found it. */
void fg_code_facts_add_library(const struct fg_target *target, const char *name, const char *path,
			       struct fg_environment *build);
/* `interrupted` may be NULL. */
void fg_code_facts_add_inputs(const struct fg_target *target, struct fg_environment *build);

#endif
