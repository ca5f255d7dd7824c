/* SPDX-License-Identifier: Apache-2.0 */
/* Is sampling on?  Units of work, the program itself and a control file switch it. */
#ifndef FG_COLLECTOR_SAMPLING_H
#define FG_COLLECTOR_SAMPLING_H

#include "collector/sampler/state.h"

/* Does the user's control file say so? */
static inline bool fg_is_switched_off(void)
{
	return fg_g.control && __atomic_load_n(&fg_g.control->off, __ATOMIC_RELAXED);
}

/*
 * False while the program has paused it, before the delay, after the duration, and while the
 * control file says so.
 */
bool fg_sampling_on(uint64_t now_ns);
/* Switch it for the whole process; a record in the trace says when. */
void fg_sampling_set(bool on);

#endif
