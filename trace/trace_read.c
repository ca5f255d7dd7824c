// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_read.h"

#include "base/base.h"
#include "base/byte_source.h"
#include "base/hash.h"
#include "trace/trace_tables.h"

#include <math.h>

/* A window on the source, so a huge or sparse file costs only its contents. */
struct window {
	struct fg_source source;
	uint64_t end; /* nothing is read ahead behind it: a trace is a small part of its file */
	uint8_t *block;
	uint64_t block_start;
	size_t block_size;
};

enum {
	BLOCK_SIZE = 4 << 20
};

struct reader {
	struct fg_trace *trace;
	struct window window;
	const char *name;
	uint64_t id_limit; /* bound on ids: each definition takes bytes */
	/* of the chunk being read */
	uint32_t thread;
	uint32_t region;
	uint64_t time_ns;
};

/*
 * Bytes of one record or chunk. After the first read past the end, `failed` is set and everything
 * reads as 0.
 */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

/* --------------------------------------------------------------------- bytes */

/*
 * `size` bytes at `offset`, or NULL when the file does not have them.  Valid until the next call.
 */
static const uint8_t *bytes_at(struct window *window, uint64_t offset, size_t size)
{
	const struct fg_source *source = &window->source;

	if (offset > source->size || size > source->size - offset || size > BLOCK_SIZE)
		return NULL;
	if (source->memory)
		return source->memory + offset;
	if (offset < window->block_start ||
	    offset + size > window->block_start + window->block_size) {
		uint64_t ahead = window->end > offset + size ? window->end - offset : size;
		size_t wanted = ahead < BLOCK_SIZE ? (size_t)ahead : BLOCK_SIZE;

		window->block_size = 0;
		if (!fg_source_read(source, offset, window->block, wanted))
			return NULL;
		window->block_start = offset;
		window->block_size = wanted;
	}
	return window->block + (offset - window->block_start);
}

static uint64_t take_varint(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70 && c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->failed = true;
	c->at = c->end;
	return 0;
}

static uint32_t take_u32(struct cursor *c)
{
	uint64_t value = take_varint(c);

	if (value > UINT32_MAX)
		c->failed = true;
	return (uint32_t)value;
}

static const uint8_t *take_bytes(struct cursor *c, size_t *size)
{
	uint64_t length = take_varint(c);
	const uint8_t *start = c->at;

	if (c->failed || length > FG_TRACE_TEXT_MAX || length > (size_t)(c->end - c->at)) {
		c->failed = true;
		*size = 0;
		return start;
	}
	c->at += length;
	*size = (size_t)length;
	return start;
}

/* NULs inside become blanks: an argument vector reads as a command. */
static const char *take_text(struct reader *r, struct cursor *c)
{
	size_t size;
	const uint8_t *bytes = take_bytes(c, &size);
	char *text;

	while (size > 0 && bytes[size - 1] == '\0')
		size--;
	text = fg_arena_alloc(&r->trace->arena, size + 1);
	for (size_t i = 0; i < size; i++)
		text[i] = (char)(bytes[i] ? bytes[i] : (uint8_t)' ');
	return text;
}

/* ---------------------------------------------------------------- the tables */

/* The table with room for `id`; elements between are zero, that is, not defined. */
static void *reach(void *items, size_t *count, size_t *capacity, uint64_t id, size_t size)
{
	if (id < *count)
		return items;
	items = fg_grow(items, capacity, (size_t)id + 1, size);
	memset((char *)items + *count * size, 0, ((size_t)id + 1 - *count) * size);
	*count = (size_t)id + 1;
	return items;
}

