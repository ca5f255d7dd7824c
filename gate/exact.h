/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact repetitions: does the program do more work, or the same work in more time? Their rows have
 * the measures `instructions` and `calls`, and pair numbers from FG_EXACT_FIRST_PAIR on.
 *
 * The counts cover the program, its libraries and the C library. Work in unchanged libraries is
 * charged to their callers. The dynamic linker is excluded, because its work depends on addresses
 * and on the length of paths.
 */
#ifndef FG_GATE_EXACT_H
#define FG_GATE_EXACT_H

#include "model/policy.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "model/verdict.h"

enum {
	FG_EXACT_FIRST_PAIR = 1 << 30, /* above the number of any timed pair */
};

bool fg_exact_has(const struct fg_profile_set *set, uint8_t arm);
/*
 * Are the counts of all functions outside the dynamic linker identical in the first repetition of
 * both arms?
 */
bool fg_exact_is_equal(const struct fg_profile_set *set);

/*
 * Adds the metrics `instructions` and `calls`, and a note that relates them to the time. Without
 * pairs (`is_alone`) the exact measures decide. `series` has the builds of both sides. The verdict
 * must have room for two more metrics. Nothing is added if an arm was not counted.
 */
void fg_exact_decide(const struct fg_profile_set *set, const struct fg_series *series,
		     const struct fg_policy *policy, bool is_alone, struct fg_arena *arena,
		     struct fg_benchmark_verdict *verdict);

#endif
