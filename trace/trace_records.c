// SPDX-License-Identifier: Apache-2.0
/* Turns the untrusted records of a trace into plain arrays. */
#include "trace/trace_records.h"

#include "base/base.h"
#include "base/sort.h"

#include <math.h>

/*
 * Bytes of one record or chunk. A read past the end or of an invalid value sets `failed`; values
 * that are read from then on must not be used.
 */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	uint8_t kind; /* enum fg_trace_record, for a record */
	bool failed;
};

/* --------------------------------------------------------------------- bytes */

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

/* Reads a text. NULs inside become blanks: an argument vector reads as a command. */
static const char *take_text(struct fg_trace_records *r, struct cursor *c)
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

/* Grows the table so that it has an element `id`. New elements are zero: not defined. */
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

static uint64_t take_id(struct fg_trace_records *r, struct cursor *c)
{
	uint64_t id = take_varint(c);

	if (id == 0 || id > r->id_limit)
		c->failed = true;
	return c->failed ? 0 : id;
}

static void read_frame(struct fg_trace_records *r, struct cursor *c)
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

static void read_path(struct fg_trace_records *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	uint32_t parent = take_u32(c);
	uint32_t frame = take_u32(c);
	uint32_t left_out = frame == 0 ? take_u32(c) : 0;

	if (!c->failed)
		*REACH(r->trace, path, id) = (struct fg_trace_path){
			.parent = parent, .frame = frame, .left_out = left_out, .defined = true};
}

static void read_module(struct fg_trace_records *r, struct cursor *c)
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

static void read_thread_begin(struct fg_trace_records *r, struct cursor *c)
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

static void read_thread_end(struct fg_trace_records *r, struct cursor *c)
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

static void read_thread_name(struct fg_trace_records *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const char *name = take_text(r, c);

	if (!c->failed)
		REACH(r->trace, thread, id)->name = name;
}

static void read_name(struct fg_trace_records *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const char *name = take_text(r, c);

	if (!c->failed)
		*REACH(r->trace, name, id) = name;
}

static void read_region(struct fg_trace_records *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	uint32_t parent = take_u32(c);
	uint32_t name = take_u32(c);

	if (!c->failed)
		*REACH(r->trace, region, id) =
			(struct fg_trace_region){.parent = parent, .name = name, .defined = true};
}

static void read_region_set(struct fg_trace_records *r, struct cursor *c)
{
	uint32_t region = take_u32(c);

	if (!c->failed)
		r->region = region;
}

static void read_region_span(struct fg_trace_records *r, struct cursor *c)
{
	struct fg_trace_region_span span = {0};

	span.thread = take_u32(c);
	span.region = take_u32(c);
	span.begin_ns = take_varint(c);
	span.end_ns = take_varint(c);
	if (!c->failed && span.begin_ns <= span.end_ns)
		*APPEND(r->trace, span) = span;
}

static void read_region_times(struct fg_trace_records *r, struct cursor *c)
{
	struct fg_trace_region_times times = {0};

	times.thread = take_u32(c);
	times.region = take_u32(c);
	times.count = take_varint(c);
	times.wall_ns = take_varint(c);
	if (!c->failed)
		*APPEND(r->trace, time) = times;
}

static void read_unit(struct fg_trace_records *r, struct cursor *c)
{
	struct fg_trace_unit_mark mark = {.begin = c->kind == FG_RECORD_UNIT_BEGIN};

	mark.thread = take_u32(c);
	mark.name = take_u32(c);
	mark.number = take_varint(c);
	mark.time_ns = take_varint(c);
	if (!c->failed)
		*APPEND(r->trace, mark) = mark;
}

static void read_measure(struct fg_trace_records *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const char *name = take_text(r, c);
	const char **known = NULL;

	if (c->failed)
		return;
	known = REACH(r->trace, measure, id);
	/* If any chunk names a measure "", the measure stays unknown: chunks come in any order. */
	if (!*known || **known)
		*known = name;
}

