// SPDX-License-Identifier: Apache-2.0
#include "tests/targets/trace.h"

#include "base/base.h"
#include "base/fs.h"
#include "base/hash.h"
#include "tests/support/fg_test.h"
#include "tests/targets/elf_symbols.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
};

static uint64_t varint(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		assert_true(c->at < c->end);
		value |= (uint64_t)(*c->at & 0x7f) << shift;
		if (!(*c->at++ & 0x80))
			return value;
	}
	fail_msg("a number of more than ten bytes");
	return 0;
}

static void text(struct cursor *c, char *to, size_t room)
{
	const uint64_t size = varint(c);

	assert_true(size <= (uint64_t)(c->end - c->at));
	const size_t kept = size < room ? (size_t)size : room - 1;

	memcpy(to, c->at, kept);
	to[kept] = '\0';
	c->at += size;
}

#define RESERVE(list, count, id)                                     \
 do {                                                                \
  assert_true((id) > 0 && (id) < 100000000);                         \
  if ((id) >= (count)) {                                             \
   const size_t more_ = ((id) + 1) * 2;                              \
   (list) = fg_xreallocarray((list), more_, sizeof(*(list)));        \
   memset((list) + (count), 0, (more_ - (count)) * sizeof(*(list))); \
   (count) = more_;                                                  \
  }                                                                  \
 } while (0)

static void read_module(struct trace *trace, struct cursor *c)
{
	const uint64_t id = varint(c);
	char build_id[64];

	RESERVE(trace->modules, trace->module_count, id);
	struct trace_module *module = &trace->modules[id];

	(void)varint(c);
	module->start = varint(c);
	const uint64_t end = varint(c);

	(void)varint(c);
	module->is_kernel = varint(c) & FG_MODULE_KERNEL;
	assert_true(module->is_kernel ? end == 0 : end > module->start);
	text(c, build_id, sizeof(build_id));
	text(c, module->path, sizeof(module->path));
}

static void read_frame(struct trace *trace, struct cursor *c)
{
	const uint64_t id = varint(c);

	RESERVE(trace->frames, trace->frame_count, id);
	trace->frames[id].module = (uint32_t)varint(c);
	trace->frames[id].offset = varint(c);
	trace->frames[id].exact = varint(c) & FG_FRAME_EXACT;
}

static void read_path(struct trace *trace, struct cursor *c)
{
	const uint64_t id = varint(c);

	RESERVE(trace->paths, trace->path_count, id);
	trace->paths[id].parent = (uint32_t)varint(c);
	trace->paths[id].frame = (uint32_t)varint(c);
	trace->paths[id].removed = c->at < c->end ? varint(c) : 0;
}

struct place {
	uint32_t thread;
	uint32_t region;
};

static void read_unit(struct trace *trace, uint8_t kind, struct cursor *c)
{
	(void)varint(c); /* thread, name, number */
	(void)varint(c);
	(void)varint(c);
	const uint64_t time_ns = varint(c);

	trace->units_ns += kind == FG_RECORD_UNIT_END ? time_ns : 0 - time_ns;
}

static void read_record(struct trace *trace, uint8_t kind, struct cursor *c, struct place *place)
{
	uint64_t id;

	assert_true(kind != FG_RECORD_END);
	if (kind < TRACE_RECORD_KINDS)
		trace->kinds[kind]++;
	switch (kind) {
	case FG_RECORD_FRAME:
		read_frame(trace, c);
		break;
	case FG_RECORD_NODE:
		read_path(trace, c);
		break;
	case FG_RECORD_MODULE:
		read_module(trace, c);
		break;
	case FG_RECORD_THREAD_BEGIN:
		place->thread = (uint32_t)varint(c);
		place->region = 0;
		break;
	case FG_RECORD_REGION_SET:
		place->region = (uint32_t)varint(c);
		break;
	case FG_RECORD_NAME:
		id = varint(c);
		assert_true(id < FG_ARRAY_SIZE(trace->names));
		text(c, trace->names[id], sizeof(trace->names[id]));
		break;
	case FG_RECORD_REGION:
		id = varint(c);
		assert_true(id < FG_ARRAY_SIZE(trace->region_names));
		(void)varint(c); /* its parent */
		trace->region_names[id] = (uint32_t)varint(c);
		break;
	case FG_RECORD_REGION_TIMES:
		(void)varint(c);
		id = varint(c);
		assert_true(id < FG_ARRAY_SIZE(trace->region_entered));
		trace->region_entered[id] += varint(c);
		trace->region_ns[id] += varint(c);
		break;
	case FG_RECORD_THREAD_NAME:
		id = varint(c);
		assert_true(id < FG_ARRAY_SIZE(trace->thread_names));
		text(c, trace->thread_names[id], sizeof(trace->thread_names[id]));
		break;
	case FG_RECORD_UNIT_BEGIN:
	case FG_RECORD_UNIT_END:
		read_unit(trace, kind, c);
		break;
	case FG_RECORD_EXE:
		text(c, trace->exe, sizeof(trace->exe));
		break;
	default:
		break;
	}
}

