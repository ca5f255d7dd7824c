/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling rate of a benchmark. Both sides of a pair are sampled at the same rate, so it cannot
 * be adapted while they run: the collector measures the cost of samples in the warm-up, and the
 * highest rate that the budget allows at that cost holds for all pairs.
 */
#ifndef FG_RUNNER_SAMPLING_RATE_H
#define FG_RUNNER_SAMPLING_RATE_H

#include "model/run.h"
#include "trace/sample_cost.h"

enum {
	FG_RATE_AUTO_WALL_HZ = 100,
};

/* Adds the costs recorded in this folder's traces; other files are skipped. */
void fg_sample_costs_add(const char *trace_folder, struct fg_sample_cost *cost);

/* Sets the costs per sample and per switch, for the reports. Without samples they stay unknown. */
void fg_sampling_learn(const struct fg_sample_cost *cost, struct fg_sampling *sampling);

/* Sets the rate that the budget allows, and its expected cost, which is NaN without samples. */
void fg_sampling_settle(const struct fg_sample_cost *cost, double budget,
			struct fg_sampling *sampling);

#endif