static void read_values(struct fg_trace_records *r, struct cursor *c)
{
	struct fg_trace_value value = {.state = c->kind == FG_RECORD_HELD ? take_u32(c) : 0};

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

static void read_held_end(struct fg_trace_records *r, struct cursor *c)
{
	const uint32_t state = take_u32(c);

	if (!c->failed && state > r->trace->last_state)
		r->trace->last_state = state;
	c->at = c->end;
}

static void read_resident(struct fg_trace_records *r, struct cursor *c)
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

static void read_pattern(struct fg_trace_records *r, struct cursor *c)
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

static void read_signature(struct fg_trace_records *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const char *text = take_text(r, c);

	if (!c->failed)
		*REACH(r->trace, signature, id) = text;
}

static void read_call_ways(struct fg_trace_records *r, struct cursor *c)
{
	uint64_t id = take_id(r, c);
	const uint32_t ways = take_u32(c);

	if (!c->failed)
		*REACH(r->trace, way, id) = ways;
}

static void read_entries(struct fg_trace_records *r, struct cursor *c)
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

static void read_bins(struct cursor *c, uint64_t *bins, uint32_t limit)
{
	while (c->at < c->end && !c->failed) {
		const uint32_t bin = take_u32(c);
		const uint64_t count = take_varint(c);

		if (bin < limit)
			bins[bin] = count;
	}
}

static void read_domain(struct fg_trace_records *r, struct cursor *c)
{
	struct fg_trace_domain domain = {.is_so_far = c->kind == FG_RECORD_DOMAIN_SO_FAR};
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
	read_bins(c, domain.bins, FG_DOMAIN_BINS);
	if (!c->failed)
		*APPEND(r->trace, domain) = domain;
}

static void read_call_times(struct fg_trace_records *r, struct cursor *c)
{
	struct fg_trace_call_times times = {0};
	uint64_t *const numbers[] = {&times.returned, &times.total_ns, &times.own_ns, &times.min_ns,
				     &times.max_ns};

	times.thread = take_u32(c);
	times.region = take_u32(c);
	times.path = take_u32(c);
	times.measure = take_u32(c);
	for (size_t i = 0; i < FG_ARRAY_SIZE(numbers); i++)
		*numbers[i] = take_varint(c);
	read_bins(c, times.bins, FG_CALL_TIME_BINS);
	if (!c->failed)
		*APPEND(r->trace, call_time) = times;
}

static void read_call_values(struct fg_trace_records *r, struct cursor *c)
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
	/* A value has at least one byte. */
	if (values.columns == 0 || values.columns > FG_VALUES_COLUMNS_MAX ||
	    values.rows > values.size / values.columns)
		c->failed = true;
	if (c->failed)
		return;
	values.bytes = fg_arena_memdup(&r->trace->arena, bytes, values.size);
	*APPEND(r->trace, call_value) = values;
}

static void read_symbol(struct fg_trace_records *r, struct cursor *c)
{
	struct fg_trace_symbol symbol = {0};

	symbol.module = take_u32(c);
	symbol.start = take_varint(c);
	symbol.size = take_varint(c);
	symbol.name = take_text(r, c);
	if (!c->failed)
		*APPEND(r->trace, symbol) = symbol;
}

static void read_python(struct fg_trace_records *r, struct cursor *c)
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

static void read_python_code(struct fg_trace_records *r, struct cursor *c)
{
	const uint64_t id = take_id(r, c);
	struct fg_trace_code code = {.line = take_u32(c)};

	code.name = take_text(r, c);
	code.file = take_text(r, c);
	if (!c->failed)
		*REACH(r->trace, code, id) = code;
}

static void read_python_lines(struct fg_trace_records *r, struct cursor *c)
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

static void read_python_frame(struct fg_trace_records *r, struct cursor *c)
{
	const uint64_t id = take_id(r, c);
	struct fg_trace_address frame = {.code = (uint32_t)take_id(r, c), .defined = true};

	frame.offset = take_u32(c);
	if (!c->failed)
		*REACH(r->trace, frame, id) = frame;
}

static void read_exe(struct fg_trace_records *r, struct cursor *c)
{
	r->trace->executable = take_text(r, c);
}

static void read_command(struct fg_trace_records *r, struct cursor *c)
{
	r->trace->command = take_text(r, c);
}

static void read_note(struct fg_trace_records *r, struct cursor *c)
{
	const char *text = take_text(r, c);

	if (!c->failed)
		*APPEND(r->trace, note) = text;
}

/* Skips a known record that no reader of a trace needs. */
static void skip(struct fg_trace_records *r, struct cursor *c)
{
	(void)r;
	c->at = c->end;
}

