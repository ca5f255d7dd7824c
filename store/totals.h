/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each function took in a run: self and inclusive time per repetition, per arm.  Small, so that comparing two
 * runs by function, and following one function over many runs, need not open the call paths.  Recursion counts once.
 *
 * Times are kept in 1/16 of the sampling period, summed over the repetitions that count; they come back per repetition.
 */
#ifndef FG_STORE_TOTALS_H
#define FG_STORE_TOTALS_H

#include "profile/profile_set.h"
#include "store/bytes.h"

struct fg_function_total {
	uint64_t id;       /* the store's function */
	double self_ns[2]; /* per repetition of the arm */
	double inclusive_ns[2];
};

/* Times are kept in this share of what one sample is worth. */
#define FG_TOTALS_FRACTIONS 16

struct fg_totals {
	struct fg_function_total *items; /* by id */
	size_t count;
	uint32_t repetitions[2];
	double unit_ns;
};

/* ids[i] is the id of the set's function i. */
void fg_totals_from_set(struct fg_totals *totals, const struct fg_profile_set *set,
			const int64_t *ids);
void fg_totals_write(const struct fg_totals *totals, struct fg_bytes *bytes);
int fg_totals_read(struct fg_byte_reader *reader, struct fg_totals *totals, struct fg_error *err)
	FG_NODISCARD;
/* NULL when it is not there. */
const struct fg_function_total *fg_totals_find(const struct fg_totals *totals, uint64_t id);
void fg_totals_release(struct fg_totals *totals);

#endif
