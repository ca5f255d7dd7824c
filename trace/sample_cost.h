/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of being sampled, and the period that a budget allows. The collector adapts its period
 * by these rules while the program runs; the launcher and the reports apply them to traces.
 *
 * A sample costs the kernel's interrupt and signal (3 us on bare metal, 25 to 150 on a virtual
 * machine), and the collector's handler. Two costs hardly depend on the period: the collector's
 * start, and restarting the timer at each context switch.
 *
 * Nothing here reads a clock, and functions that the collector calls use no floating point.
 */
#ifndef FG_TRACE_SAMPLE_COST_H
#define FG_TRACE_SAMPLE_COST_H

#include "trace/trace_format.h"

#include <stdbool.h>

enum {
	FG_PERIOD_ADAPTED_MIN_NS = 250000,   /* 4,000 samples per second */
	FG_PERIOD_ADAPTED_MAX_NS = 40000000, /* 25 samples per second */
	FG_SAMPLE_ASSUMED_NS = 240000, /* assumed cost of a first sample, with cold unwind tables */
	/* divisor: an interrupt without a signal costs half as much as with a signal */
	FG_INTERRUPT_PART = 2,
	FG_BUDGET_WHOLE = 1000000,
};

/* Totals over one span of time. */
struct fg_sample_cost {
	uint64_t cpu_ns; /* CPU time of the program, all costs included */
	uint64_t samples;
	uint64_t signals_ns;  /* interrupts and signals, in the kernel */
	uint64_t handlers_ns; /* time in handlers */
	uint64_t switches;    /* context switches of the program */
	uint64_t switches_ns; /* extra cost of the context switches */
	uint64_t start_ns;    /* the collector's start and end */
};

static inline uint64_t fg_sample_cost_ns(const struct fg_sample_cost *cost)
{
	return cost->signals_ns + cost->handlers_ns + cost->switches_ns + cost->start_ns;
}

static inline uint64_t fg_sample_cost_each_ns(const struct fg_sample_cost *cost)
{
	return cost->samples ? (cost->signals_ns + cost->handlers_ns) / cost->samples
			     : FG_SAMPLE_ASSUMED_NS;
}

/*
 * Returns the shortest period whose cost fits the budget (millionths of the CPU time), or the
 * longest possible period if none fits. The start uses at most half of the budget that context
 * switches leave, so that even a short program has samples.
 */
static inline uint64_t fg_sample_cost_period_ns(const struct fg_sample_cost *cost, uint64_t budget)
{
	const uint64_t cpu_ns = cost->cpu_ns ? cost->cpu_ns : 1;
	const uint64_t switches = cost->switches_ns * FG_BUDGET_WHOLE / cpu_ns;
	const uint64_t start = cost->start_ns * FG_BUDGET_WHOLE / cpu_ns;
	const uint64_t left = switches < budget ? budget - switches : 0;
	const uint64_t samples = start < left / 2 ? left - start : left - left / 2;
	const uint64_t period_ns =
		samples ? fg_sample_cost_each_ns(cost) * FG_BUDGET_WHOLE / samples : UINT64_MAX;

	if (period_ns < FG_PERIOD_ADAPTED_MIN_NS)
		return FG_PERIOD_ADAPTED_MIN_NS;
	return period_ns < FG_PERIOD_ADAPTED_MAX_NS ? period_ns : FG_PERIOD_ADAPTED_MAX_NS;
}

/* Returns the cost at another rate, as a share of the CPU time. */
static inline double fg_sample_cost_at(const struct fg_sample_cost *cost, double rate_hz)
{
	const double fixed_ns = (double)(cost->switches_ns + cost->start_ns);

	return (cost->cpu_ns ? fixed_ns / (double)cost->cpu_ns : 0) +
	       rate_hz * (double)fg_sample_cost_each_ns(cost) / 1e9;
}

/* Adds the totals of one trace; a killed process left only the CPU time of its samples. */
static inline void fg_sample_cost_add(struct fg_sample_cost *cost,
				      const struct fg_trace_header *header)
{
	const uint64_t samples =
		header->samples - (header->parts < header->samples ? header->parts : 0);
	const bool ended = header->end != FG_END_UNKNOWN;

	cost->cpu_ns += ended ? header->end_user_ns + header->end_system_ns
			      : header->user_ns + header->system_ns;
	cost->samples += samples;
	cost->signals_ns +=
		(samples + header->kernel_interrupts / FG_INTERRUPT_PART) * header->signal_ns;
	cost->handlers_ns += samples * header->handler_cpu_ns;
	cost->start_ns += fg_trace_start_ns(header);
	if (ended) {
		cost->switches += header->end_switches;
		cost->switches_ns += header->end_switches * header->switch_ns;
	}
}

#endif
