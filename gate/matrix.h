/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The differences of many entities over the pairs: one sparse row per function, library, region or
 * call path, in the unit of a measure per repetition (times: milliseconds), with zeros implied.
 * Private to gate/.
 */
#ifndef FG_GATE_MATRIX_H
#define FG_GATE_MATRIX_H

#include "gate/statistics/signflip.h"
#include "model/profile_set.h"

#define FG_NO_ENTITY UINT32_MAX

/*
 * The rows of a profile set that belong to each pair: only pairs with the same number of
 * repetitions in both arms.
 */
struct fg_profile_pairs {
	size_t count;
	/* index of the row's pair (0 .. count - 1) or FG_NO_ENTITY; one per row of the set */
	uint32_t *pair_of_row;
	double *per_arm; /* repetitions of an arm in each pair */
	uint32_t *rows;  /* rows that count, in ascending order of pair */
	size_t row_count;
	double scale; /* factor from the rows' values to the verdict's unit */
	enum fg_measure_fold fold;
};

struct fg_entity {
	double baseline; /* mean over the pairs */
	double candidate;
	double delta;
	double error; /* standard error of delta over the pairs; NaN: fewer than two pairs */
	uint64_t samples;
};

struct fg_pair_matrix {
	size_t count; /* number of entities */
	size_t pair_count;
	struct fg_entity *entities;
	size_t *start; /* CSR, as in gate/statistics/signflip.h */
	uint32_t *columns;
	float *values;
};

/*
 * Pairs the rows of one measure; rows of other measures get FG_NO_ENTITY. Times are paired as they
 * ran; for other measures the first repetitions of both arms form a pair, then the second
 * repetitions, and so on.
 */
void fg_profile_pairs_find(const struct fg_profile_set *set, uint16_t measure,
			   struct fg_profile_pairs *pairs);
void fg_profile_pairs_release(struct fg_profile_pairs *pairs);

/*
 * Builds the matrix of the nodes' self values, added up by entity: entity_of_node[n] < count, or
 * FG_NO_ENTITY.
 */
void fg_pair_matrix_build(const struct fg_profile_set *set, const struct fg_profile_pairs *pairs,
			  const uint32_t *entity_of_node, size_t count,
			  struct fg_pair_matrix *matrix);
/* Builds the matrix of the sampled CPU time of marked regions; entity i is region i. */
void fg_pair_matrix_build_regions(const struct fg_profile_set *set, struct fg_pair_matrix *matrix);
void fg_pair_matrix_release(struct fg_pair_matrix *matrix);

#endif
