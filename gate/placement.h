/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slowdowns of the same code at another address. A loop that the linker places across a cache line
 * is slower, although no line of the change caused that. If both builds have the same machine code
 * and data and the same inputs (model/build_facts.h), a difference of a measured metric is
 * placement.
 */
#ifndef FG_GATE_PLACEMENT_H
#define FG_GATE_PLACEMENT_H

#include "model/run.h"
#include "model/verdict.h"

/* Are the program and all its libraries the same files? */
bool fg_placement_is_same_files(const struct fg_build_facts *baseline,
				const struct fg_build_facts *candidate);
/*
 * Do the builds differ in files, but have the same code, data and inputs? False if a fact is
 * missing.
 */
bool fg_placement_is_same_code(const struct fg_build_facts *baseline,
			       const struct fg_build_facts *candidate);
/* Is it certain that code of the program, or of a library of the project, differs? */
bool fg_placement_is_other_code(const struct fg_build_facts *baseline,
				const struct fg_build_facts *candidate);
/* Do both sides read the same files, and were the functions of all differing code compared? */
bool fg_placement_is_comparable(const struct fg_build_facts *baseline,
				const struct fg_build_facts *candidate);
/*
 * Turns regressions and improvements into placement, for measured metrics (with a note) and for
 * functions, call paths, libraries and regions.
 */
void fg_placement_settle(struct fg_arena *arena, struct fg_benchmark_verdict *verdict);
/*
 * Call it if neither inputs nor hot code (gate/same_code.h) changed. A regression within the spread
 * of the layouts becomes placement, or inconclusive if a changed caller may call that code more
 * often. The metric's interval is widened to contain the spread, and a note is added.
 */
void fg_placement_settle_layouts(struct fg_arena *arena, bool has_changed_caller,
				 struct fg_benchmark_verdict *verdict);

#endif
