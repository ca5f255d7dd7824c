/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples a process that runs already, from outside, and leaves a trace as the collector would.
 *
 * At random moments every thread that runs is stopped, its registers and the top of its stack are
 * copied, and it is let go; the stack is walked after that.  What a sample weighs: sample_weight.h.
 * Threads that wait are not stopped, so their system calls are not disturbed; for elapsed time they
 * are, where they do not notice: waiting_place.h.  Nothing is held between two moments but threads
 * that were asked to stop and have not got a CPU yet: a fastgate that is killed leaves nothing
 * behind.
 */
#ifndef FG_OUTSIDE_SAMPLER_H
#define FG_OUTSIDE_SAMPLER_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>
#include <sys/types.h>

struct fg_outside_sampling {
	pid_t pid;
	const char *folder;  /* the trace goes there */
	bool elapsed;        /* waiting time counts as well */
	int64_t period_ns;   /* mean time between two moments; at first, where it may be less */
	int64_t least_ns;    /* to which the budget may shorten it; 0: `period_ns` */
	int64_t duration_ns; /* 0: until the process ends */
	/*
	 * The limit on stopped time and our own CPU time together, as a share of the
	 * process's CPU time, or of elapsed time where that is counted; beyond it samples are
	 * taken less often.
	 */
	double budget;
	const volatile sig_atomic_t *interrupted; /* ends it as `duration_ns` does; may be NULL */
};

struct fg_outside_result {
	uint64_t samples;
	uint64_t weighed_ns; /* sum of their weights */
	uint64_t stopped_ns; /* total time that threads were seen stopped */
	uint64_t stops;
	uint64_t pause_p99_ns; /* 99 % of the newest stops were no longer */
	int64_t period_ns;     /* the last one */
};

int fg_outside_sample(const struct fg_outside_sampling *sampling, struct fg_outside_result *result,
		      struct fg_error *err) FG_NODISCARD;

#endif
