/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, libraries, regions and call paths: which of them changed, and how the change of the whole is made up of
 * them.  Private to gate/.
 */
#ifndef FG_GATE_NODES_H
#define FG_GATE_NODES_H

#include "gate/gate.h"
#include "gate/matrix.h"

/* Fill functions, libraries, regions, moved cost and blame of a benchmark's verdict, where there are profiles. */
void fg__nodes_decide(const struct fg_gate_input *input, size_t index, struct fg_arena *arena,
		      struct fg_benchmark_verdict *verdict);

/* The profile of one benchmark, its pairs, and the differences of all functions with their adjusted p. */
struct fg__node_context {
	const struct fg_profile_set *set;
	const struct fg_policy *policy;
	struct fg_arena *arena;
	struct fg__profile_pairs pairs;
	struct fg__matrix functions; /* entity = function */
	double *p_up;                /* per function; 1 where not tested */
	double *p_down;
	bool *tested;
	double *inclusive_ms[2]; /* per node, mean of each arm */
	bool whole_changed;      /* the benchmark's CPU time surely did */
	double floor_ms;         /* below this a change is no news */
	uint64_t seed;
};

/*
 * Which of the significant changes only moved: fills verdict->moved and sets moved[f] for every function that is part of
 * such a move.
 */
void fg__moved_find(const struct fg__node_context *context, struct fg_benchmark_verdict *verdict,
		    bool *moved);

#endif
