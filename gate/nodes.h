/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, libraries, regions and call paths: which of them changed, and how the change of the
 * whole is made up of them.  Private to gate/.
 */
#ifndef FG_GATE_NODES_H
#define FG_GATE_NODES_H

#include "gate/gate.h"
#include "gate/matrix.h"

/* For every node the one that its time is blamed on (see below); to be freed. */
uint32_t *fg_blame_nodes(const struct fg_profile_set *set, const struct fg_series *series);

/*
 * Fill functions, libraries, regions, moved cost and blame of a benchmark's verdict, where there
 * are profiles.
 */
void fg_nodes_decide(const struct fg_gate_input *input, size_t index, struct fg_arena *arena,
		     struct fg_benchmark_verdict *verdict);

/*
 * The profile of one benchmark, its pairs, and the differences of all functions with their adjusted
 * p.
 */
struct fg_node_context {
	const struct fg_profile_set *set;
	const struct fg_policy *policy;
	struct fg_arena *arena;
	struct fg_profile_pairs pairs;
	/*
	 * Code that is the same in both arms cannot be the cause: the time of a node in an
	 * unchanged library belongs to the nearest caller in changed code.  blamed[n] is that node;
	 * n itself where no caller is changed either.
	 */
	uint32_t *blamed;
	struct fg_pair_matrix functions; /* entity = function, by the node that is blamed */
	double *p_up;                    /* per function; 1 where not tested */
	double *p_down;
	bool *tested;
	double *self_ms[2]; /* per node, mean of each arm */
	double *inclusive_ms[2];
	double total_ms;    /* change of the whole, as the kernel measured it */
	bool whole_changed; /* the benchmark's CPU time surely did */
	double floor_ms;    /* below this a change is no news */
	uint64_t seed;
};

/*
 * Which of the significant changes only moved: fills verdict->moved and sets moved[f] for every
 * function that is part of such a move.
 */
void fg_moved_find(const struct fg_node_context *context, struct fg_benchmark_verdict *verdict,
		   bool *moved);

#endif
