/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes traces in the format of trace/trace_format.h where the collector cannot: outside the
 * program, and in tests.
 *
 *	struct fg_trace_writer w = {0};
 *	fg_trace_writer_init(&w);
 *	fg_trace_writer_text(&w, FG_RECORD_NAME, 1, "event", 5);
 *	fg_trace_writer_finish(&w, &size);    // the file's bytes, valid until release
 */
#ifndef FG_TRACE_WRITER_H
#define FG_TRACE_WRITER_H

#include "base/strbuf.h"
#include "trace/trace_format.h"

enum {
	FG_TRACE_MODULE_NUMBERS = 6
};

struct fg_trace_writer {
	struct fg_strbuf file;
	struct fg_strbuf chunk; /* payload of the open chunk */
	struct fg_trace_header header;
	uint32_t thread, region, sequence;
	uint64_t base_time_ns, time_ns;
};

void fg_trace_writer_init(struct fg_trace_writer *w);
void fg_trace_writer_release(struct fg_trace_writer *w);
/* Writes a record of `count` numbers. */
void fg_trace_writer_numbers(struct fg_trace_writer *w, uint8_t kind, const uint64_t *numbers,
			     size_t count);
#define FG_TW(w, kind, ...)                                        \
 fg_trace_writer_numbers(w, kind, (const uint64_t[]){__VA_ARGS__}, \
			 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
/* Writes a record of a number (0: none) and a text. */
void fg_trace_writer_text(struct fg_trace_writer *w, uint8_t kind, uint64_t number,
			  const char *text, size_t size);
/* Writes FG_RECORD_MODULE; the first number is its id. */
void fg_trace_writer_mapping(struct fg_trace_writer *w,
			     const uint64_t numbers[FG_TRACE_MODULE_NUMBERS],
			     const uint8_t *build_id, size_t build_id_size, const char *path);
void fg_trace_writer_symbol(struct fg_trace_writer *w, uint64_t module, uint64_t start,
			    uint64_t size, const char *name);
void fg_trace_writer_sample(struct fg_trace_writer *w, uint8_t bits, uint64_t delta_ns,
			    uint64_t path, uint64_t weight_ns);
/*
 * Closes the open chunk: the next record starts a new chunk with this thread, region and base time.
 */
void fg_trace_writer_chunk(struct fg_trace_writer *w, uint32_t thread, uint32_t region,
			   uint64_t base_time_ns);
/* `size` may be NULL. */
const char *fg_trace_writer_finish(struct fg_trace_writer *w, size_t *size);

#endif
