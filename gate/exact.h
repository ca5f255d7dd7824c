/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact repetitions: is it more work, or the same work in more time?  Their rows are those of the
 * measures `instructions` and `calls`, from the pair FG_EXACT_FIRST_PAIR on.
 *
 * All that the process executes counts: the program, its libraries, the C library.  What unchanged
 * libraries execute is charged to their callers.  Only the dynamic linker is kept apart, whose work
 * depends on addresses and on the length of paths.
 */
#ifndef FG_GATE_EXACT_H
#define FG_GATE_EXACT_H

#include "model/policy.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "model/verdict.h"

enum {
	FG_EXACT_FIRST_PAIR = 1 << 30, /* no pair has such a number */
};

bool fg_exact_has(const struct fg_profile_set *set, uint8_t arm);
/* Does every function of the first repetition of both arms agree to the digit? */
bool fg_exact_is_equal(const struct fg_profile_set *set);

/*
 * Adds the metrics `instructions` and `calls`, and their meaning for the time.  Without pairs
 * (`is_alone`) the exact measures decide.  `series` has the builds of both sides.  There must be
 * room for two metrics.  Nothing is added if an arm was not counted.
 */
void fg_exact_decide(const struct fg_profile_set *set, const struct fg_series *series,
		     const struct fg_policy *policy, bool is_alone, struct fg_arena *arena,
		     struct fg_benchmark_verdict *verdict);

#endif
