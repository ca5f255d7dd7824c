// SPDX-License-Identifier: Apache-2.0
/*
 * Every word that may be a pointer counts as a pointer: a number that looks like an address can
 * hide a leak, but false leaks are rare. The roots are private writable memory (rw-p): variables,
 * stacks, and the program's own mappings. The search leaves out the collector's own memory, the
 * stack below the calling function, and the gaps between the blocks of a heap: freed memory is full
 * of old pointers.
 *
 * Memory is read with a system call that fails if another thread has just unmapped it.
 */
#include "collector/counting/live.h"
#include "collector/counting/own_memory.h"
#include "collector/sampler/collector_env.h"
#include "collector/unwind/readable.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	WORD = sizeof(uintptr_t),
	READ_BYTES = 1 << 16,
	/* fewer pages than this are read without checking whether they were touched */
	FEW_PAGES = 16,
	PAGES_AT_ONCE = 1024,
	/* glibc maps the heaps of threads at multiples of this */
	HEAP_ALIGN = sizeof(void *) > 4 ? 1 << 26 : 1 << 20,
};

#define HAS_CONTENT \
 (UINT64_C(3) << 62) /* bits of a word of /proc/self/pagemap: in memory, or swapped out */

struct item {
	uintptr_t begin;
	size_t size;
	uint32_t site;
	bool reached;
};

static struct {
	struct item *items; /* sorted by address */
	size_t count;
	size_t capacity;
	uint32_t *reached; /* blocks whose contents are not yet searched */
	size_t reached_count;
	uintptr_t stack; /* stack pointer of the calling thread; the stack below is not in use */
	uintptr_t words[READ_BYTES / WORD];
	uint64_t pages[PAGES_AT_ONCE];
	char lines[FG_PROC_LINES_ROOM];
	int pagemap; /* descriptor of /proc/self/pagemap */
	pid_t pid;
} search;

/* ---- the blocks ---- */

/* Returns the end of the block; even a block of size 0 has an address. */
static uintptr_t end_of(const struct item *item)
{
	return item->begin + (item->size ? item->size : 1);
}

static void count_item(uintptr_t address, struct fg_memory_block block)
{
	(void)address;
	(void)block;
	search.capacity++;
}

static void add_item(uintptr_t address, struct fg_memory_block block)
{
	if (search.count == search.capacity)
		return;
	search.items[search.count++] =
		(struct item){.begin = address, .size = (size_t)block.size, .site = block.site};
}

