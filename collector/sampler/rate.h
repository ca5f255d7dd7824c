/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost of samples on this host, and adapts their rate to a budget.
 *
 * From time to time a thread's perf clock is restarted, so that the CPU time at which it expires is
 * known. The CPU time from then to the handler is the kernel's part of a sample: interrupt,
 * reprogramming of the timer, signal. The ioctl that restarts the clock costs about as much as
 * stopping one timer and starting another at a context switch.
 *
 * The period grows in one step as far as necessary, and shrinks in several steps.
 */
#ifndef FG_COLLECTOR_RATE_H
#define FG_COLLECTOR_RATE_H

#include "trace/sample_cost.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	FG_RATE_KEPT = 5, /* number of measured samples that count */
};

struct fg_thread;

/* CPU times of a measured sample. */
struct fg_rate_sample {
	uint64_t signal_ns;
	uint64_t handler_ns;
	uint64_t restart_ns; /* cost of restarting the clock before the sample */
};

/* The newest measured samples, a ring. */
struct fg_rate_costs {
	uint32_t measured;
	struct fg_rate_sample samples[FG_RATE_KEPT];
};

struct fg_rate {
	_Atomic uint8_t busy;
	struct fg_rate_costs costs;
	struct fg_sample_cost before; /* totals when the period was last set */
	uint64_t interrupts_before;
};

void fg_rate_add(struct fg_rate_costs *costs, const struct fg_rate_sample *sample);
/*
 * Returns the mean of the newest samples. A sample during which the thread lost its CPU counts as
 * expensive, but only up to a limit. For restarts the minimum is used instead of the mean, because
 * they are measured with cold caches.
 */
struct fg_rate_sample fg_rate_mean(const struct fg_rate_costs *costs);
/* Returns the period to use after `period_ns`; `period_ns` itself if the change would be small. */
uint64_t fg_rate_next_ns(const struct fg_sample_cost *cost, uint64_t budget, uint64_t period_ns);

/* Call at each sample of the perf clock; adopts the process's period if it has changed. */
void fg_rate_look(struct fg_thread *thread);
/* Call at the end of a sample: its cost is known, so the period can adapt. */
void fg_rate_learn(struct fg_thread *thread);

#endif
