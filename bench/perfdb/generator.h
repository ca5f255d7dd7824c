/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated program under development: functions, call paths, and runs.  In each build some
 * functions are renamed (with all paths through them) and new paths appear.  Everything is seeded.
 */
#ifndef FG_BENCH_PERFDB_GENERATOR_H
#define FG_BENCH_PERFDB_GENERATOR_H

#include "base/random.h"
#include "store/bundle.h"

struct fg_bench_program {
	unsigned *versions; /* per function: part of its name */
	struct fg_profile_node *nodes;
	size_t node_count;
	size_t node_capacity;
	struct fg_random random;
};

void fg_bench_program_init(struct fg_bench_program *program);
void fg_bench_program_release(struct fg_bench_program *program);
/* Makes the next build, with this many renamed functions and new paths. */
void fg_bench_program_change(struct fg_bench_program *program, unsigned renamed, unsigned grown);
/* Makes a run of this build as a bundle; `number` determines the run's id, time and commit. */
void fg_bench_program_run(const struct fg_bench_program *program, unsigned number,
			  struct fg_bundle *bundle);
/* Writes the id of run `number`. */
void fg_bench_run_id(unsigned number, char id[37]);

#endif
