/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts that decide whether two builds do the same thing (code, layout, inputs, changed and
 * functions of model/build_facts.h), comparable later and on other hosts. A fact that is
 * unavailable (stripped, another architecture, too large) is left out.
 */
#ifndef FG_RUNNER_CODE_FACTS_H
#define FG_RUNNER_CODE_FACTS_H

#include "model/build_facts.h"
#include "runner/target.h"

struct fg_code_names {
	const char **items; /* linkage names */
	size_t count;
};

enum {
	FG_CODE_FACT_SIZE = 33 /* size of a digest as text, with the NUL */
};

/* Computes the digest of a program's code. Returns false if it cannot be computed. */
bool fg_code_facts_digest(const struct fg_target *target, const char *path,
			  char digest[FG_CODE_FACT_SIZE]);
void fg_code_facts_add_program(const struct fg_target *target, struct fg_build_facts *build);
/* `path` is the file that the loader found. */
void fg_code_facts_add_library(const struct fg_target *target, const char *path,
			       struct fg_build_library *library);
/*
 * Is this, judged by its name, a source, a document or a file of fastgate? No program reads such a
 * file as input.
 */
bool fg_code_facts_is_no_input(const char *path);
void fg_code_facts_add_inputs(const struct fg_target *target, struct fg_build_facts *build);

/*
 * Records in the candidate's facts the differences between the two programs and between those
 * libraries of `build` that lie in the candidate's checkout, and the places of the given functions.
 */
void fg_code_facts_add_changes(const struct fg_target *baseline, const struct fg_target *candidate,
			       const struct fg_code_names *functions, struct fg_build_facts *build);

#endif
