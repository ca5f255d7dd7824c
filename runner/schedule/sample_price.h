/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sample costs, and how many of them a budget allows.
 *
 * A sample is paid for twice: the kernel's interrupt and signal cost the same whoever handles them,
 * 3 us on bare metal, 25 to 70 on a virtual machine; the collector's handler walks the stack.  The
 * first is measured here, by the same work with and without signals, on data that fill the
 * second-level cache: to fetch again what the kernel drives out may be half of it.  The second is
 * what earlier executions of the program have left in their traces.  What a process pays for being
 * sampled at all, at its start, is taken off the budget.
 *
 * A context switch is paid for, too: the kernel stops the timer of the thread that leaves and
 * starts that of the one that comes.  Where this timer is the next to expire, before the tick, the
 * hardware's is set anew each time, which a virtual machine makes dear (20 us).  At 1,000 samples a
 * second that is nearly always so, at 50 seldom.  This price is measured here as well, and the
 * number of switches is what earlier executions left in their traces.
 *
 * So is whether a second event was there, which meets system time: its interrupts come on top, at
 * half the price of a signal.
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
	/* of a handler that was not seen yet: in a program that is all over its code, a compiler */
	FG_HANDLER_ASSUMED_NS = 25000,
};

/* What the collector told of itself in traces of the same program. */
struct fg_sample_costs {
	uint64_t samples;
	uint64_t handler_ns;
	uint64_t startup_ns;
	uint64_t cpu_ns;
	uint64_t switches;
	uint64_t interrupts; /* of the kernel's event, that raise no signal */
	uint64_t period_ns;
};

/* CPU time of one signal of the sampler's clock; measured once (70 ms), then kept. */
double fg_sample_signal_ns(void);

/* What the clock adds to a context switch if it is always the next to expire; measured once. */
double fg_sample_switch_ns(void);

/* Measures both prices. */
void fg_sampling_price(struct fg_sampling *sampling);

/* Adds what the traces in this folder say.  Files that are no traces are passed over. */
void fg_sample_costs_add(const char *trace_folder, struct fg_sample_costs *costs);

/* The mean of a handler and the share of the CPU time that starting took, into `sampling`. */
void fg_sample_costs_learn(const struct fg_sample_costs *costs, struct fg_sampling *sampling);

/* The rate that the budget allows, and what it should cost; from the prices in `sampling`. */
void fg_sampling_settle(struct fg_sampling *sampling, double budget);

/* What a context switch costs more at this rate; 0: not known. */
double fg_sampling_switch_ns(const struct fg_sampling *sampling, double rate_hz);

/* The cost of another rate, by the prices in `sampling`; NaN if they are not known. */
double fg_sampling_cost(const struct fg_sampling *sampling, double rate_hz);

#endif
