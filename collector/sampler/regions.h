/* SPDX-License-Identifier: Apache-2.0 */
/* Regions and units of work that the program marks (include/fastgate/region.h, or the ITT API). */
#ifndef FG_COLLECTOR_REGIONS_H
#define FG_COLLECTOR_REGIONS_H

#include "collector/sampler/state.h"

void fg_mark_region_begin(uint32_t name);
void fg_mark_region_end(void);
/* Ends the innermost region of this name, with everything begun inside it. */
void fg_region_end_name(uint32_t name);
void fg_mark_unit_begin(uint32_t name, uint64_t number);
void fg_mark_unit_end(void);
void fg_mark_pause(void);
void fg_mark_resume(void);

/* Returns the region that the thread was in at that time; only a few recent changes are kept. */
uint32_t fg_region_at(const struct fg_thread *thread, uint64_t time_ns);

/* A forked child continues inside the regions of the thread that forked. */
void fg_regions_inherit(struct fg_thread *thread, const struct fg_thread *parent);
/* Call at the thread's end: closes its unit and regions, and writes the totals of each region. */
void fg_regions_finish(struct fg_thread *thread);

#endif
