/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the functions, libraries, regions and call paths that changed, and makes them add up to the
 * change of the whole. Private to gate/.
 */
#ifndef FG_GATE_NODES_H
#define FG_GATE_NODES_H

#include "gate/input.h"
#include "gate/node_context.h"
#include "model/verdict.h"

/*
 * Fills in functions, libraries, regions, moved cost and blame of a benchmark's verdict if it has
 * profiles.
 */
void fg_nodes_decide(const struct fg_gate_input *input, size_t index,
		     const struct fg_policy *policy, struct fg_arena *arena,
		     struct fg_benchmark_verdict *verdict);

/*
 * Notes how to find the function if none is to blame for a change; call it once the verdict is
 * complete.
 */
void fg_nodes_note_unexplained(struct fg_arena *arena, struct fg_benchmark_verdict *verdict);

/*
 * Finds the blame for one measure. The context's set, policy, arena, notes, seed, id and exact must
 * be set; `series` has the builds of both sides, and `verdict` has the metric.
 */
void fg_nodes_blame(struct fg_node_context *context, const struct fg_series *series,
		    const struct fg_benchmark_verdict *verdict, struct fg_blame *blame);

#endif
