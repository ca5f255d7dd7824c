/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How two builds of a program differ apart from their code: compiler, flags, way of linking,
 * libraries. Computed from the facts that runner/facts/build_info.h records, so it works on stored
 * runs, too.
 */
#ifndef FG_MODEL_BUILD_DIFFERENCE_H
#define FG_MODEL_BUILD_DIFFERENCE_H

#include "model/environment.h"

/* The fact key of a library's build-id. The caller frees it. */
char *fg_build_library_key(const char *name);

/* The library that a fact with this key describes; NULL: another kind of fact. */
const char *fg_build_library_name(const char *key);

/* The build-id of a library that the program loads, or why it has none; NULL: not loaded. */
const char *fg_build_library(const struct fg_environment *build, const char *name);

/* Names of the libraries inside the side's own tree, separated by blanks. */
#define FG_FACT_OWN_LIBRARIES "build.own_libraries"
/* Paths of libraries in the user's work tree that a side built elsewhere loads. */
#define FG_FACT_SHARED_LIBRARIES "build.shared_libraries"
/*
 * Files mapped at run time besides the program and its libraries: plugins, child programs and their
 * libraries. Names separated by blanks; known once sampled.
 */
#define FG_FACT_MODULES "build.modules"

/*
 * The benchmark's `setup`, which left a process running that outlives a pair; among the
 * candidate's facts, absent without one.
 */
#define FG_FACT_SETUP "build.setup"

struct fg_build_difference {
	/*
	 * For people: "optimisation -O2 in the baseline, -O0 in the candidate", most serious first.
	 * NULL: no known difference. The caller frees it.
	 */
	char *text;
	/* differs in compiler, optimisation, linking, or the origin of a library */
	bool is_grave;
};

struct fg_build_difference fg_build_difference_of(const struct fg_environment *baseline,
						  const struct fg_environment *candidate);

#endif