/* Returns the number of blocks that begin at or before `address`. */
static size_t below(uintptr_t address)
{
	size_t low = 0;
	size_t high = search.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (search.items[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool list_blocks(void)
{
	search.capacity = 0;
	search.count = 0;
	search.reached_count = 0;
	fg_blocks_each(count_item);
	if (search.capacity == 0)
		return true;
	search.items = fg_own_map(search.capacity * sizeof(search.items[0]), 0);
	search.reached = fg_own_map(search.capacity * sizeof(search.reached[0]), 0);
	if (!search.items || !search.reached)
		return false;
	fg_blocks_each(add_item);
	return true;
}

/* ---- the search ---- */

static void follow(uintptr_t value)
{
	size_t number = 0;
	struct item *item = NULL;

	if (value < search.items[0].begin || value >= end_of(&search.items[search.count - 1]))
		return;
	number = below(value);
	item = &search.items[number - 1];
	if (value >= end_of(item) || item->reached)
		return;
	item->reached = true;
	search.reached[search.reached_count++] = (uint32_t)(number - 1);
}

/* Returns the number of bytes that could be read; negative: none. */
static long read_words(uintptr_t from, size_t size)
{
	const struct iovec here = {search.words, size};
	const struct iovec there = {(void *)from, size};

	/*
	 * The last argument is passed on the stack, where an int would set only half of the word.
	 */
	return syscall(SYS_process_vm_readv, search.pid, &here, 1, &there, 1, 0UL);
}

static void search_words(uintptr_t from, uintptr_t to)
{
	from = (from + WORD - 1) & ~(uintptr_t)(WORD - 1);
	while (from + WORD <= to) {
		const size_t size = to - from < READ_BYTES ? to - from : READ_BYTES;
		const long got = read_words(from, size);

		for (long i = 0; i < got / WORD; i++)
			follow(search.words[i]);
		/* A page is gone: continue after it. */
		from = got >= WORD ? from + (size_t)got / WORD * WORD
				   : fg_page_down(from + fg_page);
	}
}

/* Searches the pages except untouched pages, which are empty and slow to read. */
static void search_pages(uintptr_t from, size_t count)
{
	const uintptr_t offset = from / fg_page * sizeof(search.pages[0]);
	const long got = syscall(SYS_lseek, search.pagemap, offset, SEEK_SET) < 0
				 ? -1
				 : syscall(SYS_read, search.pagemap, search.pages,
					   count * sizeof(search.pages[0]));
	const size_t known = got > 0 ? (size_t)got / sizeof(search.pages[0]) : 0;
	size_t begin = 0;

	for (size_t i = 0; i <= count; i++) {
		if (i < count && (i >= known || search.pages[i] & HAS_CONTENT))
			continue;
		if (i > begin)
			search_words(from + begin * fg_page, from + i * fg_page);
		begin = i + 1;
	}
}

static void search_part(uintptr_t from, uintptr_t to)
{
	const uintptr_t first = fg_page_up(from);
	const uintptr_t last = fg_page_down(to);

	if (last <= first || (last - first) / fg_page < FEW_PAGES) {
		search_words(from, to);
		return;
	}
	search_words(from, first);
	for (uintptr_t at = first; at < last; at += (uintptr_t)PAGES_AT_ONCE * fg_page)
		search_pages(at, (last - at) / fg_page < PAGES_AT_ONCE ? (last - at) / fg_page
								       : PAGES_AT_ONCE);
	search_words(last, to);
}

static void search_reached(void)
{
	while (search.reached_count > 0) {
		const struct item *item = &search.items[search.reached[--search.reached_count]];

		search_part(item->begin, item->begin + item->size);
	}
}

/* ---- the roots ---- */

/*
 * Returns the end of the block that covers `at`, or 0. Lowers `*next` to the start of the next
 * block if that comes first.
 */
static uintptr_t block_end(uintptr_t at, uintptr_t *next)
{
	const size_t number = below(at);

	if (number < search.count && search.items[number].begin < *next)
		*next = search.items[number].begin;
	return number > 0 && at < end_of(&search.items[number - 1])
		       ? end_of(&search.items[number - 1])
		       : 0;
}

static void search_between(uintptr_t at, uintptr_t end)
{
	while (at < end) {
		uintptr_t next = end;
		uintptr_t skip = fg_own_memory_end(at, end, &next);

		if (!skip)
			skip = block_end(at, &next);
		if (!skip)
			search_part(at, next);
		at = skip ? skip : next;
	}
}

static bool has_blocks(uintptr_t begin, uintptr_t end)
{
	return below(end - 1) > below(begin);
}

static void search_mapping(uintptr_t begin, uintptr_t end, const char *name)
{
	const bool is_heap = strcmp(name, "[heap]") == 0 || begin % HEAP_ALIGN == 0;

	if (strstr(name, FG_COLLECTOR_NAME) || (is_heap && has_blocks(begin, end)))
		return;
	if (search.stack > begin && search.stack < end)
		begin = search.stack;
	search_between(begin, end);
}

static uintptr_t take_hex(const char **text)
{
	uintptr_t value = 0;

	for (;; (*text)++) {
		const char c = **text;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* Reads a line such as "7f0c-7f0d rw-p 00000000 00:00 0    [heap]". */
static void take_line(void *context, const char *line)
{
	const uintptr_t begin = take_hex(&line);
	const char *name = strchr(line, '/');
	uintptr_t end = 0;

	(void)context;
	if (*line++ != '-')
		return;
	end = take_hex(&line);
	if (strncmp(line, " rw-p", 5) != 0)
		return;
	if (!name)
		name = strchr(line, '[');
	search_mapping(begin, end, name ? name : "");
}

bool fg_proc_lines(const char *path, char room[FG_PROC_LINES_ROOM],
		   void (*take)(void *context, const char *line), void *context)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	size_t kept = 0;
	long got = 0;

	if (fd < 0)
		return false;
	while ((got = syscall(SYS_read, fd, room + kept, FG_PROC_LINES_ROOM - 1 - kept)) > 0) {
		char *line = room;
		char *end = NULL;

		room[kept + (size_t)got] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			take(context, line);
		}
		kept = strlen(line);
		memmove(room, line, kept);
	}
	(void)syscall(SYS_close, fd);
	return got == 0;
}

bool fg_leaks_find(void (*lost)(const struct fg_memory_block *block))
{
	bool is_done = false;

	search.stack = (uintptr_t)__builtin_frame_address(0);
	search.pid = (pid_t)syscall(SYS_getpid);
	if (!list_blocks())
		return false;
	if (search.count == 0)
		return true;
	if (read_words(search.items[0].begin, WORD) < 0)
		return false;
	search.pagemap =
		(int)syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	is_done = fg_proc_lines("/proc/self/maps", search.lines, take_line, NULL);
	search_reached();
	if (search.pagemap >= 0)
		(void)syscall(SYS_close, search.pagemap);
	if (!is_done)
		return false;
	for (size_t i = 0; i < search.count; i++) {
		const struct item *item = &search.items[i];
		const struct fg_memory_block block = {.site = item->site, .size = item->size};

		if (!item->reached)
			lost(&block);
	}
	return true;
}
