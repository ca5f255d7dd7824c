/* SPDX-License-Identifier: Apache-2.0 */
/* Between trace_read.c, which finds the chunks, and trace_records.c.  Private to trace/. */
#ifndef FG_TRACE_TRACE_RECORDS_H
#define FG_TRACE_TRACE_RECORDS_H

#include "trace/trace_read.h"

struct fg_trace_records {
	struct fg_trace *trace;
	uint64_t id_limit; /* bound on ids: each definition takes bytes */
	/* of the chunk being read */
	uint32_t thread;
	uint32_t region;
	uint64_t time_ns;
};

/* The `used` bytes of a chunk; false: they break the format. */
bool fg_trace_records_read(struct fg_trace_records *r, const struct fg_trace_chunk *chunk,
			   const uint8_t *payload, size_t used);
/* Orders what is searched, and joins what the trace has in parts. */
void fg_trace_records_settle(struct fg_trace *trace);

#endif
