/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions whose cost rose in many small steps, even where their benchmark's did not.
 *
 * How much a function scatters from step to step is its own error, so that a t-test says whether it
 * rose.  A function that several benchmarks call is tested over all of them: the normal quantiles
 * of its tests add up (Stouffer), because benchmarks are measured separately.  Among all functions
 * that are reported as risen, 5 % are expected to be false (Benjamini and Hochberg 1995).
 */
#ifndef FG_GATE_CREEP_FUNCTIONS_H
#define FG_GATE_CREEP_FUNCTIONS_H

#include "base/map.h"
#include "gate/chain.h"
#include "model/totals.h"

enum {
	FG_CREEP_FUNCTION_STEPS = 10, /* fewer do not show how a function scatters */
};

/* Shares of the program's time that functions gained over the same runs. */
struct fg_creep_gains {
	size_t function_count;
	const double *steps;   /* function by function, one for each point of the chain */
	const double *anchors; /* likewise, one for each anchor */
	/* by function: the variance of a pair that sampling leaves at least; NULL: 0 */
	const double *sampling;
};

struct fg_creep_rise {
	uint64_t function; /* its place in the gains, or the store's id */
	double change;     /* share of the program's time, the mean of the benchmarks */
	double p;          /* of a rise that large by chance */
	double quantiles;  /* of the normal distribution, their sum over the benchmarks */
	size_t benchmarks; /* that it took time in */
};

/*
 * Pure.  `chain` has 1 / sqrt(pairs) as errors; one rise for each function.  False: the last
 * `commits` hold too few steps.
 */
bool fg_creep_test(const struct fg_chain *chain, unsigned commits,
		   const struct fg_creep_gains *gains, struct fg_creep_rise *rises);

/* Brings those that rose by `floor` or more to the front, the largest first; returns how many. */
size_t fg_creep_risen(struct fg_creep_rise *rises, size_t count, double floor);

/* Runs of one benchmark between commits of a window, and what their functions took. */
struct fg_creep_runs {
	struct fg_chain_edge *edges; /* texts borrowed */
	struct fg_totals *totals;    /* one each, the caller's to fill; empty: identical builds */
	size_t count;
};

void fg_creep_runs_pick(const struct fg_chain *chain, const struct fg_chain_edge *edges,
			size_t count, unsigned commits, struct fg_creep_runs *runs);
void fg_creep_runs_release(struct fg_creep_runs *runs);

/* Functions over one benchmark or several: `struct fg_creep_pool pool = {0};` is an empty one. */
struct fg_creep_pool {
	struct fg_map ids; /* to the places of the rises */
	struct fg_creep_rise *rises;
	size_t capacity;
	size_t benchmarks;
};

/* Adds the functions of a benchmark. */
void fg_creep_pool_add(struct fg_creep_pool *pool, const struct fg_creep_rise *rises, size_t count);
/* Tests and adds the functions of a benchmark whose chain is `whole`, if it has enough steps. */
void fg_creep_pool_add_runs(struct fg_creep_pool *pool, const struct fg_chain *whole,
			    struct fg_creep_runs *runs, unsigned commits);
/*
 * Tests the functions that at least so many benchmarks call, and brings those that rose to the
 * front; returns how many.  The pool takes no benchmark after that.
 */
size_t fg_creep_pool_risen(struct fg_creep_pool *pool, size_t benchmarks, double floor);
void fg_creep_pool_release(struct fg_creep_pool *pool);

#endif
