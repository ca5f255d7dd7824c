/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of a series add up to: time by call path, and by function. */
#ifndef FG_STORE_SERVING_SUMS_H
#define FG_STORE_SERVING_SUMS_H

#include "base/base.h"
#include "base/error.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/serving/totals.h"

struct fg_store;
struct fg_stored_run;

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

/* Totals of all functions of both arms, stored or computed; empty without a profile. */
int fg_store_totals(struct fg_store *store, int64_t series, const char *measure,
		    struct fg_totals *totals, struct fg_error *err) FG_NODISCARD;
/*
 * As fg_store_save(), and the totals of each profile are kept beside its rows; with the digest of
 * what was uploaded, or NULL.
 */
int fg_store_save_with_totals(struct fg_store *store, const struct fg_stored_run *stored,
			      const char *digest, struct fg_error *err) FG_NODISCARD;

#endif
