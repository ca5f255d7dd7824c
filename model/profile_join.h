/* SPDX-License-Identifier: Apache-2.0 */
/* Joins profile sets of two runs as the two sides of one. */
#ifndef FG_MODEL_PROFILE_JOIN_H
#define FG_MODEL_PROFILE_JOIN_H

#include "model/profile_set.h"

/*
 * Makes a new set: arm 0 gets the rows that sets[0] has for `arm`, arm 1 those of sets[1]. Times
 * are dropped: there are no pairs across sessions.
 */
void fg_profile_join(struct fg_profile_set *joined, const struct fg_profile_set *const sets[2],
		     uint8_t arm);

#endif
