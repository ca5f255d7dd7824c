// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/probe.h"

enum {
	WHOLE = 1 << 16,    /* a share of 1 */
	SHARE_LEAST = 1024, /* so that the longest mean delay is 32 periods */
	MEMORY = 64,        /* probes that the share is averaged over */
	IDLE_MOST = 64,     /* probes without system time */
	MEAN_LEAST = 250000 /* ns, whatever the period */
};

/* A handler may be that late for the sake of the interrupted call alone. */
static const uint64_t late_ns = 100000;

void fg_probe_begin(struct fg_probe *probe)
{
	*probe = (struct fg_probe){.on = true, .share = WHOLE};
}

/* -log2 of a uniform number, with 48 fractional bits, accurate to half a per cent. */
static uint64_t negative_log2(uint64_t random)
{
	const unsigned zeros = random ? (unsigned)__builtin_clzll(random) : 63;
	/* The fraction f of 1 + f, 32 bits. */
	const uint64_t f = (random << zeros << 1) >> 32;
	/* log2(1 + f) is about f + 0.3437 f (1 - f). */
	const uint64_t bend = ((f * ((UINT64_C(1) << 32) - f)) >> 32) * 88 >> 8;

	return ((uint64_t)(zeros + 1) << 32) - (f + bend);
}

uint64_t fg_probe_arm(struct fg_probe *probe, const struct fg_probe_moment *moment, uint64_t random,
		      uint64_t period_ns)
{
	const uint64_t twice = 2 * (uint64_t)probe->share;
	uint64_t mean_ns = period_ns * WHOLE / (twice < WHOLE ? twice : WHOLE);

	if (mean_ns < MEAN_LEAST)
		mean_ns = MEAN_LEAST;
	/* ln 2 is 177/256 and a little. */
	const uint64_t unit_ns = mean_ns * 1774 / 2560;
	const uint64_t delay_ns = 1 + ((negative_log2(random) >> 8) * unit_ns >> 24);

	probe->armed_ns = moment->now_ns;
	probe->armed_cpu_ns = moment->cpu_ns;
	probe->departures = moment->departures;
	probe->due_ns = moment->now_ns + delay_ns;
	return delay_ns;
}

/*
 * A thread may have slept or waited for a CPU when its timer expired, and is then found where it
 * went on.  In that case it was off the CPU for most of the time by which the handler is late.
 */
bool fg_probe_met_running(const struct fg_probe *probe, const struct fg_probe_moment *moment)
{
	const uint64_t elapsed_ns = moment->now_ns - probe->armed_ns;
	const uint64_t cpu_ns = moment->cpu_ns - probe->armed_cpu_ns;
	const uint64_t off_ns = elapsed_ns > cpu_ns ? elapsed_ns - cpu_ns : 0;
	const uint64_t lag_ns = moment->now_ns > probe->due_ns ? moment->now_ns - probe->due_ns : 0;

	return moment->departures == probe->departures || lag_ns < late_ns || off_ns < lag_ns / 2;
}

bool fg_probe_learn(struct fg_probe *probe, const struct fg_probe_moment *moment, bool hit)
{
	const uint64_t elapsed_ns = moment->now_ns - probe->armed_ns + 1;
	uint64_t share = (moment->cpu_ns - probe->armed_cpu_ns) * WHOLE / elapsed_ns;

	if (share > WHOLE)
		share = WHOLE;
	probe->share = (uint32_t)(((uint64_t)probe->share * (MEMORY - 1) + share) / MEMORY);
	if (probe->share < SHARE_LEAST)
		probe->share = SHARE_LEAST;
	probe->idle = hit ? 0 : (uint8_t)(probe->idle + 1);
	probe->on = probe->idle < IDLE_MOST;
	return probe->on;
}
