/* SPDX-License-Identifier: Apache-2.0 */
/* Time of each function in a run of a benchmark, per repetition of each arm. */
#ifndef FG_MODEL_TOTALS_H
#define FG_MODEL_TOTALS_H

#include "base/base.h"

struct fg_function_total {
	uint64_t id;    /* id of the function in the store */
	double self[2]; /* self time per repetition of the arm */
	double inclusive[2];
};

enum {
	FG_TOTALS_FRACTIONS = 16 /* the unit of stored times is 1/16 of one sample's time */
};

struct fg_totals {
	struct fg_function_total *items; /* by id */
	size_t count;
	size_t capacity;
	uint32_t repetitions[2];
	double unit;
};

void fg_totals_release(struct fg_totals *totals);

#endif
