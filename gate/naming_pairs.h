/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates the pairs needed to name the function of a slower program. */
#ifndef FG_GATE_NAMING_PAIRS_H
#define FG_GATE_NAMING_PAIRS_H

#include "model/profile_set.h"
#include "model/run.h"

/*
 * The pairs at which a function that carries a change to `ratio` stands out from the scatter of its
 * samples, at most `most`; 0: `pairs` are enough, or nothing was sampled.
 */
unsigned fg_naming_pairs(const struct fg_profile_set *set, const struct fg_series *series,
			 double ratio, unsigned pairs, unsigned most);

#endif
