/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a profile of the samples that a query keeps, with the names and stacks that it shows.
 * Filtered profiles are exported in this way: each sample that passes stays a sample, with its
 * time, thread, region and unit.
 *
 * A grouping coarser than functions turns each group into a function. A split puts its parts
 * ("reco" and "fit" of a region's path) above the call paths, as frames flagged as marks.
 * `per_repetition` merges all repetitions into one with mean weights; the counts of samples stay.
 */
#ifndef FG_PROFILE_SELECT_H
#define FG_PROFILE_SELECT_H

#include "profile/calltree.h"

/*
 * Fails like fg_calltree_build(). The caller releases the result, which does not refer to
 * `profile`.
 */
int fg_profile_select(const struct fg_profile *profile, const struct fg_calltree_query *query,
		      struct fg_profile *selected, struct fg_error *err) FG_NODISCARD;

#endif
