// SPDX-License-Identifier: Apache-2.0
#include "tests/support/trace_writer.h"

#include "base/hash.h"

void fg_trace_writer_module(struct fg_trace_writer *w, uint64_t id, const char *path,
			    const uint8_t *build_id, size_t build_id_size)
{
	const uint64_t numbers[FG_TRACE_MODULE_NUMBERS] = {id, 1000, 0x400000, 0x500000, 0, 0};

	fg_trace_writer_mapping(w, numbers, build_id, build_id_size, path);
}

static void add_small(struct fg_strbuf *to, uint64_t number)
{
	FG_ASSERT(number < 128);
	fg_strbuf_add_char(to, (char)number);
}

void fg_trace_writer_texts(struct fg_trace_writer *w, uint8_t kind, const uint64_t numbers[2],
			   const char *first, const char *second)
{
	add_small(&w->chunk, kind);
	add_small(&w->chunk, 4 + strlen(first) + strlen(second));
	add_small(&w->chunk, numbers[0]);
	add_small(&w->chunk, numbers[1]);
	add_small(&w->chunk, strlen(first));
	fg_strbuf_add_text(&w->chunk, first);
	add_small(&w->chunk, strlen(second));
	fg_strbuf_add_text(&w->chunk, second);
}

void fg_trace_writer_gap(struct fg_trace_writer *w)
{
	fg_trace_writer_chunk(w, w->thread, w->region, w->base_time_ns);
	fg_strbuf_add_repeated(&w->file, '\0', FG_TRACE_ALIGN);
}

void fg_trace_writer_seal(struct fg_trace_writer *w)
{
	const size_t start = offsetof(struct fg_trace_header, word_bits);
	const size_t end = offsetof(struct fg_trace_header, allocated);

	w->header.header_crc = fg_crc32c(0, (const char *)&w->header + start, end - start);
	memcpy(w->file.data, &w->header, sizeof(w->header));
}
