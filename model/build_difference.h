/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How two builds of a program differ apart from their code: compiler, flags, way of linking,
 * libraries. Computed from the facts that runner/facts/build_info.h records, so it works on stored
 * runs, too.
 */
#ifndef FG_MODEL_BUILD_DIFFERENCE_H
#define FG_MODEL_BUILD_DIFFERENCE_H

#include "model/environment.h"

/* The key of the fact that is a library's build-id.  Yours to free. */
char *fg_build_library_key(const char *name);

/* The name of the library that a fact with this key is about; NULL: it is about something else. */
const char *fg_build_library_name(const char *key);

/* The build-id of a library that the program loads, or why it has none; NULL: it loads no such. */
const char *fg_build_library(const struct fg_environment *build, const char *name);

/* Names of the libraries that lie in the side's own tree, separated by blanks. */
#define FG_FACT_OWN_LIBRARIES "build.own_libraries"
/* Paths of libraries in the user's work tree that a side with a tree of its own loads. */
#define FG_FACT_SHARED_LIBRARIES "build.shared_libraries"
/*
 * Names of what was mapped while it ran beside the program and the libraries that the loader tells
 * of: plugins, child programs and their libraries.  Separated by blanks; known once sampled.
 */
#define FG_FACT_MODULES "build.modules"

struct fg_build_difference {
	/*
	 * For people: "optimisation -O2 in the baseline, -O0 in the candidate", the gravest first;
	 * NULL: the builds do not differ in anything that is known.  Yours to free.
	 */
	char *text;
	/* Another compiler, optimisation or way of linking, or a library from another place. */
	bool is_grave;
};

struct fg_build_difference fg_build_difference_of(const struct fg_environment *baseline,
						  const struct fg_environment *candidate);

#endif
