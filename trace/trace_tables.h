/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a struct fg_trace_table as values of the trace.  Only trace_read.c includes it, which
 * checks that the bytes are there.
 */
#ifndef FG_TRACE_TRACE_TABLES_H
#define FG_TRACE_TRACE_TABLES_H

#include "trace/trace_read.h"

/* Bytes of a row that are read; 0: a kind of table that is not known. */
size_t fg_trace_row_size(const struct fg_trace *trace, const struct fg_trace_table *table);
/* Call it before its rows. */
void fg_trace_begin_table(struct fg_trace *trace, const struct fg_trace_table *table);
void fg_trace_add_row(struct fg_trace *trace, const struct fg_trace_table *table,
		      const uint8_t *row);
/* When the whole file was read: what was held, and arguments so far, are valid if its process was
 * killed. */
void fg_trace_end_tables(struct fg_trace *trace);

#endif
