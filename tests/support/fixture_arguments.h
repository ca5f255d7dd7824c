/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the functions of a synthetic program. */
#ifndef FG_TESTS_SUPPORT_FIXTURE_ARGUMENTS_H
#define FG_TESTS_SUPPORT_FIXTURE_ARGUMENTS_H

#include "model/arguments.h"

enum {
	FG_FIXTURE_SIN_PATHS = 40,
};

/*
 * exp from two call paths on both sides, log with a new NaN, sin from forty call paths, pow on one
 * side only.
 */
const struct fg_argument_table *fg_fixture_arguments(struct fg_arena *arena);
/* One function per name, each called on a call path that has all the names. */
const struct fg_argument_table *fg_fixture_hostile_arguments(const char *const *names,
							     struct fg_arena *arena);

#endif
