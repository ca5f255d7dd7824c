/* SPDX-License-Identifier: Apache-2.0 */
/* The times of a series by function. */
#ifndef FG_STORE_SERVING_SUMS_H
#define FG_STORE_SERVING_SUMS_H

#include "base/base.h"
#include "base/error.h"
#include "model/chain.h"
#include "store/totals.h"

/*
 * Reads the CPU time of each function in both arms, or the wall time if the sampler's clock
 * measured wall time. The totals are empty without a profile, or if the run was cut short.
 */
int fg_store_totals(struct fg_store *store, int64_t series, struct fg_totals *totals,
		    struct fg_error *err) FG_NODISCARD;

/* Reads the times of runs whose builds differ. Unreadable totals stay empty. */
void fg_store_edge_totals(struct fg_store *store, const struct fg_chain_edge *edges, size_t count,
			  struct fg_totals *totals);

#endif