static void (*const readers[])(struct fg_trace_records *, struct cursor *) = {
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
	[FG_RECORD_UNIT_BEGIN] = read_unit,
	[FG_RECORD_UNIT_END] = read_unit,
	[FG_RECORD_EXE] = read_exe,
	[FG_RECORD_COMMAND] = read_command,
	[FG_RECORD_SAMPLING] = skip,
	[FG_RECORD_NOTE] = read_note,
	[FG_RECORD_REGION_TIMES] = read_region_times,
	[FG_RECORD_MEASURE] = read_measure,
	[FG_RECORD_COUNTS] = read_values,
	[FG_RECORD_HELD] = read_values,
	[FG_RECORD_HELD_END] = read_held_end,
	[FG_RECORD_REGION_SPAN] = read_region_span,
	[FG_RECORD_RESIDENT] = read_resident,
	[FG_RECORD_PATTERN] = read_pattern,
	[FG_RECORD_SIGNATURE] = read_signature,
	[FG_RECORD_DOMAIN] = read_domain,
	[FG_RECORD_DOMAIN_SO_FAR] = read_domain,
	[FG_RECORD_CALL_TIMES] = read_call_times,
	[FG_RECORD_CALL_WAYS] = read_call_ways,
	[FG_RECORD_CALL_VALUES] = read_call_values,
	[FG_RECORD_ENTRIES] = read_entries,
	[FG_RECORD_PYTHON] = read_python,
	[FG_RECORD_PYTHON_CODE] = read_python_code,
	[FG_RECORD_PYTHON_LINES] = read_python_lines,
	[FG_RECORD_PYTHON_FRAME] = read_python_frame,
};

static void read_sample(struct fg_trace_records *r, struct cursor *c, uint8_t first)
{
	struct fg_trace_sample sample = {
		.clock = first & FG_SAMPLE_CLOCK_MASK,
		.flags = first & (FG_SAMPLE_TRUNCATED | FG_SAMPLE_SYSCALL | FG_SAMPLE_STOPPED),
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

static void read_record(struct fg_trace_records *r, struct cursor *c, uint8_t kind)
{
	uint64_t size = take_varint(c);
	struct cursor record = {.at = c->at, .kind = kind};

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

bool fg_trace_records_read(struct fg_trace_records *r, const struct fg_trace_chunk *chunk,
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

/* ---------------------------------------------------- after all are read */

FG_ORDER_BY(by_module_and_start, struct fg_trace_symbol, FG_UP(module), FG_UP(start))

const char *fg_trace_symbol_at(const struct fg_trace *trace, uint32_t module, uint64_t offset)
{
	const struct fg_trace_symbol *found = NULL;
	size_t low = 0;
	size_t high = trace->symbol_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct fg_trace_symbol *at = &trace->symbols[middle];

		if (at->module < module || (at->module == module && at->start <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0)
		found = &trace->symbols[low - 1];
	return found && found->module == module && offset - found->start < found->size ? found->name
										       : NULL;
}

FG_ORDER_BY(by_code_and_position, struct fg_trace_code_lines, FG_UP(code), FG_UP(position))

/* Joins the parts of a code's line table, as far as they are contiguous. */
static size_t join_lines(struct fg_trace *trace, size_t first)
{
	const uint32_t id = trace->code_lines[first].code;
	struct fg_trace_code *code = id < trace->code_count ? &trace->codes[id] : NULL;
	size_t end = first;
	size_t size = 0;
	uint8_t *whole = NULL;

	while (end < trace->code_line_count && trace->code_lines[end].code == id &&
	       trace->code_lines[end].position == size)
		size += trace->code_lines[end++].size;
	if (code && size > 0) {
		whole = fg_arena_alloc(&trace->arena, size);
		for (size_t i = first; i < end; i++)
			memcpy(whole + trace->code_lines[i].position, trace->code_lines[i].bytes,
			       trace->code_lines[i].size);
		code->lines = whole;
		code->lines_size = size;
	}
	while (end < trace->code_line_count && trace->code_lines[end].code == id)
		end++;
	return end;
}

void fg_trace_records_settle(struct fg_trace *trace)
{
	if (trace->symbol_count > 0)
		qsort(trace->symbols, trace->symbol_count, sizeof(trace->symbols[0]),
		      by_module_and_start);
	if (trace->code_line_count > 0)
		qsort(trace->code_lines, trace->code_line_count, sizeof(trace->code_lines[0]),
		      by_code_and_position);
	for (size_t i = 0; i < trace->code_line_count;)
		i = join_lines(trace, i);
}
