/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples a running process from outside and writes a trace like the collector's.
 *
 * At random moments every running thread is stopped, its registers and the top of its stack are
 * copied, and it is released; its stack is walked after that. sample_weight.h defines the weight of
 * a sample. Waiting threads are not stopped, so their system calls are not disturbed; for elapsed
 * time they are stopped only if they do not notice (waiting_place.h). Between two moments, no
 * thread is held except threads that were asked to stop and have not got a CPU yet: if fastgate is
 * killed, nothing is left behind.
 */
#ifndef FG_ATTACH_SAMPLER_H
#define FG_ATTACH_SAMPLER_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>
#include <sys/types.h>

struct fg_outside_sampling {
	pid_t pid;
	const char *folder;  /* folder for the trace */
	bool elapsed;        /* also count waiting time */
	int64_t period_ns;   /* mean time between moments at first; the budget changes it */
	int64_t min_ns;      /* shortest period that the budget may set; 0: `period_ns` */
	int64_t duration_ns; /* 0: until the process ends */
	/*
	 * Limit on stopped time plus fastgate's own CPU time, as a share of the process's CPU time
	 * (with `elapsed`, of elapsed time). Above it, samples are taken less often.
	 */
	double budget;
	const volatile sig_atomic_t *interrupted; /* ends like `duration_ns`; may be NULL */
};

struct fg_outside_result {
	uint64_t samples;
	uint64_t weighed_ns; /* sum of the samples' weights */
	uint64_t stopped_ns; /* total time that threads were stopped */
	uint64_t stops;
	uint64_t pause_p99_ns; /* 99 % quantile of the newest stops */
	int64_t period_ns;     /* mean time between moments at the end */
};

int fg_outside_sample(const struct fg_outside_sampling *sampling, struct fg_outside_result *result,
		      struct fg_error *err) FG_NODISCARD;

#endif
