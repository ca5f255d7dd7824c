/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a thread, by call path, region and function. */
#ifndef FG_COLLECTOR_CALL_TABLES_H
#define FG_COLLECTOR_CALL_TABLES_H

#include "collector/calls/call_sites.h"
#include "collector/calls/call_times.h"
#include "collector/calls/call_values.h"
#include "collector/counting/path_table.h"

/* Begins like struct fg_trace_calls_row. */
struct fg_call_entry {
	struct fg_path_key key; /* its number is the function's index + 1 */
	uint32_t domains;       /* index + 1 of its first argument's statistics; 0: none */
	uint64_t calls;
	uint32_t measure;              /* its number in the trace; 0: not described yet */
	uint64_t flush_at;             /* write arguments and durations when `calls` reaches this */
	struct fg_call_times *times;   /* NULL: not timed */
	struct fg_call_values *values; /* NULL: arguments are not kept */
};

struct fg_call_table {
	struct fg_path_table entries;
	uint64_t calls; /* counted so far */
	struct fg_call_sites *sites;
	struct fg_call_domain *domains;
	uint32_t domain_count;
	struct fg_call_times *times;
	uint32_t time_count;
	struct fg_call_values *values;
	uint32_t value_count;
	uint64_t draw; /* random state that chooses the calls whose arguments are kept */
};

/* Indexed by slot, like fg_g.threads. */
extern struct fg_call_table fg_call_tables[FG_THREADS_MAX];
/*
 * Calls without a call path, indexed by function: on an unknown thread, from inside the collector,
 * or out of memory.
 */
extern _Atomic uint64_t fg_calls_unplaced[FG_CALLED_MAX];

/* Returns the thread's entry for this path and function; NULL: out of memory. */
struct fg_call_entry *fg_call_entry_get(struct fg_call_table *table, const struct fg_path_key *key);
/* Clears the tables in a child of fork, where call paths are numbered from the beginning. */
void fg_call_tables_clear(void);

/* ---- call_records.c: into the trace ---- */

/* Call for a new trace file, in which nothing is described yet. */
void fg_call_records_begin(void);
/* Writes a thread's counts, and starts again from zero. */
void fg_calls_flush(struct fg_thread *writer, uint32_t slot, uint32_t thread);
/* Describes the entry's function, so that its calls have a name after a kill. */
void fg_call_entry_describe(struct fg_thread *writer, struct fg_call_entry *entry);
/* Writes the entry's arguments and durations so far: a kill loses no more than half of them. */
void fg_call_details_flush(struct fg_thread *writer, const struct fg_call_table *table,
			   struct fg_call_entry *entry);
/* Writes the entry's kept arguments, which makes room for the arguments of another call. */
void fg_call_values_flush(struct fg_thread *writer, uint32_t thread,
			  const struct fg_call_entry *entry);
/*
 * Call at the end. Writes calls without a call path, functions that were named but never called,
 * and the result of each pattern.
 */
void fg_call_records_finish(struct fg_thread *writer);

#endif