#define REACH(trace, what, id)                                                                  \
 ((trace)->what##s = reach((trace)->what##s, &(trace)->what##_count, &(trace)->what##_capacity, \
			   id, sizeof((trace)->what##s[0])),                                    \
  &(trace)->what##s[id])

#define APPEND(trace, what) (REACH(trace, what, (trace)->what##_count) - 1)

static uint64_t take_id(struct reader *r, struct cursor *c)
{
	uint64_t id = take_varint(c);

	if (id == 0 || id > r->id_limit)
		c->failed = true;
	return c->failed ? 0 : id;
}

static void read_frame(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	uint64_t module = take_varint(c);
	uint64_t offset = take_varint(c);
	uint64_t flags = take_varint(c);

	if (module > FG_TRACE_MODULES_MAX)
		c->failed = true;
	if (!c->failed)
		*REACH(r->trace, frame, id) = (struct fg_trace_address){
			.module = (uint32_t)module,
			.offset = offset,
			.exact = (flags & FG_FRAME_EXACT) != 0,
			.defined = true,
		};
}

static void read_path(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	uint32_t parent = take_u32(c);
	uint32_t frame = take_u32(c);
	uint32_t left_out = frame == 0 ? take_u32(c) : 0;

	if (!c->failed)
		*REACH(r->trace, path, id) = (struct fg_trace_path){
			.parent = parent, .frame = frame, .left_out = left_out, .defined = true};
}

static void read_module(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	struct fg_trace_module module = {.defined = true};
	const uint8_t *build_id;

	module.time_ns = take_varint(c);
	module.start = take_varint(c);
	module.end = take_varint(c);
	module.bias = take_varint(c);
	module.flags = take_u32(c);
	build_id = take_bytes(c, &module.build_id_size);
	module.path = take_text(r, c);
	if (c->failed || id > FG_TRACE_MODULES_MAX || module.build_id_size > 64) {
		c->failed = true;
		return;
	}
	module.build_id = fg_arena_memdup(&r->trace->arena, build_id, module.build_id_size);
	module.is_python = REACH(r->trace, module, id)->is_python;
	r->trace->modules[id] = module;
}

static void read_thread_begin(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	uint32_t tid = take_u32(c);
	uint64_t time_ns = take_varint(c);
	uint32_t kind = take_u32(c);
	uint32_t clock = take_u32(c);
	struct fg_trace_thread *thread;

	if (c->failed)
		return;
	thread = REACH(r->trace, thread, id);
	thread->tid = tid;
	thread->start_ns = time_ns;
	thread->kind = kind;
	thread->clock = clock;
	thread->defined = true;
	r->thread = (uint32_t)id;
}

static void read_thread_end(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	uint64_t time_ns = take_varint(c);
	uint64_t user_ns = take_varint(c);
	uint64_t system_ns = take_varint(c);
	struct fg_trace_thread *thread;

	if (c->failed)
		return;
	thread = REACH(r->trace, thread, id);
	thread->end_ns = time_ns;
	thread->user_ns = user_ns;
	thread->system_ns = system_ns;
}

static void read_thread_name(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const char *name = take_text(r, c);

	if (!c->failed)
		REACH(r->trace, thread, id)->name = name;
}

static void read_name(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const char *name = take_text(r, c);

	if (!c->failed)
		*REACH(r->trace, name, id) = name;
}

static void read_region(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	uint32_t parent = take_u32(c);
	uint32_t name = take_u32(c);

	if (!c->failed)
		*REACH(r->trace, region, id) =
			(struct fg_trace_region){.parent = parent, .name = name, .defined = true};
}

/* The time may be missing. */
static void read_region_set(struct reader *r, struct cursor *c)
{
	uint32_t region = take_u32(c);
	uint64_t time_ns = c->at < c->end ? take_varint(c) : 0;

	if (c->failed)
		return;
	r->region = region;
	*APPEND(r->trace, change) = (struct fg_trace_region_change){
		.thread = r->thread, .region = region, .time_ns = time_ns};
}

static void read_region_times(struct reader *r, struct cursor *c)
{
	struct fg_trace_region_times times = {0};

	times.thread = take_u32(c);
	times.region = take_u32(c);
	times.count = take_varint(c);
	times.wall_ns = take_varint(c);
	if (!c->failed)
		*APPEND(r->trace, time) = times;
}

static void read_unit(struct reader *r, struct cursor *c, bool begin)
{
	struct fg_trace_unit_mark mark = {.begin = begin};

	mark.thread = take_u32(c);
	mark.name = take_u32(c);
	mark.number = take_varint(c);
	mark.time_ns = take_varint(c);
	if (!c->failed)
		*APPEND(r->trace, mark) = mark;
}

static void read_unit_begin(struct reader *r, struct cursor *c)
{
	read_unit(r, c, true);
}

static void read_unit_end(struct reader *r, struct cursor *c)
{
	read_unit(r, c, false);
}

static void read_measure(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const char *name = take_text(r, c);
	const char **known = NULL;

	if (c->failed)
		return;
	known = REACH(r->trace, measure, id);
	/* What could not be told stays so, whichever chunk comes first. */
	if (!*known || **known)
		*known = name;
}

static void read_values(struct reader *r, struct cursor *c, uint32_t state)
{
	struct fg_trace_value value = {.state = state};

	value.thread = take_u32(c);
	value.region = take_u32(c);
	value.path = take_u32(c);
	while (c->at < c->end && !c->failed) {
		value.measure = take_u32(c);
		value.value = take_varint(c);
		if (!c->failed)
			*APPEND(r->trace, value) = value;
	}
}

static void read_counts(struct reader *r, struct cursor *c)
{
	read_values(r, c, 0);
}

static void read_held(struct reader *r, struct cursor *c)
{
	read_values(r, c, take_u32(c));
}

static void read_held_end(struct reader *r, struct cursor *c)
{
	const uint32_t state = take_u32(c);

	if (!c->failed && state > r->trace->last_state)
		r->trace->last_state = state;
	c->at = c->end;
}

static void read_held_at(struct reader *r, struct cursor *c)
{
	struct fg_trace_held held = {0};

	held.state = take_u32(c);
	held.time_ns = take_varint(c);
	held.bytes = take_varint(c);
	held.most = take_varint(c);
	held.dump = take_u32(c);
	if (!c->failed)
		*APPEND(r->trace, held) = held;
}

static void read_resident(struct reader *r, struct cursor *c)
{
	struct fg_trace_resident resident = {0};

	resident.state = take_u32(c);
	resident.is_at_end = take_u32(c) != 1;
	resident.time_ns = take_varint(c);
	resident.held = take_varint(c);
	resident.bytes = take_varint(c);
	resident.name = take_text(r, c);
	if (!c->failed)
		*APPEND(r->trace, resident) = resident;
}

static void read_caught(struct reader *r, struct cursor *c)
{
	struct fg_trace_caught caught = {0};

	caught.thrown_path = take_u32(c);
	caught.caught_path = take_u32(c);
	caught.measure = take_u32(c);
	caught.is_again = take_u32(c) != 0;
	caught.count = take_varint(c);
	if (!c->failed)
		*APPEND(r->trace, caught) = caught;
}

static void read_pattern(struct reader *r, struct cursor *c)
{
	struct fg_trace_pattern pattern = {0};

	pattern.is_reached = take_varint(c) != 0;
	pattern.unresolved = take_varint(c);
	pattern.text = take_text(r, c);
	pattern.library = take_text(r, c);
	if (take_varint(c))
		pattern.exported_by = take_text(r, c);
	pattern.is_unsigned = c->at < c->end && take_varint(c) != 0;
	pattern.is_untimed = c->at < c->end && take_varint(c) != 0;
	pattern.is_overloaded = c->at < c->end && take_varint(c) != 0;
	if (!c->failed)
		*APPEND(r->trace, pattern) = pattern;
}

static void read_signature(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const char *text = take_text(r, c);

	if (!c->failed)
		*REACH(r->trace, signature, id) = text;
}

static void read_call_ways(struct reader *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const uint32_t ways = take_u32(c);

	if (!c->failed)
		*REACH(r->trace, way, id) = ways;
}

static void read_entries(struct reader *r, struct cursor *c)
{
	struct fg_trace_refusal refusal = {.names = ""};

	refusal.reason = take_varint(c);
	refusal.functions = take_varint(c);
	while (c->at < c->end && !c->failed) {
		const char *name = take_text(r, c);

		if (!c->failed)
			refusal.names = *refusal.names ? fg_arena_printf(&r->trace->arena, "%s, %s",
									 refusal.names, name)
						       : name;
	}
	if (!c->failed)
		*APPEND(r->trace, refusal) = refusal;
}

static double take_double(struct cursor *c)
{
	const uint64_t bits = take_varint(c);
	double value = 0;

	memcpy(&value, &bits, sizeof(value));
	return isfinite(value) ? value : 0;
}

static void read_domain_as(struct reader *r, struct cursor *c, bool is_so_far)
{
	struct fg_trace_domain domain = {.is_so_far = is_so_far};
	uint64_t *const numbers[] = {&domain.values,    &domain.zeros,      &domain.negatives,
				     &domain.denormals, &domain.infinities, &domain.nans,
				     &domain.repeats};

	domain.thread = take_u32(c);
	domain.region = take_u32(c);
	domain.path = take_u32(c);
	domain.measure = take_u32(c);
	domain.argument = take_u32(c);
	for (size_t i = 0; i < FG_ARRAY_SIZE(numbers); i++)
		*numbers[i] = take_varint(c);
	domain.least = take_double(c);
	domain.most = take_double(c);
	domain.sum = take_double(c);
	while (c->at < c->end && !c->failed) {
		const uint32_t bin = take_u32(c);
		const uint64_t count = take_varint(c);

		if (bin < FG_DOMAIN_BINS)
			domain.bins[bin] = count;
	}
	if (!c->failed)
		*APPEND(r->trace, domain) = domain;
}

static void read_domain(struct reader *r, struct cursor *c)
{
	read_domain_as(r, c, false);
}

static void read_domain_so_far(struct reader *r, struct cursor *c)
{
	read_domain_as(r, c, true);
}

static void read_call_times(struct reader *r, struct cursor *c)
{
	struct fg_trace_call_times times = {0};
	uint64_t *const numbers[] = {&times.returned, &times.total_ns, &times.own_ns,
				     &times.least_ns, &times.most_ns};

	times.thread = take_u32(c);
	times.region = take_u32(c);
	times.path = take_u32(c);
	times.measure = take_u32(c);
	for (size_t i = 0; i < FG_ARRAY_SIZE(numbers); i++)
		*numbers[i] = take_varint(c);
	while (c->at < c->end && !c->failed) {
		const uint32_t bin = take_u32(c);
		const uint64_t count = take_varint(c);

		if (bin < FG_CALL_TIME_BINS)
			times.bins[bin] = count;
	}
	if (!c->failed)
		*APPEND(r->trace, call_time) = times;
}

static void read_call_values(struct reader *r, struct cursor *c)
{
	struct fg_trace_call_values values = {0};
	const uint8_t *bytes = NULL;

	values.thread = take_u32(c);
	(void)take_u32(c); /* region */
	values.path = take_u32(c);
	values.measure = take_u32(c);
	values.columns = take_u32(c);
	values.rows = take_u32(c);
	bytes = take_bytes(c, &values.size);
	/* A value takes a byte at least. */
	if (values.columns == 0 || values.columns > FG_VALUES_COLUMNS_MAX ||
	    values.rows > values.size / values.columns)
		c->failed = true;
	if (c->failed)
		return;
	values.bytes = fg_arena_memdup(&r->trace->arena, bytes, values.size);
	*APPEND(r->trace, call_value) = values;
}

static void read_symbol(struct reader *r, struct cursor *c)
{
	struct fg_trace_symbol symbol = {0};

	symbol.module = take_u32(c);
	symbol.start = take_varint(c);
	symbol.size = take_varint(c);
	symbol.name = take_text(r, c);
	if (!c->failed)
		*APPEND(r->trace, symbol) = symbol;
}

static int by_module_and_start(const void *left, const void *right)
{
	const struct fg_trace_symbol *a = left;
	const struct fg_trace_symbol *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

static void read_python(struct reader *r, struct cursor *c)
{
	const uint64_t id = take_id(r, c);
	const uint64_t version = take_varint(c);

	if (id > FG_TRACE_MODULES_MAX)
		c->failed = true;
	if (c->failed)
		return;
	REACH(r->trace, module, id)->is_python = true;
	r->trace->python_version = version;
}

static void read_python_code(struct reader *r, struct cursor *c)
{
	const uint64_t id = take_id(r, c);
	struct fg_trace_code code = {.line = take_u32(c)};

	code.name = take_text(r, c);
	code.file = take_text(r, c);
	if (!c->failed)
		*REACH(r->trace, code, id) = code;
}

static void read_python_lines(struct reader *r, struct cursor *c)
{
	struct fg_trace_code_lines part = {.code = (uint32_t)take_id(r, c)};
	const uint8_t *bytes = NULL;

	part.position = take_varint(c);
	bytes = take_bytes(c, &part.size);
	if (c->failed)
		return;
	part.bytes = fg_arena_memdup(&r->trace->arena, bytes, part.size);
	*APPEND(r->trace, code_line) = part;
}

static void read_python_frame(struct reader *r, struct cursor *c)
{
	const uint64_t id = take_id(r, c);
	struct fg_trace_address frame = {.code = (uint32_t)take_id(r, c), .defined = true};

	frame.offset = take_u32(c);
	if (!c->failed)
		*REACH(r->trace, frame, id) = frame;
}

static void read_exe(struct reader *r, struct cursor *c)
{
	r->trace->executable = take_text(r, c);
}

static void read_command(struct reader *r, struct cursor *c)
{
	r->trace->command = take_text(r, c);
}

static void read_jit_dump(struct reader *r, struct cursor *c)
{
	(void)take_varint(c); /* when it was found */
	r->trace->jit_dump = take_text(r, c);
}

static void read_note(struct reader *r, struct cursor *c)
{
	const char *text = take_text(r, c);

	if (!c->failed)
		*APPEND(r->trace, note) = text;
}

/*
 * Known and not needed: modules have start and end, and the samples show switching.
 */
static void skip(struct reader *r, struct cursor *c)
{
	(void)r;
	c->at = c->end;
}

static void (*const readers[])(struct reader *, struct cursor *) = {
	[FG_RECORD_FRAME] = read_frame,
	[FG_RECORD_SYMBOL] = read_symbol,
	[FG_RECORD_NODE] = read_path,
	[FG_RECORD_MODULE] = read_module,
	[FG_RECORD_MODULE_GONE] = skip,
	[FG_RECORD_MODULE_BACK] = skip,
	[FG_RECORD_THREAD_BEGIN] = read_thread_begin,
	[FG_RECORD_THREAD_END] = read_thread_end,
	[FG_RECORD_THREAD_NAME] = read_thread_name,
	[FG_RECORD_NAME] = read_name,
	[FG_RECORD_REGION] = read_region,
	[FG_RECORD_REGION_SET] = read_region_set,
	[FG_RECORD_UNIT_BEGIN] = read_unit_begin,
	[FG_RECORD_UNIT_END] = read_unit_end,
	[FG_RECORD_EXE] = read_exe,
	[FG_RECORD_COMMAND] = read_command,
	[FG_RECORD_SAMPLING] = skip,
	[FG_RECORD_NOTE] = read_note,
	[FG_RECORD_REGION_TIMES] = read_region_times,
	[FG_RECORD_MEASURE] = read_measure,
	[FG_RECORD_COUNTS] = read_counts,
	[FG_RECORD_HELD] = read_held,
	[FG_RECORD_HELD_END] = read_held_end,
	[FG_RECORD_CAUGHT] = read_caught,
	[FG_RECORD_RESIDENT] = read_resident,
	[FG_RECORD_HELD_AT] = read_held_at,
	[FG_RECORD_PATTERN] = read_pattern,
	[FG_RECORD_SIGNATURE] = read_signature,
	[FG_RECORD_DOMAIN] = read_domain,
	[FG_RECORD_DOMAIN_SO_FAR] = read_domain_so_far,
	[FG_RECORD_CALL_TIMES] = read_call_times,
	[FG_RECORD_CALL_WAYS] = read_call_ways,
	[FG_RECORD_CALL_VALUES] = read_call_values,
	[FG_RECORD_ENTRIES] = read_entries,
	[FG_RECORD_JIT_DUMP] = read_jit_dump,
	[FG_RECORD_PYTHON] = read_python,
	[FG_RECORD_PYTHON_CODE] = read_python_code,
	[FG_RECORD_PYTHON_LINES] = read_python_lines,
	[FG_RECORD_PYTHON_FRAME] = read_python_frame,
};

/* -------------------------------------------------------------------- chunks */

static void read_sample(struct reader *r, struct cursor *c, uint8_t first)
{
	struct fg_trace_sample sample = {
		.clock = first & FG_SAMPLE_CLOCK_MASK,
		.flags = first & (FG_SAMPLE_TRUNCATED | FG_SAMPLE_SYSCALL),
		.thread = r->thread,
		.region = r->region,
	};

	r->time_ns += take_varint(c);
	sample.time_ns = r->time_ns;
	sample.path = take_u32(c);
	sample.weight_ns = first & FG_SAMPLE_WEIGHT ? take_varint(c) : r->trace->header.period_ns;
	if (!c->failed)
		*APPEND(r->trace, sample) = sample;
}

static void read_record(struct reader *r, struct cursor *c, uint8_t kind)
{
	uint64_t size = take_varint(c);
	struct cursor record = {.at = c->at};

	if (c->failed || size > (size_t)(c->end - c->at)) {
		c->failed = true;
		return;
	}
	c->at += size;
	record.end = c->at;
	if (kind == FG_RECORD_END)
		c->failed = true;
	else if (kind >= FG_ARRAY_SIZE(readers) || !readers[kind])
		r->trace->unknown_records++;
	else
		readers[kind](r, &record);
	c->failed = c->failed || record.failed;
}

static bool read_payload(struct reader *r, const struct fg_trace_chunk *chunk,
			 const uint8_t *payload, size_t used)
{
	struct cursor c = {.at = payload, .end = payload + used};

	r->thread = chunk->thread;
	r->region = chunk->region;
	r->time_ns = chunk->base_time_ns;
	while (c.at < c.end && !c.failed) {
		uint8_t first = *c.at++;

		if (first & FG_SAMPLE)
			read_sample(r, &c, first);
		else
			read_record(r, &c, first);
	}
	return !c.failed;
}

/* crc32c of a chunk header without its commit word and its own checksum. */
static uint32_t chunk_header_crc(const struct fg_trace_chunk *chunk)
{
	uint32_t crc = fg_crc32c(0, chunk, offsetof(struct fg_trace_chunk, header_crc));

	return fg_crc32c(crc, &chunk->base_time_ns, sizeof(chunk->base_time_ns));
}

static bool is_zero(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

static void set_damage(struct reader *r, uint64_t offset, const char *what)
{
	(void)snprintf(r->trace->damage, sizeof(r->trace->damage),
		       "%s at byte %llu: %zu good chunks before it are used, nothing behind it",
		       what, (unsigned long long)offset, r->trace->chunk_count);
}

/* NULL: valid; otherwise what is wrong with it. */
static const char *check_chunk(const struct fg_trace_chunk *chunk)
{
	const bool is_table = chunk->magic == FG_TRACE_TABLE_MAGIC;

	if (chunk->magic != FG_TRACE_CHUNK_MAGIC && !is_table)
		return "no chunk";
	if (chunk_header_crc(chunk) != chunk->header_crc)
		return "a damaged chunk header";
	if (chunk->size == 0 || chunk->size % FG_TRACE_ALIGN != 0 ||
	    (chunk->size > FG_TRACE_CHUNK_LIMIT && !is_table))
		return "a chunk of an impossible size";
	if (FG_TRACE_COMMIT_USED(chunk->commit) > chunk->size - sizeof(*chunk))
		return "a chunk that holds more than its size";
	return NULL;
}

/* NULL: read; otherwise what is wrong with it. */
static const char *read_table(struct reader *r, uint64_t offset, const struct fg_trace_chunk *chunk)
{
	const uint8_t *bytes = bytes_at(&r->window, offset, FG_TRACE_TABLE_ROWS);
	struct fg_trace_table table;
	size_t row_size = 0;

	if (!bytes)
		return "the file ends inside a table";
	memcpy(&table, bytes + sizeof(*chunk), sizeof(table));
	row_size = fg_trace_row_size(r->trace, &table);
	if (row_size == 0 || table.rows == 0)
		return NULL;
	if (table.stride < row_size ||
	    table.rows > (chunk->size - FG_TRACE_TABLE_ROWS) / table.stride)
		return "a table that holds more than its size";
	fg_trace_begin_table(r->trace, &table);
	for (uint32_t i = 0; i < table.rows; i++) {
		bytes = bytes_at(&r->window,
				 offset + FG_TRACE_TABLE_ROWS + (uint64_t)i * table.stride,
				 row_size);
		if (!bytes)
			return "the file ends inside a table";
		fg_trace_add_row(r->trace, &table, bytes);
	}
	return NULL;
}

/* Returns false when reading has to stop. */
static bool read_chunk(struct reader *r, uint64_t *offset)
{
	const uint8_t *bytes = bytes_at(&r->window, *offset, sizeof(struct fg_trace_chunk));
	struct fg_trace_chunk chunk;
	const char *wrong;
	size_t used;

	if (!bytes)
		return false;
	memcpy(&chunk, bytes, sizeof(chunk));
	if (is_zero(&chunk, sizeof(chunk))) {
		r->trace->gap_count++;
		*offset += FG_TRACE_ALIGN;
		return true;
	}
	wrong = check_chunk(&chunk);
	used = FG_TRACE_COMMIT_USED(chunk.commit);
	if (!wrong && chunk.magic == FG_TRACE_TABLE_MAGIC) {
		wrong = read_table(r, *offset, &chunk);
	} else if (!wrong) {
		bytes = bytes_at(&r->window, *offset, sizeof(chunk) + used);
		if (!bytes)
			wrong = "the file ends inside a chunk";
		else if (fg_crc32c(0, bytes + sizeof(chunk), used) !=
			 FG_TRACE_COMMIT_CRC(chunk.commit))
			wrong = "a chunk with a wrong checksum";
		else if (!read_payload(r, &chunk, bytes + sizeof(chunk), used))
			wrong = "a chunk that breaks the format";
	}
	if (wrong) {
		set_damage(r, *offset, wrong);
		return false;
	}
	r->trace->chunk_count++;
	*offset += chunk.size;
	return true;
}

/* ---------------------------------------------------------------- whole files */

/* The file was made, and its first page not yet written: a process that was killed as it began. */
static bool is_bare(const struct reader *r, const uint8_t *first_page)
{
	static const uint8_t nothing[FG_TRACE_HEADER_SIZE];

	return r->window.source.size == 0 ||
	       (first_page && memcmp(first_page, nothing, sizeof(nothing)) == 0);
}

static int read_header(struct reader *r, struct fg_error *err)
{
	struct fg_trace_header *header = &r->trace->header;
	const uint8_t *bytes = bytes_at(&r->window, 0, FG_TRACE_HEADER_SIZE);
	const size_t start = offsetof(struct fg_trace_header, word_bits);
	const size_t end = offsetof(struct fg_trace_header, allocated);

	if (is_bare(r, bytes))
		return fg_error_set(err, FG_EPARSE, "%s: its process has recorded nothing",
				    r->name);
	if (!bytes)
		return fg_error_set(err, FG_EPARSE, "%s: %llu bytes are too few for a trace",
				    r->name, (unsigned long long)r->window.source.size);
	memcpy(header, bytes, sizeof(*header));
	if (memcmp(header->magic, FG_TRACE_MAGIC, sizeof(header->magic)) != 0)
		return fg_error_set(err, FG_EPARSE, "%s: not a fastgate trace", r->name);
	if (header->version == 0 || header->version > FG_TRACE_VERSION)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "%s: trace version %u, this fastgate reads up to version %u",
				    r->name, header->version, FG_TRACE_VERSION);
	if (header->header_size != FG_TRACE_HEADER_SIZE ||
	    fg_crc32c(0, bytes + start, end - start) != header->header_crc)
		return fg_error_set(err, FG_EPARSE, "%s: the first page of the trace is damaged",
				    r->name);
	return FG_OK;
}

static int read_all(struct reader *r, struct fg_error *err)
{
	uint64_t offset = FG_TRACE_HEADER_SIZE;
	uint64_t end;
	int status = read_header(r, err);

	if (status != FG_OK)
		return status;
	r->trace->executable = "";
	r->trace->jit_dump = "";
	r->trace->command = "";
	end = r->trace->header.allocated;
	if (end > r->window.source.size) {
		r->trace->missing_bytes = end - r->window.source.size;
		end = r->window.source.size;
	}
	r->window.end = end;
	/*
	 * Bytes on the disk, not bytes of the file: a sparse file must not make us allocate. Times
	 * eight, because some file systems compress.
	 */
	r->id_limit = r->window.source.stored < (UINT64_C(1) << 28) / 8
			      ? r->window.source.stored * 8
			      : UINT64_C(1) << 28;
	r->id_limit = r->id_limit < end ? r->id_limit : end;
	while (offset < end && read_chunk(r, &offset)) {
	}
	if (r->trace->symbol_count > 0)
		qsort(r->trace->symbols, r->trace->symbol_count, sizeof(r->trace->symbols[0]),
		      by_module_and_start);
	fg_trace_join_python_lines(r->trace);
	fg_trace_end_tables(r->trace);
	return FG_OK;
}

static int finish(struct reader *r, int status)
{
	if (status != FG_OK)
		fg_trace_release(r->trace);
	free(r->window.block);
	fg_source_close(&r->window.source);
	return status;
}

int fg_trace_parse(const void *data, size_t size, const char *name, struct fg_trace *trace,
		   struct fg_error *err)
{
	struct reader r = {.trace = trace, .name = name};

	*trace = (struct fg_trace){0};
	r.window.source = fg_source_memory(data, size);
	return finish(&r, read_all(&r, err));
}

int fg_trace_read(const char *path, struct fg_trace *trace, struct fg_error *err)
{
	struct reader r = {.trace = trace, .name = path};
	int status = fg_source_open(path, FG_TRACE_MAX_BYTES, &r.window.source, err);

	if (status != FG_OK)
		return status;
	*trace = (struct fg_trace){0};
	r.window.block = fg_xmalloc(BLOCK_SIZE);
	return finish(&r, read_all(&r, err));
}

bool fg_trace_is_trace(const char *path)
{
	char magic[sizeof(FG_TRACE_MAGIC) - 1];
	struct fg_source source;
	bool is;

	if (fg_source_open(path, FG_TRACE_MAX_BYTES, &source, NULL) != FG_OK)
		return false;
	is = fg_source_read(&source, 0, magic, sizeof(magic)) &&
	     memcmp(magic, FG_TRACE_MAGIC, sizeof(magic)) == 0;
	fg_source_close(&source);
	return is;
}
