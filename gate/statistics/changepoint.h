/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the values at which a series of results changes its level for good.
 *
 * The usual searches assume independent, well-behaved values and choose the split on the same data
 * that they then test; on a drifting host they report change points in most series in which nothing
 * happened. Here the whole search (cleaning, noise estimate, maximum over many windows) is repeated
 * on simulated series that have no change but the same autocorrelation, and only larger statistics
 * are reported. See changepoint.c and docs/statistics.md.
 */
#ifndef FG_STATS_CHANGEPOINT_H
#define FG_STATS_CHANGEPOINT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define FG_CHANGEPOINT_VALUES_MAX 5000

struct fg_changepoint_options {
	double alpha;       /* chance of any false change point in the series; 0: 0.01 */
	size_t min_segment; /* minimum number of values on either side of a change; 0: 5 */
	size_t simulations; /* number of simulated series; 0: 999 */
	uint64_t seed;
};

struct fg_changepoint {
	size_t at;     /* first value of the new level */
	double before; /* median of the level before, up to the previous change */
	double after;  /* median of the level after, up to the next change */
	double p;      /* adjusted for the search over many splits */
};

struct fg_changepoints {
	struct fg_changepoint *items; /* ascending by `at` */
	size_t count;
	double autocorrelation; /* lag-1 autocorrelation of the noise, without steps */
	double noise;           /* standard deviation of the noise, steps and outliers left out */
};

/*
 * FG_EINVAL for a value that is not finite, FG_ELIMIT beyond FG_CHANGEPOINT_VALUES_MAX values. A
 * series shorter than two segments, or constant, has no change points. Release `result` with
 * fg_changepoints_release().
 */
int fg_changepoints_find(const double *values, size_t count,
			 const struct fg_changepoint_options *options,
			 struct fg_changepoints *result, struct fg_error *err) FG_NODISCARD;
void fg_changepoints_release(struct fg_changepoints *points);

#endif
