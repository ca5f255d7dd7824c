/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the rows of a series: time by call path, and by function. */
#ifndef FG_STORE_SERVING_SUMS_H
#define FG_STORE_SERVING_SUMS_H

#include "base/base.h"
#include "base/error.h"
#include "model/measure.h"
#include "store/totals.h"

struct fg_store;

/* The value of each call path: ids ascending, sums over the repetitions of one arm that count. */
struct fg_weights {
	uint64_t *ids;
	double *sums;
	size_t count;
	uint32_t repetitions;
	uint8_t arm;
	enum fg_measure_fold fold; /* how call paths become one */
};

/*
 * `measure` is a name here and below; NULL: CPU time, or wall time where the sampler's clock
 * measured that.  What a series does not have is empty.
 */
int fg_store_weights(struct fg_store *store, int64_t series, const char *measure,
		     struct fg_weights *weights, struct fg_error *err) FG_NODISCARD;

void fg_weights_release(struct fg_weights *weights);

/* Times by function, of both arms; empty without a profile, or when the run was cut short. */
int fg_store_totals(struct fg_store *store, int64_t series, const char *measure,
		    struct fg_totals *totals, struct fg_error *err) FG_NODISCARD;

#endif
