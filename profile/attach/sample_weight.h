/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weighs a sample of another process, and decides whether the sample counts. A sample is taken for
 * a moment drawn in advance, but the thread stops a little later. To the kernel, a thread also
 * "runs" while it only queues for a CPU; such a thread stops where it was preempted or woken up,
 * which depends on scheduling. These stops do not count: the CPU time since the last counted sample
 * is carried over to the next sample.
 */
#ifndef FG_ATTACH_SAMPLE_WEIGHT_H
#define FG_ATTACH_SAMPLE_WEIGHT_H

#include "base/base.h"

struct fg_sampled {
	int64_t time_ns;
	int64_t period_ns; /* mean time between moments, as set when this one was drawn */
	uint64_t weight_ns;
	uint64_t queued_ns; /* additional weight, which is not levelled: see fg_moment */
	uint64_t node;      /* call path */
	uint8_t bits;       /* FG_SAMPLE_* bits */
};

/* The kernel's counts for a thread: /proc/PID/task/TID/schedstat. */
struct fg_cpu_account {
	uint64_t used_ns;   /* time on a CPU */
	uint64_t queued_ns; /* time waiting for a CPU, without a wait that still lasts */
};

bool fg_cpu_account_parse(const char *text, struct fg_cpu_account *account);

struct fg_moment {
	int64_t at_ns; /* drawn in advance */
	int64_t period_ns;
	/*
	 * Time from `at_ns` until the thread stopped; 0 unless elapsed time is sampled. During this
	 * time, the thread was queueing for a CPU at the place where it stopped, perhaps for many
	 * periods on a busy machine, and got no other sample.
	 */
	uint64_t queued_ns;
	struct fg_cpu_account account;
};

/*
 * Returns the weight of a thread that was chosen at this moment and seen stopped at `stopped_ns`
 * with this account. `weighed_ns` is its CPU time in earlier samples. 0: the thread was not on a
 * CPU at the moment.
 */
uint64_t fg_sample_weight(const struct fg_moment *moment, const struct fg_cpu_account *stopped,
			  int64_t stopped_ns, uint64_t weighed_ns);

/*
 * Redistributes the weights of neighbouring samples by their periods; the sum stays the same. If a
 * thread shares its CPU, the time since its last sample is random. Samples with such weights would
 * be only as precise as half as many samples of equal weight.
 */
void fg_samples_level(struct fg_sampled *samples, size_t count);

#endif
