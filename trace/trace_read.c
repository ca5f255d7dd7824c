// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_read.h"

#include "base/base.h"
#include "base/byte_source.h"
#include "base/hash.h"
#include "trace/trace_records.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A window on the source: reading a huge sparse file costs no more than its contents. */
struct window {
	struct fg_source source;
	/* nothing is read ahead beyond this offset: a trace is a small part of its file */
	uint64_t end;
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
	struct fg_trace_records records;
};

/* -------------------------------------------------------------------- chunks */

/*
 * Returns `size` bytes at `offset`, at most BLOCK_SIZE; NULL: they cannot be read. Valid until the
 * next call.
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

/* Computes the crc32c of a chunk header without its commit word and its own checksum. */
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
		       "%s at byte %llu: only the intact chunks before it (%zu) are used", what,
		       (unsigned long long)offset, r->trace->chunk_count);
}

/* Returns the defect of the chunk's header; NULL: none. */
static const char *check_chunk(const struct fg_trace_chunk *chunk)
{
	const bool is_table = chunk->magic == FG_TRACE_TABLE_MAGIC;

	if (chunk->magic != FG_TRACE_CHUNK_MAGIC && !is_table)
		return "no valid chunk";
	if (chunk_header_crc(chunk) != chunk->header_crc)
		return "a damaged chunk header";
	if (chunk->size == 0 || chunk->size % FG_TRACE_ALIGN != 0 ||
	    (chunk->size > FG_TRACE_CHUNK_LIMIT && !is_table))
		return "a chunk of invalid size";
	if (FG_TRACE_COMMIT_USED(chunk->commit) > chunk->size - sizeof(*chunk))
		return "a chunk that holds more than its size";
	return NULL;
}

/* Reads the rows of a table. Returns its defect; NULL: none. */
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

/* Reads one chunk or gap; false: reading has to stop. */
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
		else if (!fg_trace_records_read(&r->records, &chunk, bytes + sizeof(chunk), used))
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

/* Was the process killed after it created the file and before it wrote the first page? */
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
		return fg_error_set(err, FG_EPARSE, "%s: the process recorded nothing", r->name);
	if (!bytes)
		return fg_error_set(err, FG_EPARSE, "%s: %llu bytes are too few for a trace",
				    r->name, (unsigned long long)r->window.source.size);
	memcpy(header, bytes, sizeof(*header));
	if (memcmp(header->magic, FG_TRACE_MAGIC, sizeof(header->magic)) != 0)
		return fg_error_set(err, FG_EPARSE, "%s is not a fastgate trace", r->name);
	if (header->version == 0 || header->version > FG_TRACE_VERSION)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s has trace version %u, but this fastgate reads only up to version %u",
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
	uint64_t limit;

	FG_TRY(read_header(r, err));
	r->trace->executable = "";
	r->trace->command = "";
	end = r->trace->header.allocated;
	if (end > r->window.source.size) {
		r->trace->missing_bytes = end - r->window.source.size;
		end = r->window.source.size;
	}
	r->window.end = end;
	/*
	 * Ids are bounded by the bytes on the disk, not by the size of the file: a sparse file must
	 * not make us allocate. Bytes on the disk count eightfold, because some file systems
	 * compress.
	 */
	limit = r->window.source.stored < (UINT64_C(1) << 28) / 8 ? r->window.source.stored * 8
								  : UINT64_C(1) << 28;
	r->records =
		(struct fg_trace_records){.trace = r->trace, .id_limit = limit < end ? limit : end};
	while (offset < end && read_chunk(r, &offset)) {
	}
	fg_trace_records_settle(r->trace);
	fg_trace_end_tables(r->trace);
	return FG_OK;
}

void fg_trace_release(struct fg_trace *trace)
{
	free(trace->frames);
	free(trace->paths);
	free(trace->modules);
	free(trace->threads);
	free(trace->names);
	free(trace->regions);
	free(trace->samples);
	free(trace->times);
	free(trace->spans);
	free(trace->marks);
	free(trace->measures);
	free(trace->values);
	free(trace->patterns);
	free(trace->signatures);
	free(trace->domains);
	free(trace->call_times);
	free(trace->residents);
	free(trace->call_values);
	free(trace->ways);
	free(trace->refusals);
	free(trace->symbols);
	free(trace->notes);
	free(trace->codes);
	free(trace->code_lines);
	fg_arena_release(&trace->arena);
	*trace = (struct fg_trace){0};
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

	FG_TRY(fg_source_open(path, FG_TRACE_MAX_BYTES, &r.window.source, err));
	*trace = (struct fg_trace){0};
	r.window.block = fg_xmalloc(BLOCK_SIZE);
	return finish(&r, read_all(&r, err));
}

int fg_trace_open(const char *path, int flags, struct fg_trace_header *header)
{
	const int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
	    memcmp(header->magic, FG_TRACE_MAGIC, sizeof(header->magic)) == 0)
		return fd;
	(void)close(fd);
	return -1;
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
