/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling is switched by a delay and a duration, by units of work, by the program itself and by a
 * control file.
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
 * Returns false while the program has paused sampling, before the delay, after the duration, and
 * while the control file turns sampling off.
 */
bool fg_sampling_on(uint64_t now_ns);
/* Switches sampling for the whole process; a record in the trace holds the time. */
void fg_sampling_set(bool on);

#endif
