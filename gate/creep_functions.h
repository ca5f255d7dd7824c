/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds functions whose cost rose in many small steps, even if the benchmark's cost did not.
 *
 * A function's scatter from step to step gives its error, and a t-test decides whether it rose. A
 * function that several benchmarks call is tested over all of them: the normal quantiles of its
 * tests add up (Stouffer), because benchmarks are measured separately. Of all functions that are
 * reported as risen, at most 5 % are expected to be false (Benjamini and Hochberg 1995).
 */
#ifndef FG_GATE_CREEP_FUNCTIONS_H
#define FG_GATE_CREEP_FUNCTIONS_H

#include "base/map.h"
#include "gate/chain.h"
#include "model/totals.h"

enum {
	FG_CREEP_FUNCTION_STEPS = 10, /* with fewer steps a function's scatter is unknown */
};

/* Functions' gains over the same runs, as shares of the program's time. */
struct fg_creep_gains {
	size_t function_count;
	const double *steps;   /* by function, then by point of the chain */
	const double *anchors; /* by function, then by anchor */
	/* by function: the minimum variance of a pair, caused by sampling; NULL: 0 */
	const double *sampling;
};

struct fg_creep_rise {
	uint64_t function; /* index in the gains, or the store's id */
	double change;     /* mean over the benchmarks, as a share of the program's time */
	double p;          /* probability of a rise this large by chance */
	double quantiles;  /* sum of normal quantiles over the benchmarks */
	size_t benchmarks; /* number of benchmarks that call the function */
};

/*
 * Tests the functions over the last `commits` commits of a chain whose errors are 1 / sqrt(pairs).
 * `rises` gets one entry per function. Returns false if these commits have too few small steps.
 */
bool fg_creep_test(const struct fg_chain *chain, unsigned commits,
		   const struct fg_creep_gains *gains, struct fg_creep_rise *rises);

/*
 * Moves the functions that rose significantly, and by `floor` or more, to the front, largest first.
 * Returns their number.
 */
size_t fg_creep_risen(struct fg_creep_rise *rises, size_t count, double floor);

/* Runs of one benchmark between commits of a window, and the times of their functions. */
struct fg_creep_runs {
	struct fg_chain_edge *edges; /* strings are borrowed */
	/* one per edge, filled by the caller; stays empty for identical builds */
	struct fg_totals *totals;
	size_t count;
};

void fg_creep_runs_pick(const struct fg_chain *chain, const struct fg_chain_edge *edges,
			size_t count, unsigned commits, struct fg_creep_runs *runs);
void fg_creep_runs_release(struct fg_creep_runs *runs);

/* Functions over one or several benchmarks; start with `struct fg_creep_pool pool = {0};`. */
struct fg_creep_pool {
	struct fg_map ids; /* id → index of its rise */
	struct fg_creep_rise *rises;
	size_t capacity;
	size_t benchmarks;
};

/* Adds the functions of a benchmark. */
void fg_creep_pool_add(struct fg_creep_pool *pool, const struct fg_creep_rise *rises, size_t count);
/*
 * Tests the functions of a benchmark with the chain `whole` and adds them, if the chain has enough
 * steps.
 */
void fg_creep_pool_add_runs(struct fg_creep_pool *pool, const struct fg_chain *whole,
			    struct fg_creep_runs *runs, unsigned commits);
/*
 * Tests the functions that at least `benchmarks` benchmarks call, and moves those that rose to the
 * front. Returns their number. Nothing can be added to the pool afterwards.
 */
size_t fg_creep_pool_risen(struct fg_creep_pool *pool, size_t benchmarks, double floor);
void fg_creep_pool_release(struct fg_creep_pool *pool);

#endif
