/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a sample, and how many samples a budget allows.
 *
 * A sample has two costs.  The kernel's interrupt and signal cost the same whatever handles them: 3
 * us on bare metal, 25 to 70 on a virtual machine.  The collector's handler walks the stack.  The
 * first cost is measured here, by the same work with and without signals, on data that fill the
 * second-level cache: refetching what the kernel evicts may be half of it.  The second is read from
 * the traces of earlier executions of the program.  The fixed cost of sampling a process, at its
 * start, is deducted from the budget.
 *
 * A context switch costs more, too: the kernel stops the timer of the thread that leaves and starts
 * that of the next one.  If this timer expires before the tick, the hardware timer is reprogrammed
 * each time, which is expensive on a virtual machine (20 us).  At 1,000 samples a second that is
 * nearly always so, at 50 seldom.  This cost is measured here as well; the number of switches comes
 * from the traces of earlier executions.  The traces also record whether a second event sampled
 * system time: its interrupts are extra, at half the cost of a signal.
 */
#ifndef FG_RUNNER_SAMPLE_PRICE_H
#define FG_RUNNER_SAMPLE_PRICE_H

#include "base/base.h"
#include "model/run.h"
#include "trace/trace_format.h"

enum {
	FG_RATE_AUTO_LEAST_HZ = 100,
	FG_RATE_AUTO_MOST_HZ = 4000,
	FG_RATE_AUTO_WALL_HZ = 100,
	/*
	 * assumed for an unknown program whose execution is spread all over its code, such as a
	 * compiler
	 */
	FG_HANDLER_ASSUMED_NS = 25000,
};

/* The collector's own figures from traces of the same program. */
struct fg_sample_costs {
	uint64_t samples;
	uint64_t handler_ns;
	uint64_t startup_ns;
	uint64_t cpu_ns;
	uint64_t switches;
	uint64_t interrupts; /* interrupts of the kernel's event that raise no signal */
	uint64_t period_ns;
};

/* CPU time of one signal of the sampler's clock; measured once (70 ms), then cached. */
double fg_sample_signal_ns(void);

/* Extra cost of a context switch if the clock always expires next; measured once. */
double fg_sample_switch_ns(void);

/* Measures both costs. */
void fg_sampling_price(struct fg_sampling *sampling);

/* Adds the figures of the traces in this folder; other files are skipped. */
void fg_sample_costs_add(const char *trace_folder, struct fg_sample_costs *costs);

/* Puts the mean cost of a handler, and the share of CPU time spent on starting, into `sampling`. */
void fg_sample_costs_learn(const struct fg_sample_costs *costs, struct fg_sampling *sampling);

/* Sets the rate that the budget allows, and its expected cost, from the costs in `sampling`. */
void fg_sampling_settle(struct fg_sampling *sampling, double budget);

/* Extra cost of a context switch at this rate; 0: unknown. */
double fg_sampling_switch_ns(const struct fg_sampling *sampling, double rate_hz);

/* Cost at another rate, from the costs in `sampling`; NaN if they are unknown. */
double fg_sampling_cost(const struct fg_sampling *sampling, double rate_hz);

#endif
