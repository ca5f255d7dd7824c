/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to look for system time, where the kernel lets nobody sample it.
 *
 * The timers that an ordinary user may put on a thread's CPU time expire at kernel ticks, and a
 * program can run in step with these.  So a thread that uses system time is probed by a timer on
 * elapsed time, after delays with an exponential distribution.  Such a timer has no memory: however
 * the thread runs and sleeps, the probes that find it running are a Poisson process in its CPU
 * time, so each may stand for all system time since the one before.
 *
 * Probes that find the thread asleep cost it a wake-up.  Their rate follows the share of a CPU that
 * the thread uses, so that they come about twice per period of its CPU time; after many without
 * system time they stop until a tick meets some again.
 *
 * Pure: no clock is read here.
 */
#ifndef FG_COLLECTOR_PROBE_H
#define FG_COLLECTOR_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct fg_probe {
	bool on;
	uint8_t idle;   /* probes since system time was met */
	uint32_t share; /* of a CPU, recently, in 1/65536 */
	uint64_t armed_ns;
	uint64_t armed_cpu_ns;
	uint64_t departures; /* when it was armed */
	uint64_t due_ns;     /* when the timer expires */
};

/* The thread's state when a probe's handler runs. */
struct fg_probe_moment {
	uint64_t now_ns;
	uint64_t cpu_ns;
	uint64_t departures; /* times that it has left its CPU */
};

void fg_probe_begin(struct fg_probe *probe);
/* The delay to the next probe. */
uint64_t fg_probe_arm(struct fg_probe *probe, const struct fg_probe_moment *moment, uint64_t random,
		      uint64_t period_ns);
/* Was the thread probably on a CPU when the timer expired? */
bool fg_probe_met_running(const struct fg_probe *probe, const struct fg_probe_moment *moment);
/* `hit`: system time was met.  Returns false when probing should stop. */
bool fg_probe_learn(struct fg_probe *probe, const struct fg_probe_moment *moment, bool hit);

#endif
