/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the programs of both arms of one kind?  Only then is a difference in time one of the change.
 *
 * A build that left a libtool script on one side and made an ELF program on the other, or a
 * sanitizer on one side alone, compares two kinds of program under one name.
 */
#ifndef FG_RUNNER_KINDS_H
#define FG_RUNNER_KINDS_H

#include "model/build_difference.h"
#include "runner/target.h"

/*
 * Why the two cannot be compared, to be freed; NULL: they can.  Arms that were given commands of
 * their own may be of any kind: that difference was asked for.
 */
char *fg_kinds_differ(const struct fg_target *baseline, const struct fg_target *candidate);

/*
 * Why builds that differ so cannot be compared, to be freed; NULL: they can.  Two trees of ours
 * were built by one command, so a difference is part of the change, and is only said.  A work tree
 * measured in place may hold leftovers of an earlier build, whose times would be taken for the
 * change's.
 */
char *fg_kinds_built_apart(const struct fg_target *baseline, const struct fg_target *candidate,
			   const struct fg_build_difference *difference);

#endif
