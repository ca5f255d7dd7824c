/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of two stored runs: what differs, and by how much more than from one session to the
 * next.  Private to gate/.
 */
#ifndef FG_GATE_STORED_FUNCTIONS_H
#define FG_GATE_STORED_FUNCTIONS_H

#include "gate/input.h"
#include "model/verdict.h"

/*
 * After the metrics of series `index` were compared with `baseline`.  Nothing without both
 * profiles, or where nobody knows how sessions differ.
 */
void fg_stored_functions_decide(const struct fg_gate_input *input, size_t index,
				const struct fg_series *baseline, struct fg_arena *arena,
				struct fg_benchmark_verdict *verdict);

#endif
