/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of one execution. The built-in metrics are rows of one table (metric.c); user-defined
 * metrics and the metrics of a harness follow.
 */
#ifndef FG_MODEL_METRIC_H
#define FG_MODEL_METRIC_H

#include "base/base.h"

enum fg_better {
	FG_BETTER_LOWER,
	FG_BETTER_HIGHER,
};

/* Indexes into fg_metric_builtin(). */
enum fg_metric_id {
	FG_METRIC_CPU_TIME,
	FG_METRIC_WALL_TIME,
	FG_METRIC_USER_TIME,
	FG_METRIC_SYSTEM_TIME,
	FG_METRIC_MAX_RSS,
	FG_METRIC_MINOR_FAULTS,
	FG_METRIC_MAJOR_FAULTS,
	FG_METRIC_VOLUNTARY_SWITCHES,
	FG_METRIC_INVOLUNTARY_SWITCHES,
	FG_METRIC_BLOCKS_READ,
	FG_METRIC_BLOCKS_WRITTEN,
	FG_METRIC_BINARY_SIZE,
	FG_METRIC_BUILTIN_COUNT,
};

struct fg_metric {
	const char *name;  /* "cpu_time": the name in the configuration and in reports */
	const char *label; /* "cpu time": the name for people */
	const char *unit;  /* "ns", "bytes", "1", or the user's own */
	enum fg_better better;
	bool exact;         /* identical in every execution of one binary; compared exactly */
	bool gated;         /* takes part in the verdict by default */
	bool valid_in_duet; /* meaningful while both sides share one CPU */
	double min_effect;  /* default policy */
	double margin;
};

/* Returns the built-in metric with this id; static. */
const struct fg_metric *fg_metric_builtin(enum fg_metric_id id);
/* Returns the built-in metric of this name, or NULL. */
const struct fg_metric *fg_metric_find_builtin(const char *name);

#endif
