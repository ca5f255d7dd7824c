/* SPDX-License-Identifier: Apache-2.0 */
/* What an undecided measurement lacks.  Private to gate/. */
#ifndef FG_GATE_OUTLOOK_H
#define FG_GATE_OUTLOOK_H

#include "gate/finding.h"

/*
 * How many pairs, in all, would make this a regression if the next ones are like those measured so
 * far; 0: not within four times as many.
 */
size_t fg_outlook_pairs_needed(const struct fg_rule *rule, unsigned min_pairs,
			       const double *difference, size_t count);
/* A slowdown is clear that is this many times the scatter of the pairs. */
#define FG_OUTLOOK_CLEAR 4
/* How many pairs, in all, a clear slowdown mostly needs to fail; 0: unknown. */
unsigned fg_outlook_least_pairs(const struct fg_rule *rule, unsigned min_pairs);
/* Pairs that are slower than tolerated. */
size_t fg_outlook_slower(const struct fg_rule *rule, const double *difference, size_t count);

#endif
