/* SPDX-License-Identifier: Apache-2.0 */
/* Profile sets of two runs as the two sides of one. */
#ifndef FG_MODEL_PROFILE_JOIN_H
#define FG_MODEL_PROFILE_JOIN_H

#include "model/profile_set.h"

/*
 * A new set whose arm 0 has the rows that sets[0] has for `arm`, and arm 1 those of sets[1].  Times
 * are left out: across sessions they have no pairs.
 */
void fg_profile_join(struct fg_profile_set *joined, const struct fg_profile_set *const sets[2],
		     uint8_t arm);

#endif
