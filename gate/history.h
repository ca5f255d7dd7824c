/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One benchmark's metric over many runs: the trend, and the runs at which the level changed for
 * good. Runs of different environments (host fingerprints) are never compared: each environment has
 * its own series. gate/statistics/changepoint.c explains how change points are found and why few of
 * them are false.
 */
#ifndef FG_GATE_HISTORY_H
#define FG_GATE_HISTORY_H

#include "base/error.h"
#include "model/run.h"

#define FG_TREND_POINTS_MAX 5000

struct fg_trend_options {
	const char *benchmark;
	const char *metric;
	uint64_t seed;
};

struct fg_trend_point {
	size_t run;         /* index into the runs passed in */
	size_t environment; /* index of the environment's line */
	double value;       /* median of the candidate's repetitions */
	double low;         /* quartiles */
	double high;
	size_t repetitions;
};

struct fg_trend_change {
	size_t point;  /* first point of the new level */
	double before; /* medians of the levels */
	double after;
	double ratio; /* after / before; NaN if `before` is not positive */
	bool worse;
	double p;
};

struct fg_trend {
	/* in the order of the runs; runs without a value are left out */
	struct fg_trend_point *points;
	size_t point_count;
	struct fg_trend_change *changes; /* ascending by point */
	size_t change_count;
	size_t environment_count;
};

/*
 * `runs` are oldest first. FG_ENOENT: no run has the metric; FG_ELIMIT: more than
 * FG_TREND_POINTS_MAX runs. Release `trend` with fg_trend_release().
 */
int fg_trend_build(const struct fg_run *const *runs, size_t count,
		   const struct fg_trend_options *options, struct fg_trend *trend,
		   struct fg_error *err) FG_NODISCARD;
void fg_trend_release(struct fg_trend *trend);

#endif
