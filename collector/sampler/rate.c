// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/rate.h"

#include "collector/process/threads.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/kernel.h"
#include "collector/sampler/writer.h"

enum {
	/* divisor: the return to the program costs 1/8 of the entry into the kernel */
	RETURN_PART = 8,
	MAX_TIMES = 4,    /* a sample that took more than this many medians had lost its CPU */
	FASTER_TIMES = 2, /* shortens the period at most by this factor */
	HARDLY_PART = 8,  /* divisor: a smaller change of the period is ignored */
	/* CPU time between two measured samples, after the first FG_RATE_KEPT */
	MEASURED_EVERY_NS = 100000000,
	START_SPREAD_NS = 250000000, /* shortest CPU time over which the start's cost is spread */
};

void fg_rate_add(struct fg_rate_costs *costs, const struct fg_rate_sample *sample)
{
	costs->samples[costs->measured++ % FG_RATE_KEPT] = *sample;
}

static uint64_t median(const uint64_t *values, uint32_t count)
{
	uint64_t sorted[FG_RATE_KEPT];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = i;

		for (; at > 0 && sorted[at - 1] > values[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = values[i];
	}
	return sorted[count / 2];
}

static uint64_t mean(const uint64_t *values, uint32_t count)
{
	const uint64_t max_ns = MAX_TIMES * median(values, count);
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < count; i++)
		sum_ns += values[i] < max_ns ? values[i] : max_ns;
	return sum_ns / count;
}

struct fg_rate_sample fg_rate_mean(const struct fg_rate_costs *costs)
{
	const uint32_t count = costs->measured < FG_RATE_KEPT ? costs->measured : FG_RATE_KEPT;
	struct fg_rate_sample result = {0};
	uint64_t signals[FG_RATE_KEPT];
	uint64_t handlers[FG_RATE_KEPT];

	if (count == 0)
		return result;
	result.restart_ns = UINT64_MAX;
	for (uint32_t i = 0; i < count; i++) {
		signals[i] = costs->samples[i].signal_ns;
		handlers[i] = costs->samples[i].handler_ns;
		if (costs->samples[i].restart_ns < result.restart_ns)
			result.restart_ns = costs->samples[i].restart_ns;
	}
	result.signal_ns = mean(signals, count);
	result.handler_ns = mean(handlers, count);
	result.signal_ns += result.signal_ns / RETURN_PART;
	return result;
}

uint64_t fg_rate_next_ns(const struct fg_sample_cost *cost, uint64_t budget, uint64_t period_ns)
{
	uint64_t next_ns = fg_sample_cost_period_ns(cost, budget);
	const uint64_t min_ns = period_ns / FASTER_TIMES;
	const uint64_t hardly_ns = period_ns / HARDLY_PART;

	if (next_ns < min_ns)
		next_ns = min_ns;
	return next_ns + hardly_ns < period_ns || next_ns > period_ns + hardly_ns ? next_ns
										  : period_ns;
}

/* ---- in the program ---- */

static uint64_t read_counter(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Returns the totals so far. */
static struct fg_sample_cost totals(const struct fg_trace_header *header)
{
	struct fg_process_use now = {0};

	fg_process_used(&now);
	return (struct fg_sample_cost){
		.cpu_ns = now.user_ns + now.system_ns - fg_g.begin.user_ns - fg_g.begin.system_ns,
		.samples = read_counter(&header->samples),
		.switches = now.switches - fg_g.begin.switches,
		.start_ns = fg_trace_start_ns(header),
	};
}

/* Returns the cost since the period was last set, with a proportional share of the start. */
static struct fg_sample_cost cost_since(const struct fg_rate *rate,
					const struct fg_trace_header *header,
					const struct fg_sample_cost *now, uint64_t interrupts)
{
	const struct fg_sample_cost *before = &rate->before;
	struct fg_sample_cost cost = {
		.cpu_ns = now->cpu_ns - before->cpu_ns,
		.samples = now->samples - before->samples,
		.switches = now->switches - before->switches,
	};

	cost.signals_ns =
		header->signal_ns *
		(cost.samples + (interrupts - rate->interrupts_before) / FG_INTERRUPT_PART);
	cost.handlers_ns = header->handler_cpu_ns * cost.samples;
	cost.switches_ns = header->switch_ns * cost.switches;
	cost.start_ns = now->start_ns * cost.cpu_ns /
			(now->cpu_ns > START_SPREAD_NS ? now->cpu_ns : START_SPREAD_NS);
	return cost;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): stored to */
static void set_relaxed(uint64_t *where, uint64_t value)
{
	__atomic_store_n(where, value, __ATOMIC_RELAXED);
}

static void adapt(struct fg_thread *thread, struct fg_trace_header *header)
{
	struct fg_rate *rate = &fg_g.rate;
	const uint64_t period_ns = atomic_load(&fg_g.period_ns);

	fg_kernel_count_interrupts(thread);
	const struct fg_sample_cost now = totals(header);
	const uint64_t interrupts = read_counter(&header->kernel_interrupts);
	const struct fg_sample_cost cost = cost_since(rate, header, &now, interrupts);

	atomic_store(&fg_g.period_ns, fg_rate_next_ns(&cost, fg_g.options.budget, period_ns));
	rate->before = now;
	rate->interrupts_before = interrupts;
}

void fg_rate_learn(struct fg_thread *thread)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);
	struct fg_thread_clocks *clocks = &thread->clocks;
	struct fg_rate *rate = &fg_g.rate;
	struct fg_rate_sample sample = {.signal_ns = clocks->late_ns,
					.restart_ns = clocks->restart_ns};

	clocks->late_ns = 0;
	if (!sample.signal_ns || !header || fg_g.sandboxed || atomic_exchange(&rate->busy, 1))
		return;
	sample.handler_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID) - clocks->sample_cpu_ns;
	fg_rate_add(&rate->costs, &sample);
	sample = fg_rate_mean(&rate->costs);
	set_relaxed(&header->signal_ns, sample.signal_ns);
	set_relaxed(&header->handler_cpu_ns, sample.handler_ns);
	set_relaxed(&header->switch_ns, sample.restart_ns);
	if (fg_g.options.budget)
		adapt(thread, header);
	atomic_store(&rate->busy, 0);
}

static bool is_to_be_measured(struct fg_thread_clocks *clocks)
{
	clocks->unmeasured++;
	return fg_g.rate.costs.measured < FG_RATE_KEPT ||
	       clocks->unmeasured * clocks->period_ns >= MEASURED_EVERY_NS;
}

void fg_rate_look(struct fg_thread *thread)
{
	struct fg_thread_clocks *clocks = &thread->clocks;

	if (clocks->due_cpu_ns) {
		clocks->sample_cpu_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		/* The clock may have expired in the kernel before, without a signal. */
		clocks->late_ns =
			clocks->sample_cpu_ns > clocks->due_cpu_ns
				? (clocks->sample_cpu_ns - clocks->due_cpu_ns) % clocks->period_ns
				: 0;
		clocks->due_cpu_ns = 0;
	}
	if (clocks->unsettled || clocks->period_ns != atomic_load(&fg_g.period_ns) ||
	    is_to_be_measured(clocks))
		fg_thread_settle(thread);
}
