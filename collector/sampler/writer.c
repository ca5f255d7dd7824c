// SPDX-License-Identifier: Apache-2.0
/*
 * The file is created at its maximum size, sparse, and mapped once. One atomic addition allocates
 * space in it, in chunks; each thread fills its own chunks. Before a chunk is used, madvise()
 * populates its pages: on a full disk that fails cleanly, whereas a plain store would raise SIGBUS.
 *
 * The first pages are populated at the start, outside of any handler.  Later pages are populated in
 * batches: the first page of a batch is the expensive one, because the file system's code has left
 * the caches. A batch is large enough that fewer than one handler in 10,000 pays for it.
 */
#include "collector/sampler/writer.h"

#include "collector/process/proc_stat.h"
#include "collector/sampler/crc32c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	CAPACITY_MIN = 1 << 20,
	/* maximum size if the kernel cannot populate pages: the file is then allocated at once */
	CAPACITY_PLAIN = 16 << 20,
	SANDBOX_ROOM = 4 << 20,
	IMAGES_MAX = 100000,
	VARINT_MAX = 10,
	RECORD_HEAD = FG_RECORD_HEAD,
	/*
	 * pages populated at the start, with the header's: enough for ten seconds at 1,000 samples
	 * per second
	 */
	PREFAULT_AT_START = 16,
	PREFAULT_PAGES = 41, /* pages of a batch */
};

