/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations of calls. A timed call is kept on a separate stack of its thread from its start to its
 * end.  A call may never end: longjmp() or an exception leaves it, or its stack is abandoned. The
 * next call at the same depth of the same stack, or further out, reveals that, and the unfinished
 * call is dropped: it is counted, but not timed.
 *
 * The collector's own time is subtracted from each call and from the calls around it. The clock
 * readings of a timed call also take time: the shortest time of a reading, measured in advance, is
 * subtracted.
 */
#ifndef FG_COLLECTOR_CALL_TIMES_H
#define FG_COLLECTOR_CALL_TIMES_H

#include "trace/trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fg_thread;

/* The finished calls of one function on one call path. */
struct fg_call_times {
	uint64_t returned;
	uint64_t total_ns;
	uint64_t own_ns;       /* time without nested timed calls */
	uint64_t outermost_ns; /* time of calls not nested in another call of the same function */
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t bins[FG_CALL_TIME_BINS];
};

/* A timed call, at its start. */
struct fg_timed_call {
	struct fg_call_times *times; /* collects its duration; does not move */
	uintptr_t sp;                /* stack pointer of the caller after the return */
	/* distinguishes calls of one frame; 0: the frame has one call */
	uintptr_t site;
	uint32_t function; /* index in fg_called */
};

/* The clock for durations; fg_call_clock_begin() measures the cost of a reading. */
void fg_call_clock_begin(void);
uint64_t fg_call_clock(void);
/*
 * Returns false if the call is not timed because too many timed calls are open in this thread, or
 * there is no memory.
 */
bool fg_call_begin(const struct fg_thread *thread, const struct fg_timed_call *call);
/*
 * The time since `entered`, when the thread entered the collector, counts as the collector's own.
 * If `is_timed`, starts the clock of the call that fg_call_begin() has put on the stack.
 */
void fg_call_go(const struct fg_thread *thread, uint64_t entered, bool is_timed);
/* Ends the innermost open call of `function` whose caller has the stack pointer `sp`, at `now`. */
void fg_call_end(const struct fg_thread *thread, uint32_t function, uintptr_t sp, uint64_t now);
/* Drops all open calls of a thread that ends, or of all threads in a child of fork. */
void fg_call_times_forget(uint32_t slot);
void fg_call_times_forget_all(void);
/* Appends the durations to the record, and clears them. */
void fg_call_times_take(struct fg_thread *writer, struct fg_call_times *times);

#endif
