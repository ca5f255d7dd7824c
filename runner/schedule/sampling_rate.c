// SPDX-License-Identifier: Apache-2.0
#include "runner/schedule/sampling_rate.h"

#include "base/clock.h"
#include "base/fs.h"
#include "trace/trace_read.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

static void add_trace(void *cost, const char *path)
{
	struct fg_trace_header header;
	const int fd = fg_trace_open(path, O_RDONLY, &header);

	if (fd < 0)
		return;
	fg_sample_cost_add(cost, &header);
	(void)close(fd);
}

void fg_sample_costs_add(const char *trace_folder, struct fg_sample_cost *cost)
{
	(void)fg_fs_each(trace_folder, add_trace, cost, NULL);
}

void fg_sampling_learn(const struct fg_sample_cost *cost, struct fg_sampling *sampling)
{
	const double cpu_ns = (double)cost->cpu_ns;

	if (cost->samples == 0 || cost->cpu_ns == 0)
		return;
	sampling->signal_ns = (double)cost->signals_ns / (double)cost->samples;
	sampling->handler_ns = (double)cost->handlers_ns / (double)cost->samples;
	sampling->start_share = fmin(1, (double)cost->start_ns / cpu_ns);
	sampling->switches_hz = (double)cost->switches / cpu_ns * (double)FG_NS_PER_S;
	sampling->switch_ns =
		cost->switches ? (double)cost->switches_ns / (double)cost->switches : 0;
}

void fg_sampling_settle(const struct fg_sample_cost *cost, double budget,
			struct fg_sampling *sampling)
{
	const uint64_t whole = (uint64_t)(budget * FG_BUDGET_WHOLE + 0.5);
	struct fg_sample_cost samples = *cost;

	/* The start costs the same on both sides: the whole budget is for samples. */
	samples.start_ns = 0;
	fg_sampling_learn(cost, sampling);
	sampling->budget = budget;
	sampling->rate_hz =
		floor((double)FG_NS_PER_S / (double)fg_sample_cost_period_ns(&samples, whole));
	sampling->expected_cost =
		cost->samples ? fg_sample_cost_at(cost, sampling->rate_hz) : (double)NAN;
}
