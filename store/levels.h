/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of each metric of a series, for trends. */
#ifndef FG_STORE_LEVELS_H
#define FG_STORE_LEVELS_H

#include "base/base.h"
#include "base/error.h"
#include "base/json.h"
#include "model/run.h"

struct fg_store;

/* A row of `level`: the values of one metric that a trend needs. */
struct fg_level {
	bool exists;
	int64_t pairs;
	double medians[2]; /* by arm */
	double ratio;
	double low;
	double high;
	double step; /* log(ratio), for a chain of runs */
	double step_error;
	const char *outcome; /* borrowed from the report */
};

/* Makes one level per metric of the series; `report` may be NULL. The caller frees the array. */
struct fg_level *fg_levels_make(const struct fg_series *series, const cJSON *report);

/* Stores levels. The run must not have levels of this series yet. */
int fg_store_put_levels(struct fg_store *store, const struct fg_run *run, int64_t run_id,
			const struct fg_series *series, const struct fg_level *levels,
			struct fg_error *err) FG_NODISCARD;

#endif
