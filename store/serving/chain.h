/* SPDX-License-Identifier: Apache-2.0 */
/* The steps between commits that the runs of a benchmark measured. */
#ifndef FG_STORE_SERVING_CHAIN_H
#define FG_STORE_SERVING_CHAIN_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "model/chain.h"

struct fg_store;

enum {
	FG_CHAIN_RUNS_MAX = 5000 /* maximum number of runs; the newest runs are kept */
};

struct fg_chain_edges {
	struct fg_chain_edge *items; /* oldest first; strings in the arena */
	size_t count;
	size_t capacity;
	/* gate.creep of the newest run, or the defaults */
	unsigned creep_window;
	double creep_tolerated;
	struct fg_arena texts;
};

/*
 * Loads the steps of complete runs that measured two commits without uncommitted changes. Runs
 * without a value of the metric are left out. `project` may be NULL.
 */
int fg_store_chain(struct fg_store *store, const char *project, const char *benchmark,
		   const char *metric, struct fg_chain_edges *edges, struct fg_error *err)
	FG_NODISCARD;
void fg_chain_edges_release(struct fg_chain_edges *edges);

#endif
