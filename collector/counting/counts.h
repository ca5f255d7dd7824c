/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts by thread and call path. Each thread has its own table, so threads that count never wait
 * for each other. If there is room, the table lies in the trace file, where it survives a kill; its
 * counts become records when the thread or the process ends. Built only into the counting library.
 */
#ifndef FG_COLLECTOR_COUNTS_H
#define FG_COLLECTOR_COUNTS_H

#include "collector/sampler/sampling.h"
#include "collector/sampler/state.h"

#include <stdio.h>

enum {
	FG_COUNT_KINDS = FG_TRACE_COUNT_KINDS, /* maximum number of values per probe */
	/* groups of FG_COUNT_KINDS types of exceptions */
	FG_COUNT_TYPE_GROUPS = 6,
};

/* The tables of exception types follow the tables of the probes that FG_ENV_COUNT names. */
enum {
	FG_COUNT_TYPES = FG_COUNTER_COUNT,
	FG_COUNT_TABLES = FG_COUNT_TYPES + FG_COUNT_TYPE_GROUPS,
};

struct fg_counts {
	uint64_t values[FG_COUNT_KINDS];
};

struct fg_counted_path {
	struct fg_counts counts;
	uint32_t own; /* free for the probe to use, per path and region; initially 0 */
	uint32_t unused;
};

/* A probe. It registers itself in fg_counted[] before the collector starts. */
struct fg_counted {
	const char *names[FG_COUNT_KINDS]; /* names in the trace; model/measure.c describes them */
	void (*begin)(void);               /* called before main if the probe is to count */
	const char *note;                  /* a note for the trace, or NULL */
	void (*introduce)(struct fg_thread *writer); /* writes further names, or NULL */
	void (*forget)(void);                        /* called in a child of fork, or NULL */
};

extern struct fg_counted *fg_counted[FG_COUNT_TABLES];

/* Did the user request this counter? */
static inline bool fg_is_counted(enum fg_counter counter)
{
	return fg_g.options.counters & 1u << counter;
}

/* Is this counter counting now? */
static inline bool fg_is_counting(enum fg_counter counter)
{
	return fg_is_counted(counter) && fg_alive() &&
	       atomic_load_explicit(&fg_g.sampling, memory_order_relaxed) && !fg_is_switched_off();
}

/* Adds the values at the call path of `context`, in the current region. Keeps errno. */
void fg_counts_record(enum fg_counter counter, const ucontext_t *context,
		      const struct fg_counts *seen);

/* Names a kind that was not known when the trace began. Call under `busy`. */
void fg_counts_introduce(struct fg_thread *writer, enum fg_counter counter, unsigned kind);

/* Returns the call path of `context`; 0: unknown. Call under `busy`. */
uint32_t fg_counts_path(struct fg_thread *thread, const ucontext_t *context);
/* Like fg_counts_path(), from a call: `caller` is FG_ARCH_CALLER. */
uint32_t fg_counts_caller(struct fg_thread *thread, const struct fg_regs *caller);
/* Returns the counts of this call path. Valid until the next call. */
struct fg_counted_path *fg_counts_at(struct fg_thread *thread, enum fg_counter counter,
				     uint32_t path);
/* Adds the values on this call path. */
void fg_counts_add(struct fg_thread *thread, enum fg_counter counter, uint32_t path,
		   const struct fg_counts *seen);
/*
 * Adds the values of calls without a call path: on an unknown thread, or from inside the collector.
 */
void fg_counts_add_unplaced(enum fg_counter counter, const struct fg_counts *seen);

/* ---- io.c ---- */

/* Also counts reads and writes of this stream, whose functions may differ from stdout's. */
void fg_io_watch_stream(FILE *stream);

#endif
