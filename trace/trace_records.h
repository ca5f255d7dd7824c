/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between trace_read.c, which finds the chunks, and trace_records.c. Private to
 * trace/.
 */
#ifndef FG_TRACE_TRACE_RECORDS_H
#define FG_TRACE_TRACE_RECORDS_H

#include "trace/trace_read.h"

struct fg_trace_records {
	struct fg_trace *trace;
	uint64_t id_limit; /* highest id: each definition occupies bytes of the file */
	/* state of the chunk being read */
	uint32_t thread;
	uint32_t region;
	uint64_t time_ns;
};

/* Reads the `used` bytes of a chunk; false: they break the format. */
bool fg_trace_records_read(struct fg_trace_records *r, const struct fg_trace_chunk *chunk,
			   const uint8_t *payload, size_t used);
/* Sorts the tables that are searched, and joins line tables that the trace has in parts. */
void fg_trace_records_settle(struct fg_trace *trace);

/* ---- trace_tables.c ---- */

/* Returns how many bytes of a row are read; 0: an unknown kind of table. */
size_t fg_trace_row_size(const struct fg_trace *trace, const struct fg_trace_table *table);
/* Call before fg_trace_add_row() for its rows. */
void fg_trace_begin_table(struct fg_trace *trace, const struct fg_trace_table *table);
void fg_trace_add_row(struct fg_trace *trace, const struct fg_trace_table *table,
		      const uint8_t *row);
/*
 * Call when the whole file has been read. Keeps tables of sites, and statistics so far, only if the
 * process was killed.
 */
void fg_trace_end_tables(struct fg_trace *trace);

#endif
