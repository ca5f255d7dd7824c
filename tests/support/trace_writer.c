// SPDX-License-Identifier: Apache-2.0
#include "tests/support/trace_writer.h"

#include "base/hash.h"

void fg_trace_writer_module(struct fg_trace_writer *w, uint64_t id, const char *path,
			    const uint8_t *build_id, size_t build_id_size)
{
	const uint64_t numbers[FG_TRACE_MODULE_NUMBERS] = {id, 1000, 0x400000, 0x500000, 0, 0};

	fg_trace_writer_mapping(w, numbers, build_id, build_id_size, path);
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