static void read_payload(struct trace *trace, const struct fg_trace_chunk *chunk, struct cursor c)
{
	struct place place = {chunk->thread, chunk->region};
	uint64_t time_ns = chunk->base_time_ns;

	while (c.at < c.end) {
		const uint8_t *begin = c.at;
		const uint8_t first = *c.at++;

		if (!(first & FG_SAMPLE)) {
			const uint64_t size = varint(&c);
			struct cursor inside = {c.at, c.at + size};

			assert_true(size <= (uint64_t)(c.end - c.at));
			read_record(trace, first, &inside, &place);
			c.at += size;
			continue;
		}
		trace->samples = fg_grow(trace->samples, &trace->sample_capacity,
					 trace->sample_count + 1, sizeof(*trace->samples));
		struct trace_sample *sample = &trace->samples[trace->sample_count++];

		time_ns += varint(&c);
		*sample = (struct trace_sample){place.thread,
						place.region,
						time_ns,
						0,
						trace->header.period_ns,
						first & FG_SAMPLE_CLOCK_MASK,
						first};
		sample->path = (uint32_t)varint(&c);
		if (first & FG_SAMPLE_WEIGHT)
			sample->weight_ns = varint(&c);
		trace->sample_bytes += (uint64_t)(c.at - begin);
	}
}

static void read_chunks(struct trace *trace, const uint8_t *bytes, size_t size)
{
	size_t at = FG_TRACE_HEADER_SIZE;
	const size_t end = trace->header.allocated < size ? (size_t)trace->header.allocated : size;

	while (at + FG_TRACE_ALIGN <= end) {
		struct fg_trace_chunk chunk;

		memcpy(&chunk, bytes + at, sizeof(chunk));
		const uint32_t used = FG_TRACE_COMMIT_USED(chunk.commit);

		if (chunk.magic == FG_TRACE_TABLE_MAGIC) {
			at += chunk.size;
			continue;
		}
		if (chunk.magic != FG_TRACE_CHUNK_MAGIC) {
			/* all zeros: allocated but never used, which is valid */
			trace->damaged += chunk.magic != 0;
			at += FG_TRACE_ALIGN;
			continue;
		}
		assert_true(chunk.size >= FG_TRACE_ALIGN && chunk.size % FG_TRACE_ALIGN == 0 &&
			    at + chunk.size <= end);
		assert_true(used <= chunk.size - sizeof(chunk));
		const uint8_t *payload = bytes + at + sizeof(chunk);

		if (fg_crc32c(0, payload, used) != FG_TRACE_COMMIT_CRC(chunk.commit))
			trace->damaged++;
		else
			read_payload(trace, &chunk, (struct cursor){payload, payload + used});
		at += chunk.size;
	}
}

/* Finds the names of all frames; a return address is looked up one byte earlier. */
static void resolve(struct trace *trace)
{
	for (size_t i = 1; i < trace->module_count; i++) {
		trace->modules[i].symbols = fg_xmalloc(sizeof(struct elf_symbols));
		elf_symbols_read(trace->modules[i].path, trace->modules[i].symbols);
	}
	for (size_t i = 1; i < trace->frame_count; i++) {
		struct trace_frame *frame = &trace->frames[i];

		if (frame->module && frame->module < trace->module_count)
			frame->name = elf_symbols_find(trace->modules[frame->module].symbols,
						       frame->offset - !frame->exact);
	}
}

