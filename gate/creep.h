/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creep: many small steps, none of which failed, whose sum exceeds the tolerated change.
 *
 * Only the small steps at the end of a chain are added up: steps that were regressions or
 * improvements on their own were reported when they were measured. The sum is creep if its estimate
 * reaches the tolerated change and its 99.5 % interval lies above zero.
 */
#ifndef FG_GATE_CREEP_H
#define FG_GATE_CREEP_H

#include "base/arena.h"
#include "gate/chain.h"
#include "model/metric.h"
#include "model/policy.h"
#include "model/verdict.h"

enum {
	FG_CREEP_STEPS_MIN = 5, /* a sum of fewer small steps is not judged */
};

/*
 * Returns NULL if there are too few small steps. A positive change is worse. Everything lives in
 * the arena.
 */
struct fg_creep_verdict *fg_creep_judge(const struct fg_chain *chain,
					const struct fg_policy *policy, enum fg_better better,
					struct fg_arena *arena);

/* The stretch of a chain that is judged. */
struct fg_creep_window {
	size_t from; /* indexes of points */
	size_t to;
	size_t steps; /* number of small steps in the stretch */
};

struct fg_creep_window fg_creep_window_of(const struct fg_chain *chain, unsigned commits);
/* Does the step lead to a different build, without having been reported as a change? */
bool fg_creep_is_small(const struct fg_chain_point *point);

/*
 * Describes creep: "CPU time +3.1 % [+2.4, +3.8] over 41 commits since v1.2; no step above 0.6 %;
 * mostly ...".
 */
const char *fg_creep_words(const struct fg_creep_verdict *creep, struct fg_arena *arena);

/*
 * Is the error over the window so large that creep stays undecided? Then a run should measure
 * against the last release.
 */
bool fg_creep_needs_anchor(const struct fg_creep_verdict *creep, const struct fg_policy *policy);

#endif
