/* SPDX-License-Identifier: Apache-2.0 */
/* One side of a comparison. */
#ifndef FG_STORE_SERVING_SIDE_H
#define FG_STORE_SERVING_SIDE_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/* One side of a comparison: an arm of a stored run. */
struct fg_run_side {
	const char *run;
	uint8_t arm;         /* enum fg_arm */
	const char *measure; /* its name; NULL: time */
};

int fg_store_find_series(struct fg_store *store, const char *run, const char *benchmark,
			 int64_t *series, struct fg_error *err) FG_NODISCARD;

#endif
