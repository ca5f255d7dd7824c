// SPDX-License-Identifier: Apache-2.0
#include "profile/tick_aliasing.h"

#include "base/base.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

enum {
	CYCLES = 2,
	PLACES_MOST = 100,
	STRETCHES_LEAST = 30,
	TICK_LEAST_NS = 500000,
	TICK_MOST_NS = 20000000,
};

static const uint64_t cycles_ns[CYCLES] = {100000000, 48000000};
static const double worth_share = 0.05;
/* The least share of system time, met independently of ticks, that makes the rest of no account. */
static const double free_share = 0.75;
/* Standard deviations of chi-square, which is far from normal here, and of correlated stretches. */
static const double deviations = 8;

/* What ticks have met of a thread. */
struct rhythm {
	uint64_t last_ns;
	double system_ns;
	uint32_t stretches;
	uint16_t places[CYCLES][PLACES_MOST];
};

/* How many ticks a cycle has; 0: not a whole number, or too many. */
static unsigned places_of(uint64_t cycle_ns, uint64_t tick_ns)
{
	const double places = (double)cycle_ns / (double)tick_ns;
	const double whole = round(places);

	return whole >= 2 && whole <= PLACES_MOST && fabs(places - whole) < 0.01 * whole
		       ? (unsigned)whole
		       : 0;
}

static void meet(struct rhythm *rhythm, uint64_t time_ns, uint64_t tick_ns)
{
	const bool goes_on = rhythm->last_ns && time_ns - rhythm->last_ns < tick_ns + tick_ns / 2;

	rhythm->last_ns = time_ns;
	if (goes_on || rhythm->stretches == UINT16_MAX)
		return;
	rhythm->stretches++;
	for (unsigned c = 0; c < CYCLES; c++) {
		const unsigned places = places_of(cycles_ns[c], tick_ns);

		if (places)
			rhythm->places[c][time_ns % cycles_ns[c] * places / cycles_ns[c]]++;
	}
}

/* By chi-square: are stretches as likely to begin at one place as at another? */
static bool is_uneven(const struct rhythm *rhythm, unsigned cycle, unsigned places)
{
	const double expected = (double)rhythm->stretches / places;
	const double freedom = places - 1;
	double sum = 0;

	for (unsigned i = 0; i < places; i++) {
		const double beyond = rhythm->places[cycle][i] - expected;

		sum += beyond * beyond / expected;
	}
	return sum > freedom + deviations * sqrt(2 * freedom);
}

static bool is_aliased(const struct rhythm *rhythm, uint64_t tick_ns)
{
	if (rhythm->stretches < STRETCHES_LEAST)
		return false;
	for (unsigned c = 0; c < CYCLES; c++) {
		const unsigned places = places_of(cycles_ns[c], tick_ns);

		if (places && is_uneven(rhythm, c, places))
			return true;
	}
	return false;
}

bool fg_tick_aliasing_is_free(double kernel_ns, double system_ns)
{
	return kernel_ns > 0 && kernel_ns >= free_share * system_ns;
}

bool fg_tick_aliasing_found(const struct fg_trace *trace)
{
	const uint64_t tick_ns = trace->header.tick_ns;
	struct rhythm *rhythms = NULL;
	double total_ns = 0;
	bool found = false;

	if (trace->header.clock_system != FG_CLOCK_SYSTEM || tick_ns < TICK_LEAST_NS ||
	    tick_ns > TICK_MOST_NS || trace->sample_count < STRETCHES_LEAST)
		return false;
	if (fg_tick_aliasing_is_free((double)trace->header.kernel_ns,
				     (double)trace->header.system_ns))
		return false;
	rhythms = fg_xcalloc(trace->thread_count + 1, sizeof(rhythms[0]));
	for (size_t i = 0; i < trace->sample_count; i++) {
		const struct fg_trace_sample *sample = &trace->samples[i];
		struct rhythm *rhythm =
			&rhythms[sample->thread < trace->thread_count ? sample->thread : 0];

		total_ns += (double)sample->weight_ns;
		if (sample->clock != FG_CLOCK_SYSTEM)
			continue;
		rhythm->system_ns += (double)sample->weight_ns;
		/* What is left at the end has no stack and was met by no tick. */
		if (sample->path)
			meet(rhythm, sample->time_ns, tick_ns);
	}
	for (size_t i = 0; !found && i < trace->thread_count; i++)
		found = rhythms[i].system_ns >= worth_share * total_ns &&
			is_aliased(&rhythms[i], tick_ns);
	free(rhythms);
	return found;
}
