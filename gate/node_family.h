/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, libraries, regions or call paths that are tested together, so that the chance of any
 * false flag among them stays below alpha. Private to gate/.
 */
#ifndef FG_GATE_NODE_FAMILY_H
#define FG_GATE_NODE_FAMILY_H

#include "gate/node_context.h"

/* Minimum number of pairs for a test: with fewer pairs, no sign pattern is rare enough. */
#define FG_PAIRS_TO_TEST 6
/* Minimum number of samples, over both arms, for the test of a function. */
#define FG_SAMPLES_TO_TEST 50

struct fg_node_family {
	const struct fg_pair_matrix *matrix;
	double quantile; /* t quantile of the intervals; NaN: too few pairs; 0: exact changes */
	bool *tested;
	double *p_up;
	double *p_down;
	size_t tested_count;
};

/*
 * Tests every entity of the matrix that has at least `samples_min` samples. Release with
 * fg_node_family_release().
 */
void fg_node_family_test(const struct fg_node_context *c, struct fg_node_family *family,
			 const struct fg_pair_matrix *matrix, uint64_t samples_min, uint64_t seed);
/*
 * Returns the minimum number of samples that a test needs: FG_SAMPLES_TO_TEST for times, whose
 * samples scatter, FG_PAIRS_TO_TEST for counted events.
 */
uint64_t fg_node_samples_min(const struct fg_node_context *c);
void fg_node_family_release(struct fg_node_family *family);

/* Returns half the width of the interval of an entity's change. */
double fg_node_family_half(const struct fg_node_family *family, size_t at);
/*
 * Returns "regression" or "improvement" according to the test and the floor, "pass" if the change
 * is within the margin, and otherwise "inconclusive".
 */
enum fg_outcome fg_node_outcome(const struct fg_node_context *c,
				const struct fg_node_family *family, size_t at);
/* Judges one entity. Does not set its name. */
struct fg_node_verdict fg_node_family_verdict(const struct fg_node_context *c,
					      const struct fg_node_family *family, size_t at);
/* For qsort(): by size of the change, then by name, so that equal data give equal reports. */
int fg_node_compare(const void *left, const void *right);

/* ---- functions.c ---- */

/*
 * Adds the changed functions and their call paths. `family` holds all rows; moved[row] is the cost
 * that only moved within the row.
 */
void fg_functions_add(const struct fg_node_context *c, const struct fg_node_family *family,
		      const double *moved, struct fg_blame *blame);

#endif
