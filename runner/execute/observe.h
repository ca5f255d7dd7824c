/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other activity of the machine during a repetition: load, time stolen by the hypervisor, CPU
 * pressure. Three small files of /proc stay open and are read before and after the repetition. A
 * missing file gives NaN, never an error.
 */
#ifndef FG_RUNNER_OBSERVE_H
#define FG_RUNNER_OBSERVE_H

#include "base/base.h"

struct fg_observer {
	int stat_fd;
	int load_fd;
	int pressure_fd;
};

struct fg_observation {
	int64_t at_ns;
	double load;
	uint64_t stolen_ticks; /* of the requested CPU, or of all CPUs */
	uint64_t all_ticks;
	uint64_t pressure_us; /* UINT64_MAX: unknown */
};

/* Opens the files below `root` ("" for this host). */
void fg_observer_init(struct fg_observer *observer, const char *root);
void fg_observer_release(struct fg_observer *observer);
/*
 * Takes an observation, with the stolen time of one CPU, or of all CPUs together if `cpu` is
 * negative.
 */
void fg_observe(const struct fg_observer *observer, int cpu, struct fg_observation *observation);
/*
 * The next two functions return a share of the time between two observations: stolen time, and time
 * with CPU pressure; NaN: unknown.
 */
double fg_observed_steal(const struct fg_observation *before, const struct fg_observation *after);
double fg_observed_pressure(const struct fg_observation *before,
			    const struct fg_observation *after);

/*
 * Parses the line "cpuN ..." (cpu negative: "cpu ...") of /proc/stat: steal and the sum of all
 * states, in ticks.
 */
bool fg_observe_parse_stat(const char *text, int cpu, uint64_t *stolen_ticks, uint64_t *all_ticks);

#endif