uint64_t fg_clock_ns(clockid_t clock)
{
	struct timespec now = {0, 0};

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* NOLINTBEGIN(readability-non-const-parameter): atomics change what they point to */
void fg_count(uint64_t *counter, uint64_t by)
{
	(void)__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

void fg_maximum(uint64_t *counter, uint64_t value)
{
	uint64_t seen = __atomic_load_n(counter, __ATOMIC_RELAXED);

	while (value > seen && !__atomic_compare_exchange_n(counter, &seen, value, true,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* NOLINTEND(readability-non-const-parameter) */

void fg_count_loss(enum fg_trace_loss cause, uint64_t count)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	if (header)
		fg_count(&header->losses[cause], count);
}

/* ---- the file ---- */

static char *append_text(char *at, const char *end, const char *text)
{
	while (*text && at < end)
		*at++ = *text++;
	return at;
}

size_t fg_number_text(uint64_t value, char text[FG_NUMBER_SIZE])
{
	char digits[FG_NUMBER_SIZE];
	size_t count = 0;

	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (size_t i = 0; i < count; i++)
		text[i] = digits[count - 1 - i];
	return count;
}

static char *append_number(char *at, const char *end, uint64_t value)
{
	char digits[FG_NUMBER_SIZE];
	const size_t count = fg_number_text(value, digits);

	for (size_t i = 0; i < count && at < end; i++)
		*at++ = digits[i];
	return at;
}

static int open_new(uint64_t *image)
{
	char path[FG_OUTPUT_MAX + 64];
	char *const end = path + sizeof(path) - 1;
	char *stem = append_text(path, end, fg_g.options.output);

	stem = append_text(stem, end, "/");
	stem = append_number(stem, end, (uint64_t)fg_g.pid);
	stem = append_text(stem, end, ".");
	for (uint64_t n = 0; n < IMAGES_MAX; n++) {
		char *at = append_text(append_number(stem, end, n), end, FG_TRACE_SUFFIX);

		*at = '\0';
		int fd = (int)syscall(SYS_openat, AT_FDCWD, path,
				      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd >= 0) {
			*image = n;
			return fd;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static uint64_t choose_capacity(void)
{
	uint64_t wanted = fg_g.options.max_bytes;
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    wanted > limit.rlim_cur / 16)
		wanted = limit.rlim_cur / 16;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    wanted > limit.rlim_cur)
		wanted = limit.rlim_cur;
	if (wanted < CAPACITY_MIN)
		wanted = CAPACITY_MIN;
	return wanted & ~(uint64_t)(fg_page - 1);
}

/*
 * Returns false if the disk is full. If the kernel cannot populate pages, the whole file was
 * allocated at the start. Other threads may be about to populate pages before `to`, so this skips
 * none of them.
 */
static bool populate_to(uint64_t to)
{
	const uint64_t from = __atomic_load_n(&fg_g.populated, __ATOMIC_RELAXED);

	if (to <= from)
		return true;
	to = fg_page_up((uintptr_t)to);
	if (madvise(fg_g.file + from, (size_t)(to - from), MADV_POPULATE_WRITE) != 0)
		return errno == EINVAL;
	fg_maximum(&fg_g.populated, to);
	return true;
}

/* Like populate_to(), but if any page is missing, populates PREFAULT_PAGES more. */
static bool populate_beyond(uint64_t to)
{
	const uint64_t end = to + (uint64_t)PREFAULT_PAGES * FG_TRACE_ALIGN;

	return to <= __atomic_load_n(&fg_g.populated, __ATOMIC_RELAXED) ||
	       populate_to(end < fg_g.capacity ? end : fg_g.capacity) || populate_to(to);
}

/* Sizes the open file and maps it, or less of it if address space is short. */
static int map_file(int fd, uint64_t capacity)
{
	for (; capacity >= CAPACITY_MIN / 2; capacity /= 2) {
		void *at;

		capacity &= ~(uint64_t)(fg_page - 1);
		if (ftruncate(fd, (off_t)capacity) != 0)
			continue;
		at = mmap(NULL, (size_t)capacity, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (at == MAP_FAILED)
			continue;
		/* One page at a time: reading ahead in a hole makes the kernel clear megabytes. */
		(void)madvise(at, (size_t)capacity, MADV_RANDOM);
		if (madvise(at, fg_page, MADV_POPULATE_WRITE) != 0) {
			if (capacity > CAPACITY_PLAIN) {
				(void)munmap(at, (size_t)capacity);
				capacity = 2 * (uint64_t)CAPACITY_PLAIN;
				continue;
			}
			if (posix_fallocate(fd, 0, (off_t)capacity) != 0) {
				(void)munmap(at, (size_t)capacity);
				return -ENOSPC;
			}
		}
		(void)madvise(at, (size_t)capacity, MADV_DONTFORK);
		(void)madvise(at, (size_t)capacity, MADV_DONTDUMP);
		fg_g.file = at;
		fg_g.capacity = capacity;
		fg_g.populated = fg_page;
		return 0;
	}
	return -ENOMEM;
}

static void fill_header(struct fg_trace_header *header, uint64_t image)
{
	memcpy(header->magic, FG_TRACE_MAGIC, sizeof(header->magic));
	header->version = FG_TRACE_VERSION;
	header->header_size = FG_TRACE_HEADER_SIZE;
	header->state = FG_STATE_STARTING;
	header->word_bits = 8 * (uint32_t)FG_WORD;
	header->elf_machine = FG_ELF_MACHINE;
	header->pid = (uint32_t)fg_g.pid;
	header->ppid = (uint32_t)getppid();
	header->image = image;
	/*
	 * The start of the image, not of the file: delays count from there, and a child of fork
	 * creates its file with its first sample.
	 */
	header->start_monotonic_ns = fg_g.start_ns;
	header->start_realtime_ns =
		fg_clock_ns(CLOCK_REALTIME) - (fg_clock_ns(CLOCK_MONOTONIC) - fg_g.start_ns);
	header->process_start_ticks = fg_stat_field("/proc/self/stat", FG_STAT_START);
	header->mode = fg_g.options.clock == FG_CLOCK_WALL ? FG_MODE_WALL : FG_MODE_CPU;
	header->clock_user = fg_g.clock_user;
	header->clock_system = fg_g.clock_system;
	header->perf_errno = fg_g.perf_errno;
	header->period_ns = atomic_load(&fg_g.period_ns);
	header->tick_ns = fg_g.tick_ns;
	header->capacity = fg_g.capacity;
	header->header_crc = fg_trace_crc32c(0, &header->word_bits,
					     offsetof(struct fg_trace_header, allocated) -
						     offsetof(struct fg_trace_header, word_bits));
	header->allocated = FG_TRACE_HEADER_SIZE;
	header->budget = fg_g.options.budget;
}

int fg_file_open(void)
{
	uint64_t image = 0;
	int fd = open_new(&image);
	int status;

	if (fd < 0)
		return fd;
	status = map_file(fd, choose_capacity());
	(void)syscall(SYS_close, fd);
	if (status < 0)
		return status;
	fill_header((struct fg_trace_header *)fg_g.file, image);
	atomic_store(&fg_g.header, (struct fg_trace_header *)fg_g.file);
	if (!fg_g.lazy)
		(void)populate_to((uint64_t)PREFAULT_AT_START * FG_TRACE_ALIGN);
	return 0;
}

void fg_file_detach(void)
{
	atomic_store(&fg_g.header, NULL);
	fg_g.file = NULL;
	fg_g.capacity = 0;
	atomic_store(&fg_g.next_sequence, 0);
}

void fg_file_enter_sandbox(void)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	if (header && !fg_g.sandboxed) {
		uint64_t from = __atomic_load_n(&header->allocated, __ATOMIC_RELAXED);

		if (from + SANDBOX_ROOM < fg_g.capacity)
			fg_g.capacity = from + SANDBOX_ROOM;
		if (from < fg_g.capacity && !populate_to(fg_g.capacity))
			fg_g.capacity = from;
	}
	fg_g.sandboxed = true;
}

/* ---- chunks ---- */

static struct fg_trace_chunk *take_room(uint64_t size)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);
	uint64_t at = 0;

	if (!header)
		return NULL;
	at = __atomic_load_n(&header->allocated, __ATOMIC_RELAXED);
	do {
		if (at + size > fg_g.capacity)
			return NULL;
	} while (!__atomic_compare_exchange_n(&header->allocated, &at, at + size, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (!fg_g.sandboxed && !populate_beyond(at + size)) {
		fg_g.capacity = at; /* the disk is full: write no further */
		return NULL;
	}
	return (struct fg_trace_chunk *)(void *)(fg_g.file + at);
}

static void finish_header(struct fg_trace_chunk *chunk, uint32_t magic, uint32_t size)
{
	uint32_t crc = 0;

	chunk->size = size;
	chunk->sequence = atomic_fetch_add(&fg_g.next_sequence, 1);
	chunk->magic = magic;
	crc = fg_trace_crc32c(0, chunk, offsetof(struct fg_trace_chunk, header_crc));
	crc = fg_trace_crc32c(crc, &chunk->base_time_ns, sizeof(chunk->base_time_ns));
	__atomic_store_n(&chunk->header_crc, crc, __ATOMIC_RELEASE);
}

static uint64_t whole_pages(uint64_t size)
{
	return (size + FG_TRACE_ALIGN - 1) & ~(uint64_t)(FG_TRACE_ALIGN - 1);
}

static struct fg_trace_chunk *chunk_new(const struct fg_thread *thread, uint32_t payload,
					uint64_t now_ns)
{
	const uint64_t whole = whole_pages(payload + sizeof(struct fg_trace_chunk));
	const uint32_t size = whole > FG_TRACE_CHUNK_SIZE ? (uint32_t)whole : FG_TRACE_CHUNK_SIZE;
	struct fg_trace_chunk *chunk = take_room(size);

	if (!chunk)
		return NULL;
	chunk->thread = thread->written ? thread->id : 0;
	chunk->region = thread->regions.written;
	chunk->base_time_ns = now_ns;
	finish_header(chunk, FG_TRACE_CHUNK_MAGIC, size);
	return chunk;
}

void *fg_file_table(enum fg_trace_table_kind kind, uint32_t stride, uint32_t rows)
{
	const uint64_t size = whole_pages(FG_TRACE_TABLE_ROWS + (uint64_t)stride * rows);
	struct fg_trace_chunk *chunk = size <= INT32_MAX ? take_room(size) : NULL;
	struct fg_trace_table *table = NULL;

	if (!chunk)
		return NULL;
	table = (struct fg_trace_table *)(chunk + 1);
	table->kind = kind;
	table->stride = stride;
	finish_header(chunk, FG_TRACE_TABLE_MAGIC, (uint32_t)size);
	return (uint8_t *)chunk + FG_TRACE_TABLE_ROWS;
}

static bool has_room(const struct fg_chunk_writer *writer, uint32_t size)
{
	return writer->chunk &&
	       sizeof(struct fg_trace_chunk) + writer->used + size <= writer->chunk->size;
}

static bool append(struct fg_thread *thread, const uint8_t *bytes, uint32_t size)
{
	struct fg_chunk_writer *writer = &thread->writer;

	if (!has_room(writer, size)) {
		uint64_t now_ns = fg_clock_ns(CLOCK_MONOTONIC);
		struct fg_trace_chunk *chunk = chunk_new(thread, size, now_ns);

		if (!chunk)
			return false;
		writer->chunk = chunk;
		writer->used = 0;
		writer->crc = 0;
		writer->last_time_ns = now_ns;
	}
	memcpy((uint8_t *)(writer->chunk + 1) + writer->used, bytes, size);
	writer->crc = fg_trace_crc32c(writer->crc, bytes, size);
	writer->used += size;
	__atomic_store_n(&writer->chunk->commit, FG_TRACE_COMMIT(writer->used, writer->crc),
			 __ATOMIC_RELEASE);
	return true;
}

/* ---- records ---- */

static uint32_t put_varint(uint8_t *at, uint64_t value)
{
	uint32_t size = 0;

	while (value >= 0x80) {
		at[size++] = (uint8_t)(value | 0x80u);
		value >>= 7;
	}
	at[size++] = (uint8_t)value;
	return size;
}

void fg_record_begin(struct fg_thread *thread, enum fg_trace_record kind)
{
	thread->record.kind = (uint8_t)kind;
	thread->record.size = 0;
}

void fg_record_number(struct fg_thread *thread, uint64_t value)
{
	if (thread->record.size + VARINT_MAX <= FG_RECORD_ROOM)
		thread->record.size +=
			put_varint(thread->record.bytes + RECORD_HEAD + thread->record.size, value);
}

void fg_record_text(struct fg_thread *thread, const void *text, size_t size)
{
	size_t room = FG_RECORD_ROOM - thread->record.size;

	if (room <= VARINT_MAX)
		return;
	if (size > room - VARINT_MAX)
		size = room - VARINT_MAX;
	fg_record_number(thread, size);
	memcpy(thread->record.bytes + RECORD_HEAD + thread->record.size, text, size);
	thread->record.size += (uint32_t)size;
}

void fg_record_texts(struct fg_thread *thread, const char *first, const char *second)
{
	const size_t room = FG_RECORD_ROOM - 2 * VARINT_MAX - strlen(second);
	const size_t size = strnlen(first, room);

	fg_record_number(thread, size + strlen(second));
	memcpy(thread->record.bytes + RECORD_HEAD + thread->record.size, first, size);
	thread->record.size += (uint32_t)size;
	memcpy(thread->record.bytes + RECORD_HEAD + thread->record.size, second, strlen(second));
	thread->record.size += (uint32_t)strlen(second);
}

/*
 * Finds the folder in which a relative path starts. Returns its size with the final zero; 0:
 * unknown.
 */
static long folder_of(const char *path, char *folder, size_t room)
{
	/* The process may have opened the library before it changed its folder. */
	if (!fg_g.sandboxed && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0) {
		const long size = syscall(SYS_getcwd, folder, room);

		/* A folder outside the root does not begin with a slash. */
		return size > 1 && folder[0] == '/' ? size : 0;
	}
	const size_t size = strlen(fg_g.folder) + 1;

	if (size < 2 || size > room)
		return 0;
	memcpy(folder, fg_g.folder, size);
	return (long)size;
}

void fg_record_path(struct fg_thread *thread, const char *path)
{
	const bool relative = path[0] != '/' && path[0] != '[';

	while (path[0] == '.' && path[1] == '/')
		path += 2;
	const size_t length = strlen(path);
	uint8_t *end = thread->record.bytes + RECORD_HEAD + thread->record.size;
	char *whole = (char *)end + VARINT_MAX;
	long size = 0;

	/*
	 * Read the folder into its place in the record, leaving room for the bytes of the text's
	 * length.
	 */
	if (relative && thread->record.size + VARINT_MAX + length + 2 < FG_RECORD_ROOM)
		size = folder_of(path, whole,
				 FG_RECORD_ROOM - thread->record.size - VARINT_MAX - length - 1);
	if (size == 0) {
		fg_record_text(thread, path, length);
		return;
	}
	if (whole[size - 2] != '/')
		whole[size++ - 1] = '/';
	size--;
	memcpy(whole + size, path, length + 1);
	uint8_t text_length[VARINT_MAX];
	const uint32_t length_size = put_varint(text_length, (size_t)size + length);

	memmove(end + length_size, whole, (size_t)size + length);
	memcpy(end, text_length, length_size);
	thread->record.size += length_size + (uint32_t)size + (uint32_t)length;
}

bool fg_record_write(struct fg_thread *thread)
{
	uint8_t head[RECORD_HEAD];
	uint32_t size = 1 + put_varint(head + 1, thread->record.size);
	uint8_t *start = thread->record.bytes + RECORD_HEAD - size;

	head[0] = thread->record.kind;
	memcpy(start, head, size);
	return append(thread, start, size + thread->record.size);
}

/* Long strings are rare: each gets its own chunk, which is filled before it counts. */
bool fg_text_write(struct fg_thread *thread, enum fg_trace_record kind, const char *text,
		   size_t size)
{
	uint8_t head[16];
	uint32_t used = 1;

	if (size > FG_TRACE_TEXT_MAX)
		size = FG_TRACE_TEXT_MAX;
	uint8_t length[10];
	uint32_t length_size = put_varint(length, size);

	head[0] = (uint8_t)kind;
	used += put_varint(head + used, length_size + size);
	memcpy(head + used, length, length_size);
	used += length_size;
	struct fg_trace_chunk *chunk =
		chunk_new(thread, used + (uint32_t)size, fg_clock_ns(CLOCK_MONOTONIC));

	if (!chunk)
		return false;
	memcpy(chunk + 1, head, used);
	memcpy((uint8_t *)(chunk + 1) + used, text, size);
	uint32_t crc = fg_trace_crc32c(0, chunk + 1, used + size);

	__atomic_store_n(&chunk->commit, FG_TRACE_COMMIT(used + (uint32_t)size, crc),
			 __ATOMIC_RELEASE);
	if (!thread->writer.chunk || thread->writer.used + used + size < FG_TRACE_CHUNK_SIZE / 2) {
		/* The thread continues in the remainder of the chunk. */
		thread->writer = (struct fg_chunk_writer){chunk, used + (uint32_t)size, crc,
							  chunk->base_time_ns};
	}
	return true;
}

bool fg_note(struct fg_thread *thread, const char *text)
{
	fg_record_begin(thread, FG_RECORD_NOTE);
	fg_record_text(thread, text, strlen(text));
	return fg_record_write(thread);
}

bool fg_sample_write(struct fg_thread *thread, uint64_t now_ns, uint8_t flags, uint32_t node,
		     uint64_t weight_ns)
{
	uint8_t bytes[1 + 3 * 10];
	uint32_t size = 1;

	if (weight_ns != atomic_load(&fg_g.header)->period_ns)
		flags |= FG_SAMPLE_WEIGHT;
	if (!has_room(&thread->writer, sizeof(bytes))) {
		/* Times are relative to the start of the chunk: open a chunk first. */
		struct fg_trace_chunk *chunk = chunk_new(thread, sizeof(bytes), now_ns);

		if (!chunk)
			return false;
		thread->writer = (struct fg_chunk_writer){chunk, 0, 0, now_ns};
	}
	bytes[0] = FG_SAMPLE | flags;
	size += put_varint(bytes + size, now_ns - thread->writer.last_time_ns);
	size += put_varint(bytes + size, node);
	if (flags & FG_SAMPLE_WEIGHT)
		size += put_varint(bytes + size, weight_ns);
	if (!append(thread, bytes, size))
		return false;
	thread->writer.last_time_ns = now_ns;
	return true;
}
