/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the collector's own memory, so that a search of the program's memory for pointers can
 * skip it. Signal-safe.
 */
#ifndef FG_COLLECTOR_OWN_MEMORY_H
#define FG_COLLECTOR_OWN_MEMORY_H

#include "trace/trace_format.h"

#include <stddef.h>
#include <stdint.h>

/* Maps anonymous memory that is never unmapped; NULL: out of memory. */
void *fg_own_map(size_t size, int flags);
/*
 * Makes a zeroed table of counters in the trace file, or in memory if the file is full. NULL: out
 * of memory.
 */
void *fg_own_table(enum fg_trace_table_kind kind, uint32_t stride, uint32_t rows);
/*
 * If `at` is ours, returns the end of that part; otherwise 0, and *next is the start of the next
 * part, at most `end`.
 */
uintptr_t fg_own_memory_end(uintptr_t at, uintptr_t end, uintptr_t *next);

/* Returns the resident bytes in these whole pages, or their size if the kernel refuses. */
size_t fg_resident_bytes(uintptr_t begin, uintptr_t end);

#endif
