/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long calls take.  A call that is timed stands on a stack of its own, one a thread, from its
 * begin to its end.  A call may never come to its end: it is left by longjmp() or an exception, or
 * its stack is given up.  The next call at the same depth of the same stack or further out shows
 * that, and the unfinished one is dropped: it is counted, but not timed.
 *
 * The time that the collector itself takes is left out, also of the calls around; of a call's own
 * two looks at the clock, what the shortest of many took.
 */
#ifndef FG_COLLECTOR_CALL_TIMES_H
#define FG_COLLECTOR_CALL_TIMES_H

#include "trace/trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fg_thread;

/* The calls of one function on one call path that came to their end. */
struct fg_call_times {
	uint64_t returned;
	uint64_t total_ns;
	uint64_t own_ns;       /* without timed calls within */
	uint64_t outermost_ns; /* of those that are not within another call of the same function */
	uint64_t least_ns;
	uint64_t most_ns;
	uint64_t bins[FG_CALL_TIME_BINS];
};

/* A call that begins. */
struct fg_timed_call {
	struct fg_call_times *times; /* where its duration goes; stays where it is */
	uintptr_t sp;                /* of the caller, as it is when the call has returned */
	uintptr_t site;              /* distinguishes calls of one frame; 0: only one */
	uint32_t function;           /* index in fg_called */
};

/* The clock that durations are read from; `begin` finds out what a look at it takes. */
void fg_call_clock_begin(void);
uint64_t fg_call_clock(void);
/* False: no more calls can be open in this thread, and this one is not timed. */
bool fg_call_begin(const struct fg_thread *thread, const struct fg_timed_call *call);
/*
 * The clock of the begun call starts here: `entered` is when the collector got it.  Called without
 * a call that begins, the time counts as the collector's own all the same.
 */
void fg_call_go(const struct fg_thread *thread, uint64_t entered, bool is_timed);
/* The innermost open call of this function from there ended at `now`. */
void fg_call_end(const struct fg_thread *thread, uint32_t function, uintptr_t sp, uint64_t now);
/* Closes all open calls, when the thread ends; in a child of fork, those of all threads. */
void fg_call_times_forget(uint32_t slot);
void fg_call_times_forget_all(void);
/* Appends the durations to the record, and begins anew. */
void fg_call_times_take(struct fg_thread *writer, struct fg_call_times *times);

#endif
