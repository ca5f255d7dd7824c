/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weights of an upload on their way into the store: read and checked once, added up by call
 * path, and written with the store's numbers for the paths in place of the dictionary's.  Nothing
 * of it is a matrix in between: the rows and the samples of a path are the same bytes before and
 * after, and only move.
 *
 *	struct fg_recoding r = {0};
 *	fg_recoding_read() → fg_recoding_write() → fg_recoding_release()
 *
 * What was read must stay where it is until then.
 */
#ifndef FG_STORE_SERVING_RECODE_H
#define FG_STORE_SERVING_RECODE_H

#include "base/base.h"
#include "base/error.h"
#include "store/bytes.h"
#include "store/matrix_layout.h"

/* Where the numbers of one path lie in a stream. */
struct fg_segment {
	uint32_t at;
	uint32_t size;
};

struct fg_recoding {
	struct fg_matrix_heads heads;
	/* What was read; segments are parts of it. */
	struct {
		const uint8_t *bytes;
		size_t size;
	} source;
	struct {
		uint64_t *ids;    /* as they came, ascending */
		uint32_t *counts; /* entries of each */
		uint8_t *classes; /* fg_class_of() each count */
		uint32_t *order;  /* of the ids, in which the entries stand */
	} paths;
	/* In storage order; NULL if each weighs samples × unit, as nearly always. */
	struct {
		uint32_t *rows;
		uint32_t *samples;
		double *self; /* or NULL: samples × unit */
	} entries;
	/* By id. */
	struct {
		struct fg_segment *rows;
		struct fg_segment *samples;
		struct fg_segment *fractions; /* NULL: zeros */
	} segments;
};

struct fg_recoding_sums {
	/*
	 * By id and arm, over the repetitions that count; never below 0. The caller's array,
	 * zeroed.
	 */
	double (*self)[2];
	uint32_t repetitions[2];
	double sum; /* of all repetitions */
	double samples;
};

/* From the ids of the upload to those of the store. */
struct fg_renumbering {
	const uint64_t *ids;      /* by the number that came */
	const uint32_t *in_order; /* numbers that came, the smallest id first */
	size_t count;             /* of either */
};

/* `max_id`: larger ones are refused.  FG_EPARSE, and nothing to release. */
int fg_recoding_read(struct fg_byte_reader *reader, uint64_t max_id, struct fg_recoding *recoding,
		     struct fg_recoding_sums *sums, struct fg_error *err) FG_NODISCARD;
/* The bytes that fg_matrix_write() makes of it. */
void fg_recoding_write(const struct fg_recoding *recoding, const struct fg_renumbering *to,
		       struct fg_bytes *bytes);
void fg_recoding_release(struct fg_recoding *recoding);

#endif
