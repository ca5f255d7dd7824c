/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by a part of their names, in what the newest runs of a project's benchmarks called. */
#ifndef FG_STORE_SERVING_SEARCH_H
#define FG_STORE_SERVING_SEARCH_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"

struct fg_store;

enum {
	FG_SEARCH_NAMED = 200, /* functions whose names are examined closely */
};

struct fg_named_function {
	uint64_t id;
	const char *name; /* this and other texts: in the search's arena */
	const char *library;
	const char *benchmark; /* in the project queried last; NULL: not called there */
};

/* Zero-initialised: nothing was looked for. */
struct fg_function_search {
	struct fg_named_function items[FG_SEARCH_NAMED]; /* sorted by id */
	size_t count;
	size_t parts_left; /* parts of totals that may still be read: bounds the time of a search */
	struct fg_arena arena;
};

/* Functions of any project, upper and lower case alike: not to be shown before the next call. */
int fg_store_search_functions(struct fg_store *store, const char *words,
			      struct fg_function_search *search, struct fg_error *err) FG_NODISCARD;
/* Sets the benchmark of each that the project calls. */
int fg_store_search_in(struct fg_store *store, const char *project,
		       struct fg_function_search *search, struct fg_error *err) FG_NODISCARD;
void fg_function_search_release(struct fg_function_search *search);

#endif
