/* SPDX-License-Identifier: Apache-2.0 */
/* One function over many runs. */
#ifndef FG_STORE_SERVING_TREND_H
#define FG_STORE_SERVING_TREND_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"

struct fg_profile_function;
struct fg_store;

struct fg_function_point {
	char run[37];
	int64_t started_ns;
	const char *commit; /* NULL: unknown */
	double self;        /* time of the candidate */
	double inclusive;
};

struct fg_function_trend {
	const char *unit;                 /* unit of the measure; NULL: nanoseconds */
	struct fg_function_point *points; /* oldest first */
	size_t count;
	size_t capacity;
	struct fg_arena texts;
};

struct fg_trend_query {
	const char *project; /* NULL: any */
	const char *benchmark;
	const char *branch; /* NULL: all */
	const char *name;
	const char *library; /* NULL: unknown */
	const char *measure; /* name of a measure; NULL: time */
	int64_t before_ns;   /* only runs that started before this time; 0: all */
	size_t limit;        /* number of newest runs to read; 0: all */
};

/*
 * Reads the trend. Runs without a sample of the function have zeros; runs without a profile are
 * left out.
 */
int fg_store_function_trend(struct fg_store *store, const struct fg_trend_query *query,
			    struct fg_function_trend *trend, struct fg_error *err) FG_NODISCARD;
/* The earlier runs of the baseline's branch. */
struct fg_earlier_runs {
	struct fg_store *store;
	const struct fg_run *baseline;
	int64_t before_ns; /* only runs that started before this time; 0: all */
};

/*
 * Reads a function's self time in at most `room` runs, oldest first. Returns the number of runs
 * with a profile.
 */
size_t fg_store_own_times(const struct fg_earlier_runs *runs, const char *benchmark,
			  const struct fg_profile_function *function, double *self_ns, size_t room);
void fg_function_trend_release(struct fg_function_trend *trend);

#endif
