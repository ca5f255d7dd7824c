/* SPDX-License-Identifier: Apache-2.0 */
/* The two sides of a comparison.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_API_SIDES_H
#define FG_PERFDB_SERVER_API_SIDES_H

#include "perfdb/server/request.h"
#include "store/measures.h"
#include "store/serving/side.h"

/*
 * Parameter `a` is the baseline and `b` the candidate; without `b`, the two arms of `a` are
 * compared, which is what a gate's run holds.
 */
int fg_sides_read(struct fg_request *rq, struct fg_run_side sides[2], struct fg_error *err)
	FG_NODISCARD;

/* The measure of an answer, and which ones could be asked for. */
struct fg_shown_measure {
	struct fg_series_measures all;  /* of the candidate */
	const struct fg_measure *other; /* NULL: time, given in milliseconds */
};

/*
 * The measure of the parameter `measure`; time by default.  FG_ENOENT: the benchmark lacks it.
 * Release `shown->all` with fg_series_measures_release().
 */
int fg_sides_measure(struct fg_request *rq, const struct fg_run_side sides[2],
		     const char *benchmark, struct fg_shown_measure *shown, struct fg_error *err)
	FG_NODISCARD;
/* A value of the store as the answer gives it: times in milliseconds, to the nanosecond. */
double fg_sides_value(const struct fg_shown_measure *shown, double value);
/* "measure" and "unit" unless it is time; "measures" and "units" of all. */
void fg_sides_write_measure(struct fg_json_writer *w, const struct fg_shown_measure *shown);
void fg_sides_write(struct fg_json_writer *w, const struct fg_run_side sides[2]);
/* "NAME": [first, second]: of the baseline and the candidate, or both ends of an interval. */
void fg_sides_write_pair(struct fg_json_writer *w, const char *name, double first, double second);

#endif
