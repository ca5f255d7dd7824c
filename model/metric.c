// SPDX-License-Identifier: Apache-2.0
#include "model/metric.h"

/*
 * Gated by default: the metrics that respond to the program and not to noise, which are CPU time,
 * wall time (where the schedule measures it) and peak memory.  The rest is recorded, shown,
 * and gated on request.
 */
static const struct fg_metric builtin[FG_METRIC_BUILTIN_COUNT] = {
	[FG_METRIC_CPU_TIME] = {"cpu_time", "cpu time", "ns", FG_BETTER_LOWER, false, true, true,
				0.01, 0.02},
	[FG_METRIC_WALL_TIME] = {"wall_time", "wall time", "ns", FG_BETTER_LOWER, false, true,
				 false, 0.05, 0.05},
	[FG_METRIC_USER_TIME] = {"user_time", "user time", "ns", FG_BETTER_LOWER, false, false,
				 true, 0.01, 0.02},
	[FG_METRIC_SYSTEM_TIME] = {"system_time", "system time", "ns", FG_BETTER_LOWER, false,
				   false, true, 0.05, 0.05},
	[FG_METRIC_MAX_RSS] = {"max_rss", "max rss", "bytes", FG_BETTER_LOWER, false, true, true,
			       0.05, 0.05},
	[FG_METRIC_MINOR_FAULTS] = {"minor_faults", "minor faults", "1", FG_BETTER_LOWER, false,
				    false, true, 0.05, 0.05},
	[FG_METRIC_MAJOR_FAULTS] = {"major_faults", "major faults", "1", FG_BETTER_LOWER, false,
				    false, true, 0.05, 0.05},
	[FG_METRIC_VOLUNTARY_SWITCHES] = {"voluntary_switches", "voluntary switches", "1",
					  FG_BETTER_LOWER, false, false, false, 0.10, 0.10},
	[FG_METRIC_INVOLUNTARY_SWITCHES] = {"involuntary_switches", "involuntary switches", "1",
					    FG_BETTER_LOWER, false, false, false, 0.10, 0.10},
	[FG_METRIC_BLOCKS_READ] = {"blocks_read", "blocks read", "1", FG_BETTER_LOWER, false, false,
				   true, 0.05, 0.05},
	[FG_METRIC_BLOCKS_WRITTEN] = {"blocks_written", "blocks written", "1", FG_BETTER_LOWER,
				      false, false, true, 0.05, 0.05},
	[FG_METRIC_BINARY_SIZE] = {"binary_size", "binary size", "bytes", FG_BETTER_LOWER, true,
				   false, true, 0.05, 0.05},
};

const struct fg_metric *fg_metric_builtin(enum fg_metric_id id)
{
	FG_ASSERT(id < FG_METRIC_BUILTIN_COUNT);
	return &builtin[id];
}

const struct fg_metric *fg_metric_find_builtin(const char *name)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(builtin); i++) {
		if (strcmp(builtin[i].name, name) == 0)
			return &builtin[i];
	}
	return NULL;
}
