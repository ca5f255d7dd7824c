/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the data look like beyond their middle, as notes: two modes, and dependence on the place of
 * the stack.  Private to gate/.
 */
#ifndef FG_GATE_SHAPE_H
#define FG_GATE_SHAPE_H

#include "gate/pairs.h"
#include "model/verdict.h"

/*
 * "the candidate has two modes: 63 % of its repetitions near 210 ms, 37 % near 245 ms; ...", for
 * each arm.
 */
void fg_shape_note_modes(const struct fg_series *series, size_t metric, uint64_t seed,
			 struct fg_arena *arena, struct fg_notes *notes);
/* Does the size of the environment, and with it the place of the stack, change the result? */
void fg_shape_note_layout(const struct fg_series *series, size_t metric, uint64_t seed,
			  struct fg_arena *arena, struct fg_notes *notes);

#endif
