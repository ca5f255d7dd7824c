/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts that decide whether two builds do the same thing, comparable later and on other hosts:
 *
 *	build.code            digest of the program's machine code and data, wherever they lie
 *	build.code.LIBRARY    the same of a shared library of the project
 *	build.layout          digest of everything that is loaded, with its addresses: equal where
 *	                      only debug information differs; build.layout.LIBRARY
 *	build.inputs          digest of the files that the command names and of the project's data
 *	build.mapped          digest of what else was mapped while it ran, by build-ids: plugins,
 *	                      child programs; known once a repetition was sampled
 *	build.place.LIBRARY   where a library of the project lies in the checkout
 *	build.changed         of the candidate: the functions and objects of the program and of
 *	                      these libraries that are not as in the baseline, by linkage name;
 *	                      " ..." at the end: and more
 *	build.functions       of the candidate: NAME=BEFORE:AFTER:STATE for the functions that it
 *	                      spends most of its time in.  The numbers are addresses within a page;
 *	                      the state is s (same machine code, also in all that it names), r (the
 *	                      same, but something that it names is not) or c (changed)
 *
 * A fact that is unavailable (stripped, another processor, too large) is left out: the code is then
 * not assumed to be the same.
 */
#ifndef FG_RUNNER_CODE_FACTS_H
#define FG_RUNNER_CODE_FACTS_H

#include "model/environment.h"
#include "runner/target.h"

#define FG_FACT_CODE      "build.code"
#define FG_FACT_LAYOUT    "build.layout"
#define FG_FACT_INPUTS    "build.inputs"
#define FG_FACT_MAPPED    "build.mapped"
#define FG_FACT_PLACE     "build.place"
#define FG_FACT_CHANGED   "build.changed"
#define FG_FACT_FUNCTIONS "build.functions"

enum {
	FG_FACT_PAGE = 4096
};

struct fg_code_names {
	const char **items; /* linkage names */
	size_t count;
};

enum {
	FG_CODE_FACT_SIZE = 33 /* a digest as text */
};

/* The digest that build.code has for a program; false: it cannot be computed. */
bool fg_code_facts_digest(const struct fg_target *target, const char *path,
			  char digest[FG_CODE_FACT_SIZE]);
void fg_code_facts_add_program(const struct fg_target *target, struct fg_environment *build);
/* `name` as the program asks for it, `path` as the loader found it. */
void fg_code_facts_add_library(const struct fg_target *target, const char *name, const char *path,
			       struct fg_environment *build);
/* Decides by the name: a source, a document or a file of fastgate is not input of a program. */
bool fg_code_facts_is_no_input(const char *path);
void fg_code_facts_add_inputs(const struct fg_target *target, struct fg_environment *build);

/*
 * Records in the candidate's facts what differs in the two programs and in the libraries that these
 * facts place in its checkout, and where the given functions lie.
 */
void fg_code_facts_add_changes(const struct fg_target *baseline, const struct fg_target *candidate,
			       const struct fg_code_names *functions, struct fg_environment *build);

#endif
