// SPDX-License-Identifier: Apache-2.0
#include "model/metric.h"

/*
 * Only metrics that respond to the program rather than to noise are gated by default: CPU time,
 * wall time (if the schedule measures it) and peak memory. The rest is recorded, shown, and gated
 * on request.
 */
static const struct fg_metric builtin[FG_METRIC_BUILTIN_COUNT] = {
	[FG_METRIC_CPU_TIME] =
		{
			.name = "cpu_time",
			.label = "cpu time",
			.unit = "ns",
			.better = FG_BETTER_LOWER,
			.gated = true,
			.valid_in_duet = true,
			.min_effect = 0.01,
			.margin = 0.02,
		},
	[FG_METRIC_WALL_TIME] =
		{
			.name = "wall_time",
			.label = "wall time",
			.unit = "ns",
			.better = FG_BETTER_LOWER,
			.gated = true,
			.min_effect = 0.05,
			.margin = 0.05,
		},
	[FG_METRIC_USER_TIME] =
		{
			.name = "user_time",
			.label = "user time",
			.unit = "ns",
			.better = FG_BETTER_LOWER,
			.valid_in_duet = true,
			.min_effect = 0.01,
			.margin = 0.02,
		},
	[FG_METRIC_SYSTEM_TIME] =
		{
			.name = "system_time",
			.label = "system time",
			.unit = "ns",
			.better = FG_BETTER_LOWER,
			.valid_in_duet = true,
			.min_effect = 0.05,
			.margin = 0.05,
		},
	[FG_METRIC_MAX_RSS] =
		{
			.name = "max_rss",
			.label = "max rss",
			.unit = "bytes",
			.better = FG_BETTER_LOWER,
			.gated = true,
			.valid_in_duet = true,
			.min_effect = 0.05,
			.margin = 0.05,
		},
	[FG_METRIC_MINOR_FAULTS] =
		{
			.name = "minor_faults",
			.label = "minor faults",
			.unit = "1",
			.better = FG_BETTER_LOWER,
			.valid_in_duet = true,
			.min_effect = 0.05,
			.margin = 0.05,
		},
	[FG_METRIC_MAJOR_FAULTS] =
		{
			.name = "major_faults",
			.label = "major faults",
			.unit = "1",
			.better = FG_BETTER_LOWER,
			.valid_in_duet = true,
			.min_effect = 0.05,
			.margin = 0.05,
		},
	[FG_METRIC_VOLUNTARY_SWITCHES] =
		{
			.name = "voluntary_switches",
			.label = "voluntary switches",
			.unit = "1",
			.better = FG_BETTER_LOWER,
			.min_effect = 0.10,
			.margin = 0.10,
		},
	[FG_METRIC_INVOLUNTARY_SWITCHES] =
		{
			.name = "involuntary_switches",
			.label = "involuntary switches",
			.unit = "1",
			.better = FG_BETTER_LOWER,
			.min_effect = 0.10,
			.margin = 0.10,
		},
	[FG_METRIC_BLOCKS_READ] =
		{
			.name = "blocks_read",
			.label = "blocks read",
			.unit = "1",
			.better = FG_BETTER_LOWER,
			.valid_in_duet = true,
			.min_effect = 0.05,
			.margin = 0.05,
		},
	[FG_METRIC_BLOCKS_WRITTEN] =
		{
			.name = "blocks_written",
			.label = "blocks written",
			.unit = "1",
			.better = FG_BETTER_LOWER,
			.valid_in_duet = true,
			.min_effect = 0.05,
			.margin = 0.05,
		},
	[FG_METRIC_BINARY_SIZE] =
		{
			.name = "binary_size",
			.label = "binary size",
			.unit = "bytes",
			.better = FG_BETTER_LOWER,
			.exact = true,
			.valid_in_duet = true,
			.min_effect = 0.05,
			.margin = 0.05,
		},
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
