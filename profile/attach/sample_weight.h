/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight of a sample from outside, and whether it counts.
 *
 * A sample is decided at a moment drawn in advance, but the thread stops a little later.  The
 * kernel calls a thread "running" while it only queues for a CPU, too; it then stops where it was
 * put off its CPU or woken up, which is in step with scheduling.  Such stops do not count: the CPU
 * time since the last sample that did stays for the next one.
 */
#ifndef FG_OUTSIDE_SAMPLE_WEIGHT_H
#define FG_OUTSIDE_SAMPLE_WEIGHT_H

#include "base/base.h"

struct fg_sampled {
	int64_t time_ns;
	int64_t period_ns; /* mean time between moments when this one was drawn */
	uint64_t weight_ns;
	uint64_t queued_ns; /* additional weight, which is not levelled: see fg_moment */
	uint64_t node;      /* its call path */
	uint8_t bits;       /* FG_SAMPLE_* bits */
};

/* The kernel's counts for a thread: /proc/PID/task/TID/schedstat. */
struct fg_cpu_account {
	uint64_t used_ns;   /* time on a CPU */
	uint64_t queued_ns; /* waiting for one, until it last got one */
};

bool fg_cpu_account_parse(const char *text, struct fg_cpu_account *account);

struct fg_moment {
	int64_t at_ns; /* time as drawn */
	int64_t period_ns;
	/*
	 * Elapsed time until the thread stopped. It queued for a CPU at the place where it stopped,
	 * which can last many periods on a busy machine, and nothing else of it is seen in that
	 * time.
	 */
	uint64_t queued_ns;
	struct fg_cpu_account account;
};

/*
 * For a thread chosen at this moment, and seen stopped at `stopped_ns` with this account.
 * `weighed_ns` is its CPU time in earlier samples. 0: it was not on a CPU at the moment.
 */
uint64_t fg_sample_weight(const struct fg_moment *moment, const struct fg_cpu_account *stopped,
			  int64_t stopped_ns, uint64_t weighed_ns);

/*
 * Redistributes the weights of neighbouring samples by their periods. If a thread shares its CPU,
 * the time since its last sample is a matter of chance, which would cost half of the samples'
 * worth. The sum stays the same.
 */
void fg_samples_level(struct fg_sampled *samples, size_t count);

#endif
