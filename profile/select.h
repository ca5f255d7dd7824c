/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of a profile, as a profile: what a query keeps, with the names and stacks that it shows.
 * This is how filtered profiles are exported: each sample that passes stays a sample, with its
 * time, thread, region and unit.
 *
 * Grouping by something coarser than functions makes functions of the groups; splitting puts the
 * parts ("reco", "fit" of a region's path) above the call paths, as frames that are marks.
 * `per_repetition` makes one repetition of all, with their mean weights: a sample's count stays
 * what was counted.
 */
#ifndef FG_PROFILE_SELECT_H
#define FG_PROFILE_SELECT_H

#include "profile/calltree.h"

/*
 * FG_EINVAL, FG_ELIMIT as fg_calltree_build(); the result is to be released, and does not need
 * `profile` any more.
 */
int fg_profile_select(const struct fg_profile *profile, const struct fg_calltree_query *query,
		      struct fg_profile *selected, struct fg_error *err) FG_NODISCARD;

#endif
