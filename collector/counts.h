/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is counted, by thread and call path.  Each thread has a table of its own, so two threads
 * never wait for each other; what a table holds is added to the trace from time to time and when
 * the thread or the process ends.  Only in the counting library.
 */
#ifndef FG_COLLECTOR_COUNTS_H
#define FG_COLLECTOR_COUNTS_H

#include "collector/state.h"

/* Numbered from 1 in the trace. */
enum fg_counted {
	FG_COUNT_ALLOCATIONS,
	FG_COUNT_BYTES,
	FG_COUNT_LARGEST,
	FG_COUNT_ROUNDING,
	FG_COUNT_FREES,
	FG_COUNT_KINDS,
};

struct fg_counts {
	uint64_t values[FG_COUNT_KINDS];
};

/*
 * Adds what was seen on this call path (0: unknown) in the current region, under `busy`.  Returns
 * where the probe may keep a number of its own for this path and region, 0 at first.
 */
uint32_t *fg_counts_add(struct fg_thread *thread, uint32_t path, const struct fg_counts *seen);
/* The same where no thread of ours is there to add it to. */
void fg_counts_add_unplaced(const struct fg_counts *seen);

/* What a reader should know of the counts; NULL: nothing.  Set before the trace begins. */
extern const char *fg_counts_note;

#endif
