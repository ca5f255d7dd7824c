/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the programs of both arms of one kind?  Only then can the change explain a difference in
 * time.  A build that left a libtool script on one side and an ELF program on the other, or a
 * sanitizer on one side only, would compare two kinds of program under one name.
 */
#ifndef FG_RUNNER_COMPARABILITY_H
#define FG_RUNNER_COMPARABILITY_H

#include "model/build_difference.h"
#include "runner/target.h"

/*
 * Why the two cannot be compared, to be freed; NULL: they can.  Arms with commands of their own may
 * be of any kind: the user asked for that difference.
 */
char *fg_comparability_of_targets(const struct fg_target *baseline,
				  const struct fg_target *candidate);

/*
 * Why two builds that differ this way cannot be compared, to be freed; NULL: they can.  Two trees
 * that fastgate built ran the same command, so a difference is part of the change and is only
 * reported.  A work tree measured in place may hold leftovers of an earlier build, whose times
 * would be attributed to the change.
 */
char *fg_comparability_of_builds(const struct fg_target *baseline,
				 const struct fg_target *candidate,
				 const struct fg_build_difference *difference);

#endif
