// SPDX-License-Identifier: Apache-2.0
#include "model/metric.h"

/*
 * Only metrics that respond to the program rather than to noise are gated by default: CPU time,
 * wall time (if the schedule measures it) and peak memory. Other metrics are recorded, shown, and
 * gated on request.
 */
#define METRIC(called, words, of, least, limit)                               \
 .name = (called), .label = (words), .unit = (of), .better = FG_BETTER_LOWER, \
 .min_effect = (least), .margin = (limit)

static const struct fg_metric builtin[FG_METRIC_BUILTIN_COUNT] = {
	[FG_METRIC_CPU_TIME] = {METRIC("cpu_time", "cpu time", "ns", 0.01, 0.02), .gated = true,
				.valid_in_duet = true},
	[FG_METRIC_WALL_TIME] = {METRIC("wall_time", "wall time", "ns", 0.05, 0.05), .gated = true},
	[FG_METRIC_USER_TIME] = {METRIC("user_time", "user time", "ns", 0.01, 0.02),
				 .valid_in_duet = true},
	[FG_METRIC_SYSTEM_TIME] = {METRIC("system_time", "system time", "ns", 0.05, 0.05),
				   .valid_in_duet = true},
	[FG_METRIC_MAX_RSS] = {METRIC("max_rss", "max rss", "bytes", 0.05, 0.05), .gated = true,
			       .valid_in_duet = true},
	[FG_METRIC_MINOR_FAULTS] = {METRIC("minor_faults", "minor faults", "1", 0.05, 0.05),
				    .valid_in_duet = true},
	[FG_METRIC_MAJOR_FAULTS] = {METRIC("major_faults", "major faults", "1", 0.05, 0.05),
				    .valid_in_duet = true},
	[FG_METRIC_VOLUNTARY_SWITCHES] = {METRIC("voluntary_switches", "voluntary switches", "1",
						 0.10, 0.10)},
	[FG_METRIC_INVOLUNTARY_SWITCHES] = {METRIC("involuntary_switches", "involuntary switches",
						   "1", 0.10, 0.10)},
	[FG_METRIC_BLOCKS_READ] = {METRIC("blocks_read", "blocks read", "1", 0.05, 0.05),
				   .valid_in_duet = true},
	[FG_METRIC_BLOCKS_WRITTEN] = {METRIC("blocks_written", "blocks written", "1", 0.05, 0.05),
				      .valid_in_duet = true},
	[FG_METRIC_BINARY_SIZE] = {METRIC("binary_size", "binary size", "bytes", 0.05, 0.05),
				   .exact = true, .valid_in_duet = true},
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
