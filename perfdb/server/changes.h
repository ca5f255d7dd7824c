/* SPDX-License-Identifier: Apache-2.0 */
/* Finds lasting changes in a series of runs. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_CHANGES_H
#define FG_PERFDB_SERVER_CHANGES_H

#include "base/json_write.h"
#include "gate/statistics/changepoint.h"

/* The points of a trend: `values` holds the values that are numbers, `places` their indexes. */
struct fg_change_series {
	double *values;
	size_t *places;
	const char **runs; /* run of every point; borrowed */
	size_t count;
};

void fg_change_series_init(struct fg_change_series *series, size_t points);
void fg_change_series_add(struct fg_change_series *series, size_t place, const char *run,
			  double value);
void fg_change_series_release(struct fg_change_series *series);

/*
 * Finds the changes that enough runs confirm. FG_ELIMIT: the series has more than
 * FG_CHANGEPOINT_VALUES_MAX values.
 */
int fg_changes_find(const struct fg_change_series *series, struct fg_changepoints *changes,
		    struct fg_error *err) FG_NODISCARD;
/* Writes the member "changes" and, if the newest runs are far from the level, "possible_change". */
int fg_changes_write(struct fg_json_writer *w, const struct fg_change_series *series,
		     struct fg_error *err) FG_NODISCARD;

#endif
