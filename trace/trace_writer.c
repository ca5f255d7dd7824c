// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_writer.h"

#include "base/hash.h"

enum {
	CHUNK_ROOM = 60000,
};

void fg_trace_writer_init(struct fg_trace_writer *w)
{
	*w = (struct fg_trace_writer){0};
	memcpy(w->header.magic, FG_TRACE_MAGIC, sizeof(w->header.magic));
	w->header.version = FG_TRACE_VERSION;
	w->header.header_size = FG_TRACE_HEADER_SIZE;
	w->header.state = FG_STATE_ACTIVE;
	w->header.word_bits = 64;
	w->header.elf_machine = 62;
	w->header.pid = 4242;
	w->header.clock_user = FG_CLOCK_PERF_USER;
	w->header.period_ns = 1000000;
	w->header.start_monotonic_ns = 1000;
	w->base_time_ns = 1000;
	fg_strbuf_add_repeated(&w->file, '\0', FG_TRACE_HEADER_SIZE);
}

void fg_trace_writer_release(struct fg_trace_writer *w)
{
	fg_strbuf_release(&w->file);
	fg_strbuf_release(&w->chunk);
}

static void add_varint(struct fg_strbuf *to, uint64_t value)
{
	while (value >= 0x80) {
		fg_strbuf_add_char(to, (char)(0x80 | (value & 0x7f)));
		value >>= 7;
	}
	fg_strbuf_add_char(to, (char)value);
}

static void flush(struct fg_trace_writer *w)
{
	struct fg_trace_chunk chunk = {
		.magic = FG_TRACE_CHUNK_MAGIC,
		.sequence = w->sequence++,
		.thread = w->thread,
		.region = w->region,
		.base_time_ns = w->base_time_ns,
	};
	size_t used = w->chunk.length;

	if (used == 0)
		return;
	chunk.size = (uint32_t)((sizeof(chunk) + used + FG_TRACE_ALIGN - 1) / FG_TRACE_ALIGN *
				FG_TRACE_ALIGN);
	chunk.header_crc = fg_crc32c(0, &chunk, offsetof(struct fg_trace_chunk, header_crc));
	chunk.header_crc =
		fg_crc32c(chunk.header_crc, &chunk.base_time_ns, sizeof(chunk.base_time_ns));
	chunk.commit = FG_TRACE_COMMIT(used, fg_crc32c(0, w->chunk.data, used));
	fg_strbuf_add(&w->file, &chunk, sizeof(chunk));
	fg_strbuf_add(&w->file, w->chunk.data, used);
	fg_strbuf_add_repeated(&w->file, '\0', chunk.size - sizeof(chunk) - used);
	fg_strbuf_clear(&w->chunk);
}

void fg_trace_writer_chunk(struct fg_trace_writer *w, uint32_t thread, uint32_t region,
			   uint64_t base_time_ns)
{
	flush(w);
	w->thread = thread;
	w->region = region;
	w->base_time_ns = base_time_ns;
	w->time_ns = base_time_ns;
}

static void make_room(struct fg_trace_writer *w)
{
	if (w->chunk.length > CHUNK_ROOM)
		fg_trace_writer_chunk(w, w->thread, w->region, w->time_ns);
}

static void add_text(struct fg_strbuf *to, const void *text, size_t size)
{
	add_varint(to, size);
	fg_strbuf_add(to, text, size);
}

static void add_record(struct fg_trace_writer *w, uint8_t kind, const struct fg_strbuf *payload)
{
	make_room(w);
	fg_strbuf_add_char(&w->chunk, (char)kind);
	add_varint(&w->chunk, payload->length);
	fg_strbuf_add(&w->chunk, payload->data, payload->length);
}

void fg_trace_writer_numbers(struct fg_trace_writer *w, uint8_t kind, const uint64_t *numbers,
			     size_t count)
{
	struct fg_strbuf payload = {0};

	for (size_t i = 0; i < count; i++)
		add_varint(&payload, numbers[i]);
	add_record(w, kind, &payload);
	fg_strbuf_release(&payload);
}

void fg_trace_writer_text(struct fg_trace_writer *w, uint8_t kind, uint64_t number,
			  const char *text, size_t size)
{
	struct fg_strbuf payload = {0};

	if (number)
		add_varint(&payload, number);
	add_text(&payload, text, size);
	add_record(w, kind, &payload);
	fg_strbuf_release(&payload);
}

void fg_trace_writer_mapping(struct fg_trace_writer *w,
			     const uint64_t numbers[FG_TRACE_MODULE_NUMBERS],
			     const uint8_t *build_id, size_t build_id_size, const char *path)
{
	struct fg_strbuf payload = {0};

	for (size_t i = 0; i < FG_TRACE_MODULE_NUMBERS; i++)
		add_varint(&payload, numbers[i]);
	add_text(&payload, build_id, build_id_size);
	add_text(&payload, path, strlen(path));
	add_record(w, FG_RECORD_MODULE, &payload);
	fg_strbuf_release(&payload);
}

void fg_trace_writer_symbol(struct fg_trace_writer *w, uint64_t module, uint64_t start,
			    uint64_t size, const char *name)
{
	struct fg_strbuf payload = {0};

	add_varint(&payload, module);
	add_varint(&payload, start);
	add_varint(&payload, size);
	add_text(&payload, name, strlen(name));
	add_record(w, FG_RECORD_SYMBOL, &payload);
	fg_strbuf_release(&payload);
}

void fg_trace_writer_sample(struct fg_trace_writer *w, uint8_t bits, uint64_t delta_ns,
			    uint64_t path, uint64_t weight_ns)
{
	make_room(w);
	fg_strbuf_add_char(&w->chunk,
			   (char)(FG_SAMPLE | bits | (weight_ns ? FG_SAMPLE_WEIGHT : 0)));
	add_varint(&w->chunk, delta_ns);
	add_varint(&w->chunk, path);
	if (weight_ns)
		add_varint(&w->chunk, weight_ns);
	w->time_ns += delta_ns;
}

static void seal(struct fg_trace_writer *w)
{
	const size_t start = offsetof(struct fg_trace_header, word_bits);
	const size_t end = offsetof(struct fg_trace_header, allocated);

	w->header.header_crc = fg_crc32c(0, (const char *)&w->header + start, end - start);
	memcpy(w->file.data, &w->header, sizeof(w->header));
}

const char *fg_trace_writer_finish(struct fg_trace_writer *w, size_t *size)
{
	flush(w);
	w->header.allocated = w->file.length;
	seal(w);
	if (size)
		*size = w->file.length;
	return w->file.data;
}
