// SPDX-License-Identifier: Apache-2.0
/*
 * A file is opened when its name first appears.  From then on a look reads its header: `allocated`
 * says what was used since the look before, and that pages are made only for a program that goes
 * on.  `made` tells the collector how far they reach.
 *
 * The header is read, and `made` written, by system calls: the file may be cut at any time, where
 * access to a mapping would raise SIGBUS.  MADV_POPULATE_WRITE makes a page without changing what
 * is in it, and fails where a store would raise that signal.
 */
#include "runner/pages_ahead.h"

#include "base/fs.h"
#include "base/map.h"
#include "base/text.h"
#include "collector/trace_format.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
# define MADV_POPULATE_WRITE 23
#endif

enum {
	NAMES_MAX = 65536,
	NAMES_PER_LOOK = 1000, /* a folder of more is listed less often, by as much */
};

struct file {
	int fd;
	uint64_t allocated; /* at the last look; 0: none yet */
	uint64_t made;      /* by us, up to here; 0: nothing */
	unsigned idle_looks;
};

struct fg_pages_ahead {
	char *folder;
	struct timespec changed; /* the folder, when it was last listed */
	bool listed_twice;       /* since then: a change leaves no trace in the same tick */
	size_t looks_to_listing;
	struct fg_map names; /* of all files that were ever opened */
	struct file files[FG_PAGES_AHEAD_FILES_MAX];
	size_t file_count;
};

struct fg_pages_ahead *fg_pages_ahead_new(const char *folder)
{
	struct fg_pages_ahead *ahead = fg_xcalloc(1, sizeof(*ahead));

	ahead->folder = fg_xstrdup(folder);
	return ahead;
}

void fg_pages_ahead_free(struct fg_pages_ahead *ahead)
{
	if (!ahead)
		return;
	for (size_t i = 0; i < ahead->file_count; i++)
		(void)close(ahead->files[i].fd);
	fg_map_release(&ahead->names);
	free(ahead->folder);
	free(ahead);
}

/* ---- files ---- */

static bool is_listing_due(struct fg_pages_ahead *ahead)
{
	struct stat status;
	bool is_same;

	if (ahead->looks_to_listing > 0) {
		ahead->looks_to_listing--;
		return false;
	}
	if (stat(ahead->folder, &status) != 0)
		return false;
	is_same = status.st_mtim.tv_sec == ahead->changed.tv_sec &&
		  status.st_mtim.tv_nsec == ahead->changed.tv_nsec;
	if (is_same && ahead->listed_twice)
		return false;
	ahead->listed_twice = is_same;
	ahead->changed = status.st_mtim;
	return true;
}

/* The program may have put links, pipes or devices there. */
static int open_file(const char *folder, const char *name)
{
	char *path = fg_fs_join(folder, name);
	const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	free(path);
	if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
		return fd;
	(void)close(fd);
	return -1;
}

static void add_files(struct fg_pages_ahead *ahead)
{
	char **names = NULL;
	size_t count = 0;

	if (!is_listing_due(ahead) || fg_fs_list(ahead->folder, &names, &count, NULL) != FG_OK)
		return;
	ahead->looks_to_listing = count / NAMES_PER_LOOK;
	for (size_t i = 0; i < count && ahead->names.count < NAMES_MAX; i++) {
		bool is_new = false;
		int fd = -1;

		if (!fg_text_ends_with(names[i], FG_TRACE_SUFFIX))
			continue;
		if (ahead->file_count == FG_PAGES_AHEAD_FILES_MAX) {
			ahead->listed_twice = false; /* for those that must wait for a place */
			break;
		}
		(void)fg_map_add_text(&ahead->names, names[i], 0, &is_new);
		if (is_new)
			fd = open_file(ahead->folder, names[i]);
		if (fd >= 0)
			ahead->files[ahead->file_count++] = (struct file){.fd = fd};
	}
	fg_fs_list_free(names, count);
}

/* ---- pages ---- */

static bool make_pages(struct file *file, uint64_t from, uint64_t to)
{
	const size_t size = (size_t)(to - from);
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, (off_t)from);
	bool is_made = false;

	if (at == MAP_FAILED)
		return false;
	is_made = madvise(at, size, MADV_POPULATE_WRITE) == 0;
	(void)munmap(at, size);
	if (!is_made)
		return false;
	file->made = to;
	return pwrite(file->fd, &to, sizeof(to), offsetof(struct fg_trace_header, made)) ==
	       (ssize_t)sizeof(to);
}

/* `used` is where the program goes on, `step` what it took from one look to the next. */
static bool keep_ahead(struct file *file, uint64_t used, uint64_t step, uint64_t limit)
{
	uint64_t bytes = FG_PAGES_AHEAD_MIN_BYTES;
	uint64_t from = used & ~(uint64_t)(FG_TRACE_ALIGN - 1);

	if (step > FG_PAGES_AHEAD_MAX_BYTES / 2)
		bytes = FG_PAGES_AHEAD_MAX_BYTES;
	else if (2 * step > bytes)
		bytes = 2 * step & ~(uint64_t)(FG_TRACE_ALIGN - 1);
	if (from >= limit)
		return true;
	/* Seldom and many at a time. */
	if (file->made > from && file->made - from >= bytes / 2)
		return true;
	if (bytes > limit - from)
		bytes = limit - from;
	const uint64_t to = from + bytes;

	if (from < file->made)
		from = file->made;
	return to <= from || make_pages(file, from, to);
}

static bool is_going_on(const struct fg_trace_header *header)
{
	return header->version == FG_TRACE_VERSION && header->end == FG_END_UNKNOWN &&
	       header->state != FG_STATE_REFUSED;
}

/* False: nothing more is to be done for it. */
static bool look_at(struct file *file)
{
	struct fg_trace_header header;
	struct stat status;
	uint64_t before = file->allocated;
	uint64_t limit;

	if (fstat(file->fd, &status) != 0 || status.st_nlink == 0)
		return false;
	if (pread(file->fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header.magic, FG_TRACE_MAGIC, sizeof(header.magic)) != 0)
		return ++file->idle_looks < FG_PAGES_AHEAD_IDLE_LOOKS; /* it is being made */
	if (!is_going_on(&header))
		return false;
	file->allocated = header.allocated;
	if (before == 0 || header.allocated <= before)
		return ++file->idle_looks < FG_PAGES_AHEAD_IDLE_LOOKS;
	file->idle_looks = 0;
	limit = (uint64_t)status.st_size < header.capacity ? (uint64_t)status.st_size
							   : header.capacity;
	return keep_ahead(file, header.allocated, header.allocated - before,
			  limit & ~(uint64_t)(FG_TRACE_ALIGN - 1));
}

void fg_pages_ahead_look(struct fg_pages_ahead *ahead)
{
	add_files(ahead);
	for (size_t i = 0; i < ahead->file_count;) {
		struct file *file = &ahead->files[i];

		if (look_at(file)) {
			i++;
			continue;
		}
		(void)close(file->fd);
		*file = ahead->files[--ahead->file_count];
	}
}
