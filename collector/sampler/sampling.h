/* SPDX-License-Identifier: Apache-2.0 */
/* Is sampling on?  Units of work and the program itself switch it. */
#ifndef FG_COLLECTOR_SAMPLING_H
#define FG_COLLECTOR_SAMPLING_H

#include "collector/sampler/state.h"

/* False while the program has paused it, before the delay, and after the duration. */
bool fg_sampling_on(uint64_t now_ns);
/* Switch it for the whole process; a record in the trace says when. */
void fg_sampling_set(bool on);

#endif
