// SPDX-License-Identifier: Apache-2.0
/*
 * /proc/self/maps is read, about 0.2 us a mapping, in a handler if need be: a program
 * that is killed has no other moment.  Of several files the one of this process counts; a child of
 * fork runs code that its parent described.
 */
#include "collector/unwind/jit_dumps.h"

#include "collector/sampler/writer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	LINE_SIZE = 4608, /* longer ones, with a path above PATH_MAX, are passed over */
	MOST_BYTES = 4 << 20,
	EXECUTABLE_AT = 3, /* in "r-xp" */
	FIELDS = 5,        /* before the path */
};

static _Atomic uint32_t met; /* addresses in code of no module */
static _Atomic bool is_found;
static _Atomic bool is_searching;

/* They belong to whoever is searching. */
static char text[2 * LINE_SIZE];
static char candidate[LINE_SIZE];

/* The process of ".../jit-PID.dump"; 0: it is another file. */
static uint64_t owner_of(const char *path)
{
	static const char before[] = "jit-";
	const char *name = strrchr(path, '/');
	uint64_t pid = 0;

	if (!name || strncmp(name + 1, before, sizeof(before) - 1) != 0)
		return 0;
	for (name += sizeof(before); *name >= '0' && *name <= '9' && pid <= INT32_MAX; name++)
		pid = pid * 10 + (uint64_t)(*name - '0');
	return strcmp(name, ".dump") == 0 ? pid : 0;
}

/* The end of the blanks, or of the word, that begins here. */
static const char *behind(const char *at, bool blanks)
{
	while (*at && (*at == ' ') == blanks)
		at++;
	return at;
}

/* "7f00-7f01 r-xp 00000000 08:01 4711    /path"; whether the search is over. */
static bool take_line(const char *line)
{
	const char *at = strchr(line, ' ');
	uint64_t owner = 0;

	if (!at || strlen(at) <= 1 + EXECUTABLE_AT || at[1 + EXECUTABLE_AT - 1] != 'x')
		return false;
	for (unsigned field = 1; field < FIELDS && *at; field++) {
		at = behind(at, true);
		at = behind(at, false);
	}
	at = behind(at, true);
	owner = owner_of(at);
	if (owner && (owner == (uint64_t)fg_g.pid || !candidate[0]))
		memcpy(candidate, at, strlen(at) + 1);
	return owner == (uint64_t)fg_g.pid;
}

/* Takes all whole lines out of `size` bytes; `*left` bytes of an unfinished one remain in front. */
static bool take_lines(size_t size, size_t *left)
{
	char *line = text;
	char *end = NULL;

	while ((end = memchr(line, '\n', size - (size_t)(line - text)))) {
		*end = '\0';
		if (take_line(line))
			return true;
		line = end + 1;
	}
	*left = size - (size_t)(line - text);
	if (*left > LINE_SIZE)
		*left = 0;
	memmove(text, line, *left);
	return false;
}

static void search(struct fg_thread *thread)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t left = 0;
	long got = 1;

	if (fd < 0)
		return;
	candidate[0] = '\0';
	for (size_t all = 0; got > 0 && all < MOST_BYTES; all += (size_t)got) {
		got = syscall(SYS_read, fd, text + left, LINE_SIZE);
		if (got > 0 && take_lines(left + (size_t)got, &left))
			break;
	}
	(void)syscall(SYS_close, fd);
	if (!candidate[0])
		return;
	fg_record_begin(thread, FG_RECORD_JIT_DUMP);
	fg_record_number(thread, fg_clock_ns(CLOCK_MONOTONIC));
	fg_record_text(thread, candidate, strlen(candidate));
	atomic_store(&is_found, fg_record_write(thread));
}

static void search_alone(struct fg_thread *thread)
{
	if (fg_g.sandboxed || atomic_load(&is_found) || atomic_exchange(&is_searching, true))
		return;
	search(thread);
	atomic_store(&is_searching, false);
}

void fg_jit_dump_met_code(struct fg_thread *thread)
{
	const uint32_t times = atomic_fetch_add_explicit(&met, 1, memory_order_relaxed) + 1;

	if (times == 1 || times == 16 || times == 256 || times == 4096)
		search_alone(thread);
}

void fg_jit_dump_at_end(struct fg_thread *thread)
{
	if (atomic_load(&met) > 0)
		search_alone(thread);
}

void fg_jit_dump_forget(void)
{
	atomic_store(&met, 0);
	atomic_store(&is_found, false);
	atomic_store(&is_searching, false);
}
