/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling is turned on and off by a delay and a duration, by units of work, by the program itself
 * and by a control file.
 */
#ifndef FG_COLLECTOR_SAMPLING_H
#define FG_COLLECTOR_SAMPLING_H

#include "collector/sampler/state.h"

/* Does the control file turn sampling off? */
static inline bool fg_is_switched_off(void)
{
	return fg_g.control && __atomic_load_n(&fg_g.control->off, __ATOMIC_RELAXED);
}

/*
 * Returns false after fg_sampling_set(false), before the delay, after the duration, and while the
 * control file turns sampling off.
 */
bool fg_sampling_on(uint64_t now_ns);
/* Turns sampling on or off for the whole process, and records the time in the trace. */
void fg_sampling_set(bool on);

#endif
