/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What else the machine did while a repetition ran: load, time stolen by the hypervisor, CPU
 * pressure.  Read before and after; three small files of /proc, kept open.  A file that is missing
 * gives NaN, never an error.
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
	uint64_t stolen_ticks; /* of the CPU asked for, or of all */
	uint64_t all_ticks;
	uint64_t pressure_us; /* UINT64_MAX: unknown */
};

void fg_observer_init(struct fg_observer *observer);
void fg_observer_release(struct fg_observer *observer);
/* cpu: that one's share of stolen time, negative: of all together. */
void fg_observe(const struct fg_observer *observer, int cpu, struct fg_observation *observation);
/*
 * Between two observations: share of time stolen and share of time with CPU pressure; NaN: unknown.
 */
double fg_observed_steal(const struct fg_observation *before, const struct fg_observation *after);
double fg_observed_pressure(const struct fg_observation *before,
			    const struct fg_observation *after);

/*
 * The line "cpuN ..." (cpu negative: "cpu ...") of a /proc/stat text: steal and the sum of all
 * states, in ticks.
 */
bool fg_observe_parse_stat(const char *text, int cpu, uint64_t *stolen_ticks, uint64_t *all_ticks);

#endif
