/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the mechanism that made a function slower, from the exact repetitions of both sides.
 * Private to gate/.
 */
#ifndef FG_GATE_MECHANISM_H
#define FG_GATE_MECHANISM_H

#include "gate/node_context.h"

/* A mechanism is named if it explains at least this share of the change. */
#define FG_EXPLAINS_MIN 0.25

/*
 * Derives the mechanism of a function from its instructions and calls per execution of each side.
 * `blamed` comes from fg_blame_nodes().
 */
struct fg_mechanism fg_mechanism_of_counts(const struct fg_profile_set *set, const uint32_t *blamed,
					   size_t function, struct fg_arena *arena);
/*
 * Adds a mechanism to each function that got slower, in time or instructions, if both sides were
 * counted.
 */
void fg_mechanisms_add(const struct fg_node_context *c, const struct fg_series *series,
		       struct fg_blame *blame);
/*
 * Adds the mechanisms that need no counts: waiting and placement. `set` may be NULL. Call it when
 * the outcomes are known.
 */
void fg_mechanisms_settle(const struct fg_profile_set *set, struct fg_arena *arena,
			  struct fg_benchmark_verdict *verdict);

#endif
