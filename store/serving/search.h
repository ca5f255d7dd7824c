/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds functions by a part of their names, among those in the newest runs of a project's
 * benchmarks.
 */
#ifndef FG_STORE_SERVING_SEARCH_H
#define FG_STORE_SERVING_SEARCH_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"

struct fg_store;

enum {
	FG_SEARCH_NAMED = 200, /* maximum number of functions with a matching name */
};

struct fg_named_function {
	uint64_t id;
	const char *name; /* like all strings, in the search's arena */
	const char *library;
	/* a benchmark that calls the function, in the project searched last; NULL: none */
	const char *benchmark;
};

/* Starts zeroed. */
struct fg_function_search {
	struct fg_named_function items[FG_SEARCH_NAMED]; /* sorted by id */
	size_t count;
	size_t parts_left; /* parts of the totals that may still be read; bounds the time */
	struct fg_arena arena;
};

/* Finds functions of any project, ignoring case. Call fg_store_search_in() before showing them. */
int fg_store_search_functions(struct fg_store *store, const char *words,
			      struct fg_function_search *search, struct fg_error *err) FG_NODISCARD;
/* Sets the benchmark of each function that the project calls. */
int fg_store_search_in(struct fg_store *store, const char *project,
		       struct fg_function_search *search, struct fg_error *err) FG_NODISCARD;
void fg_function_search_release(struct fg_function_search *search);

#endif
