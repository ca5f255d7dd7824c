/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of a series add up to: time by call path, and by function. */
#ifndef FG_STORE_SERVING_SUMS_H
#define FG_STORE_SERVING_SUMS_H

#include "base/base.h"
#include "base/error.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/serving/totals.h"

struct fg_store;

/* Time of each call path: ids ascending, sums over the repetitions of one arm that count. */
struct fg_weights {
	uint64_t *ids;
	double *sums;
	size_t count;
	uint32_t repetitions;
	uint8_t arm;
};

/* Of weights->arm. */
int fg_store_weights(struct fg_store *store, int64_t series, struct fg_weights *weights,
		     struct fg_error *err) FG_NODISCARD;

void fg_weights_release(struct fg_weights *weights);

/* Of all functions of both arms, kept or computed; without a profile nothing. */
int fg_store_totals(struct fg_store *store, int64_t series, struct fg_totals *totals,
		    struct fg_error *err) FG_NODISCARD;
/* As fg_store_save(), and the totals of each profile are kept beside its rows. */
int fg_store_save_with_totals(struct fg_store *store, const struct fg_run *run,
			      struct fg_profile_set *const *profiles, const char *report,
			      struct fg_error *err) FG_NODISCARD;

#endif
