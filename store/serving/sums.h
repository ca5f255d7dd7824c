/* SPDX-License-Identifier: Apache-2.0 */
/* The times of a series by function. */
#ifndef FG_STORE_SERVING_SUMS_H
#define FG_STORE_SERVING_SUMS_H

#include "base/base.h"
#include "base/error.h"
#include "store/totals.h"

struct fg_store;

/*
 * Times by function, of both arms; empty without a profile, or when the run was cut short.
 * `measure` is a name; NULL: CPU time, or wall time where the sampler's clock measured that.
 */
int fg_store_totals(struct fg_store *store, int64_t series, const char *measure,
		    struct fg_totals *totals, struct fg_error *err) FG_NODISCARD;

#endif
