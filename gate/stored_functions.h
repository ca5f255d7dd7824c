/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of two stored runs: which differ by more than from one session to the next. Private to
 * gate/.
 */
#ifndef FG_GATE_STORED_FUNCTIONS_H
#define FG_GATE_STORED_FUNCTIONS_H

#include "gate/input.h"
#include "model/verdict.h"

/*
 * Call after the metrics of series `index` were compared with `baseline`. Does nothing without both
 * profiles, or if the variation between sessions is unknown.
 */
void fg_stored_functions_decide(const struct fg_gate_input *input, size_t index,
				const struct fg_series *baseline, struct fg_arena *arena,
				struct fg_benchmark_verdict *verdict);

#endif
