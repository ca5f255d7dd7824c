/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same code in another place.  A linker that puts a loop across a cache line makes it slower,
 * and no line of anybody's change did it.  Where both builds have the same machine code and data
 * and the same inputs (model/build_facts.h), a difference of a measured metric is placement.
 */
#ifndef FG_GATE_PLACEMENT_H
#define FG_GATE_PLACEMENT_H

#include "model/run.h"
#include "model/verdict.h"

/* Do both builds do the same thing according to their facts? A missing fact means no. */
bool fg_placement_is_same_code(const struct fg_build_facts *baseline,
			       const struct fg_build_facts *candidate);
/* Does code of the program, or of a library of the project, certainly differ? */
bool fg_placement_is_other_code(const struct fg_build_facts *baseline,
				const struct fg_build_facts *candidate);
/* Do both sides read the same files, and were the functions of all code that differs compared? */
bool fg_placement_is_comparable(const struct fg_build_facts *baseline,
				const struct fg_build_facts *candidate);
/*
 * Regressions and improvements of measured metrics become placement, with a note; so do those of
 * functions, libraries and call paths.
 */
void fg_placement_settle(struct fg_arena *arena, struct fg_benchmark_verdict *verdict);
/*
 * If neither code that takes time (gate/same_code.h) nor inputs have changed, a regression within
 * the spread of the layouts is placement, with a note, and its interval contains that spread.
 */
void fg_placement_settle_layouts(struct fg_arena *arena, struct fg_benchmark_verdict *verdict);

#endif