static struct trace *read_one(const char *path)
{
	struct trace *trace = fg_xmalloc(sizeof(*trace));
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(trace, 0, sizeof(*trace));
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	/* Killed between creating the file and allocating its first page: the trace is empty. */
	if (status.st_size == 0) {
		(void)close(fd);
		return trace;
	}
	assert_true((size_t)status.st_size >= FG_TRACE_HEADER_SIZE);
	const uint8_t *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);

	assert_true(bytes != MAP_FAILED);
	(void)close(fd);
	memcpy(&trace->header, bytes, sizeof(trace->header));
	/* The process is killed before the first page is full: the trace is empty. */
	if (trace->header.magic[0]) {
		assert_memory_equal(trace->header.magic, FG_TRACE_MAGIC, 8);
		assert_int_equal(trace->header.version, FG_TRACE_VERSION);
		read_chunks(trace, bytes, (size_t)status.st_size);
		resolve(trace);
	}
	(void)munmap((void *)(uintptr_t)bytes, (size_t)status.st_size);
	return trace;
}

struct trace *trace_load(const char *folder)
{
	struct trace *all = NULL;
	char **names = NULL;
	size_t count = 0;

	assert_int_equal(fg_fs_list(folder, &names, &count, NULL), FG_OK);
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);

		if (strstr(names[i], FG_TRACE_SUFFIX)) {
			struct trace *trace = read_one(path);

			trace->next = all;
			all = trace;
		}
		free(path);
	}
	fg_fs_list_free(names, count);
	return all;
}

void trace_free(struct trace *traces)
{
	while (traces) {
		struct trace *next = traces->next;

		for (size_t i = 1; i < traces->module_count; i++) {
			elf_symbols_release(traces->modules[i].symbols);
			free(traces->modules[i].symbols);
		}
		free(traces->samples);
		free(traces->modules);
		free(traces->frames);
		free(traces->paths);
		free(traces);
		traces = next;
	}
}

static const struct trace_path *path_of(const struct trace *trace, uint32_t path)
{
	return path && path < trace->path_count &&
			       (trace->paths[path].frame || trace->paths[path].removed)
		       ? &trace->paths[path]
		       : NULL;
}

static const char *name_of(const struct trace *trace, uint32_t path)
{
	const struct trace_path *node = path_of(trace, path);

	return node && node->frame && node->frame < trace->frame_count
		       ? trace->frames[node->frame].name
		       : NULL;
}

bool trace_on_path(const struct trace *trace, uint32_t path, const char *function)
{
	for (; path_of(trace, path); path = trace->paths[path].parent) {
		const char *name = name_of(trace, path);

		if (name && strcmp(name, function) == 0)
			return true;
	}
	return false;
}

static const char *trace_leaf(const struct trace *trace, const struct trace_sample *sample)
{
	return name_of(trace, sample->path);
}

static bool is_in_kernel(const struct trace *trace, uint32_t path)
{
	const uint32_t frame = trace->paths[path].frame;
	const uint32_t module = frame < trace->frame_count ? trace->frames[frame].module : 0;

	return module < trace->module_count && trace->modules[module].is_kernel;
}

uint64_t trace_depth(const struct trace *trace, uint32_t path)
{
	uint64_t depth = 0;

	while (path_of(trace, path) && is_in_kernel(trace, path))
		path = trace->paths[path].parent;
	for (; path_of(trace, path); path = trace->paths[path].parent)
		depth += trace->paths[path].frame ? 1 : trace->paths[path].removed;
	return depth;
}

double trace_self(const struct trace *traces, const char *function)
{
	double sum = 0;

	for (; traces; traces = traces->next)
		for (size_t i = 0; i < traces->sample_count; i++) {
			const char *name = trace_leaf(traces, &traces->samples[i]);

			if (!function || (name && strcmp(name, function) == 0))
				sum += (double)traces->samples[i].weight_ns;
		}
	return sum;
}

double trace_inclusive(const struct trace *traces, const char *function)
{
	double sum = 0;

	for (; traces; traces = traces->next)
		for (size_t i = 0; i < traces->sample_count; i++)
			if (trace_on_path(traces, traces->samples[i].path, function))
				sum += (double)traces->samples[i].weight_ns;
	return sum;
}

double trace_by_clock(const struct trace *traces, enum fg_trace_clock clock)
{
	double sum = 0;

	for (; traces; traces = traces->next)
		for (size_t i = 0; i < traces->sample_count; i++)
			if (traces->samples[i].clock == clock)
				sum += (double)traces->samples[i].weight_ns;
	return sum;
}

uint64_t trace_lost(const struct trace *traces, enum fg_trace_loss cause)
{
	uint64_t sum = 0;

	for (; traces; traces = traces->next)
		sum += traces->header.losses[cause];
	return sum;
}
