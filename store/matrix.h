/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weights of a profile set, transposed: by call path, then by repetition. They are stored in
 * this form, because it packs best (neighbours are similar) and suits the queries: the sum of a
 * path over an arm is one short loop.
 *
 * On disk: the rows' heads, then five streams: gaps between node ids, number of entries of each
 * node, gaps between the entries' rows, samples, and the excess of the weight over samples × the
 * row's unit, in 1/32 of the unit. A row's unit is its time per sample, so if all samples have the
 * same weight, the last stream is all zeros. A weight is restored to within 1/64 of its row's unit
 * and rounded to a whole number.
 *
 * Ids number the profile's call paths in the store, and the dictionary's call paths on the wire.
 */
#ifndef FG_STORE_MATRIX_H
#define FG_STORE_MATRIX_H

#include "base/base.h"
#include "base/error.h"
#include "model/profile_set.h"
#include "store/bytes.h"

struct fg_matrix_row {
	uint8_t arm;
	uint32_t pair;
	uint16_t aside;
	int64_t total;
	int64_t lost;
	int64_t truncated;
	int64_t unit; /* at least 1 */
};

struct fg_matrix {
	struct fg_matrix_row *rows;
	size_t row_count;
	uint64_t *ids;  /* ascending */
	size_t *starts; /* id_count + 1: entries of id i are [starts[i], starts[i + 1]) */
	size_t id_count;
	uint32_t *entry_rows;
	uint32_t *samples;
	double *self;
	size_t entry_count;
};

/*
 * Makes a matrix of the rows [first, row_count) of one measure. ids[i] is the id of the set's node
 * i; if `ids` is NULL, a node's id is its index.
 */
void fg_matrix_from_set(struct fg_matrix *matrix, const struct fg_profile_set *set,
			uint16_t measure, size_t first, const uint64_t *ids);
void fg_matrix_write(const struct fg_matrix *matrix, struct fg_bytes *bytes);
/* Refuses ids larger than `max_id`; 0: no limit. */
int fg_matrix_read(struct fg_byte_reader *reader, uint64_t max_id, struct fg_matrix *matrix,
		   struct fg_error *err) FG_NODISCARD;
/*
 * Adds the rows to the set, as rows of this measure; indexes[i] is the set's node for
 * matrix->ids[i].
 */
void fg_matrix_to_set(const struct fg_matrix *matrix, struct fg_profile_set *set, uint16_t measure,
		      const uint32_t *indexes);
void fg_matrix_release(struct fg_matrix *matrix);

#endif
