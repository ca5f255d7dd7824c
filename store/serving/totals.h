/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each function took in a run: self and inclusive time per repetition, per arm.  Small, so
 * that comparing two runs by function, and following one function over many runs, need not open the
 * call paths.  Recursion counts once.
 *
 * Times are kept in 1/16 of the sampling period, summed over the repetitions that count; they come
 * back per repetition.
 */
#ifndef FG_STORE_SERVING_TOTALS_H
#define FG_STORE_SERVING_TOTALS_H

#include "base/base.h"
#include "base/error.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "store/bytes.h"

struct fg_function_total {
	uint64_t id;    /* the store's function */
	double self[2]; /* per repetition of the arm */
	double inclusive[2];
};

/* Times are kept in this share of what one sample is worth. */
#define FG_TOTALS_FRACTIONS 16

struct fg_totals {
	struct fg_function_total *items; /* by id */
	size_t count;
	uint32_t repetitions[2];
	double unit;
	bool exact; /* not estimated from samples */
};

/* Totals of one measure; ids[i] is the id of the set's function i. */
void fg_totals_from_set(struct fg_totals *totals, const struct fg_profile_set *set,
			uint16_t measure, const int64_t *ids);
/* What the totals are counted in. */
static inline double fg_totals_unit(double sum, double samples, bool exact)
{
	return exact || !(samples > 0) || !(sum > 0) ? 1 : sum / samples / FG_TOTALS_FRACTIONS;
}

/*
 * As bytes: a list of parts, then the parts, each a packed block of some hundred functions.  To
 * follow one function through hundreds of runs, only its part of each is unpacked.
 */
int fg_totals_write(const struct fg_totals *totals, struct fg_bytes *bytes, struct fg_error *err)
	FG_NODISCARD;
int fg_totals_read(struct fg_byte_reader *reader, struct fg_totals *totals, struct fg_error *err)
	FG_NODISCARD;
/* One function's values in one arm; zeros when it is missing, NaN when the arm has no profile. */
int fg_totals_pick(struct fg_byte_reader *reader, uint64_t id, int arm, double *self,
		   double *inclusive, struct fg_error *err) FG_NODISCARD;
/* NULL: not found. */
const struct fg_function_total *fg_totals_find(const struct fg_totals *totals, uint64_t id);
void fg_totals_release(struct fg_totals *totals);

#endif
