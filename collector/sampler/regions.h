/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions and units of work, as the program marks them (include/fastgate/region.h, or the ITT API).
 */
#ifndef FG_COLLECTOR_REGIONS_H
#define FG_COLLECTOR_REGIONS_H

#include "collector/sampler/state.h"

void fg_mark_region_begin(uint32_t name);
void fg_mark_region_end(void);
/* End the innermost region of this name, and with it what was begun inside and not ended. */
void fg_region_end_name(uint32_t name);
void fg_mark_unit_begin(uint32_t name, uint64_t number);
void fg_mark_unit_end(void);
void fg_mark_pause(void);
void fg_mark_resume(void);

/* The region that the thread was in at that time, of which it has seen few since. */
uint32_t fg_region_at(const struct fg_thread *thread, uint64_t time_ns);

/* A forked child goes on inside the regions of the thread that forked. */
void fg_regions_inherit(struct fg_thread *thread, const struct fg_thread *parent);
/* The thread ends: close its unit, write how often and how long it was in each region. */
void fg_regions_finish(struct fg_thread *thread);

#endif
