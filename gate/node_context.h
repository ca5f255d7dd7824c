/* SPDX-License-Identifier: Apache-2.0 */
/* The profile of one benchmark, prepared for the verdicts on its functions. Private to gate/. */
#ifndef FG_GATE_NODE_CONTEXT_H
#define FG_GATE_NODE_CONTEXT_H

#include "gate/input.h"
#include "gate/matrix.h"
#include "gate/same_code.h"
#include "model/verdict.h"

/*
 * One measure of a benchmark's profile: its pairs, and the differences of all functions with their
 * adjusted p.
 */
struct fg_node_context {
	const struct fg_profile_set *set;
	const struct fg_policy *policy;
	struct fg_arena *arena;
	struct fg_notes *notes; /* notes of the benchmark */
	uint16_t id;            /* number of the measure in the set */
	const char *measure;    /* name of the measure; lives as long as the verdict */
	const char *unit;       /* unit of all values here: "ms" for times */
	bool exact;             /* repetitions agree, so differences are exact */
	struct fg_profile_pairs pairs;
	/*
	 * Code that is the same in both arms cannot be the cause, so the time of a node in an
	 * unchanged library is charged to the nearest caller in changed code. blamed[n] is the node
	 * of that caller, or n itself if no caller has changed.
	 */
	uint32_t *blamed;
	uint32_t *row_of;          /* per function: the function that its row is named after */
	struct fg_code_fact *code; /* per function; NULL if nothing is known */
	size_t only_changed;       /* the only changed function, as in same_code.h; or 0 */
	struct fg_pair_matrix functions; /* one entity per row, by the blamed nodes */
	double *p_up;                    /* per function; 1 if not tested */
	double *p_down;
	bool *tested;
	double *self[2]; /* per node, mean of each arm */
	double *inclusive[2];
	double total;       /* change of the whole, see parts.h */
	bool total_changed; /* `total` is significant */
	double floor;       /* smaller changes are not reported */
	double margin;      /* a function whose interval lies within this counts as unchanged */
	double coverage[2]; /* sampled share of each arm's CPU time; NaN: too little CPU time */
	bool escaped;       /* programs of only one arm escaped the sampler */
	uint64_t seed;
};

/* Fills a context in which set, policy, arena, notes, seed, id and exact are set. */
void fg_node_context_init(struct fg_node_context *c, const struct fg_series *series,
			  const struct fg_benchmark_verdict *verdict);
/* Call after `blamed` or `row_of` has changed: groups the matrix again. */
void fg_node_context_group(struct fg_node_context *c);
void fg_node_context_release(struct fg_node_context *c);

/* ---- moved.c ---- */

/*
 * Puts functions that exchanged cost into one row (c->row_of), fills blame->moved, and sets
 * moved[row] to the cost that moved within the row. Group the context's matrix again afterwards.
 */
void fg_moved_join(const struct fg_node_context *c, struct fg_blame *blame, double *moved);

#endif
