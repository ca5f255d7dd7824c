/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creep: many small steps, each of which passed, that together are more than is tolerated.
 *
 * The sum of the last steps of a chain is judged, without steps that failed or improved by
 * themselves: these were reported when they happened. It is creep if the estimate is more than is
 * tolerated and its 99.5 % interval lies above zero.
 */
#ifndef FG_GATE_CREEP_H
#define FG_GATE_CREEP_H

#include "base/arena.h"
#include "gate/chain.h"
#include "model/metric.h"
#include "model/policy.h"
#include "model/verdict.h"

enum {
	FG_CREEP_STEPS_LEAST = 5,     /* fewer are single steps, which the gate itself judges */
	FG_CREEP_FUNCTION_STEPS = 10, /* functions need this many to know how they scatter */
};

/* Positive is worse; NULL: too few small steps.  All of it lives in the arena. */
struct fg_creep_verdict *fg_creep_judge(const struct fg_chain *chain,
					const struct fg_policy *policy, enum fg_better better,
					struct fg_arena *arena);

/* Shares of the program's time that functions gained over the same runs. */
struct fg_creep_gains {
	size_t function_count;
	const double *steps;   /* function by function, one for each point of the chain */
	const double *anchors; /* likewise, one for each anchor */
	/* by function: the variance of a pair that sampling leaves at least; NULL: 0 */
	const double *sampling;
};

/*
 * The functions whose cost rose over the judged steps, even where the benchmark's did not.
 *
 * `chain` has 1 / sqrt(pairs) as errors.  How much a function scatters from step to step is its own
 * error, so that a t-test says whether it rose; among all functions that are called risen, 5 % are
 * expected to be false (Benjamini and Hochberg 1995).  `risen` has room for all functions: their
 * indexes, the largest first.  `changes` (of every function) are shares of the program's time.
 */
size_t fg_creep_functions(const struct fg_chain *chain, const struct fg_policy *policy,
			  const struct fg_creep_gains *gains, size_t *risen, double *changes);

/* "+3.1 % [+2.4, +3.8] over 41 commits since v1.2; none above 0.6 %; most by ...". */
const char *fg_creep_words(const struct fg_creep_verdict *creep, struct fg_arena *arena);

/*
 * Does the error over the window leave creep undecided? Then a run should measure against the last
 * release.
 */
bool fg_creep_needs_anchor(const struct fg_creep_verdict *creep, const struct fg_policy *policy);

#endif
