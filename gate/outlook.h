/* SPDX-License-Identifier: Apache-2.0 */
/* What an undecided measurement lacks.  Private to gate/. */
#ifndef FG_GATE_OUTLOOK_H
#define FG_GATE_OUTLOOK_H

#include "gate/rule.h"

/*
 * How many pairs, in all, would make this a regression if the next ones are like those measured so
 * far; 0: not within four times as many.
 */
size_t fg_outlook_pairs_needed(const struct fg_rule *rule, const double *difference, size_t count);
/* Pairs that are slower than tolerated. */
size_t fg_outlook_slower(const struct fg_rule *rule, const double *difference, size_t count);

#endif
