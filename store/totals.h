/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self and inclusive time of each function in a run, per repetition and arm. Recursion counts once.
 * Sampled times are stored in 1/16 of the mean weight of a sample, as sums over the repetitions
 * that count, and are read per repetition.
 *
 * Functions are stored by id in parts of 128 or 512 ids, each a row of `function_total`. In SQLite,
 * rows are in the order of benchmark, measure, part and time, so one function's trend is a
 * contiguous range of that table. A comparison of two runs by function does not read call paths.
 */
#ifndef FG_STORE_TOTALS_H
#define FG_STORE_TOTALS_H

#include "base/base.h"
#include "base/error.h"
#include "model/profile_set.h"
#include "model/totals.h"
#include "store/bytes.h"

struct fg_store;

struct fg_totals_place {
	int64_t benchmark;
	int64_t started_ns; /* start of the run */
	int64_t series;
};

/* Returns the number of ids in a part. */
uint64_t fg_totals_part_size(const struct fg_store *store);

/* Stores the totals of all measures; functions[i] is the row of the set's function i. */
int fg_store_put_totals(struct fg_store *store, const struct fg_totals_place *place,
			const struct fg_profile_set *set, const int64_t *functions,
			struct fg_error *err) FG_NODISCARD;

/* Writes one part. */
void fg_totals_write(const struct fg_totals *totals, struct fg_bytes *bytes);
/* Appends a part; releases everything on failure. */
int fg_totals_read(struct fg_byte_reader *reader, struct fg_totals *totals, struct fg_error *err)
	FG_NODISCARD;
/*
 * Reads one function's values in one arm: zeros if the function is missing, NaN if the arm has no
 * profile.
 */
int fg_totals_pick(struct fg_byte_reader *reader, uint64_t id, int arm, double *self,
		   double *inclusive, struct fg_error *err) FG_NODISCARD;

#endif
