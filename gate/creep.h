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
	FG_CREEP_STEPS_LEAST = 5, /* fewer are single steps, which the gate itself judges */
};

/* Positive is worse; NULL: too few small steps.  All of it lives in the arena. */
struct fg_creep_verdict *fg_creep_judge(const struct fg_chain *chain,
					const struct fg_policy *policy, enum fg_better better,
					struct fg_arena *arena);

/* The stretch of a chain that is judged. */
struct fg_creep_window {
	size_t from; /* points */
	size_t to;
	size_t steps; /* small ones, with a build that differs */
};

struct fg_creep_window fg_creep_window_of(const struct fg_chain *chain, unsigned commits);
/* A step between builds that differ, which was not reported as a change. */
bool fg_creep_is_small(const struct fg_chain_point *point);

/* "+3.1 % [+2.4, +3.8] over 41 commits since v1.2; none above 0.6 %; most by ...". */
const char *fg_creep_words(const struct fg_creep_verdict *creep, struct fg_arena *arena);

/*
 * Does the error over the window leave creep undecided? Then a run should measure against the last
 * release.
 */
bool fg_creep_needs_anchor(const struct fg_creep_verdict *creep, const struct fg_policy *policy);

#endif
