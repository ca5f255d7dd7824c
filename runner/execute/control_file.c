// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/control_file.h"

#include "base/text.h"
#include "collector/sampler/collector_env.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TEXT_MAX = 4096, /* bytes of the file that are read; the rest is ignored */
	TICK_MS = 200,   /* polling interval if the kernel does not report changes */
};

struct fg_control_file {
	char *path;
	char *page_path;
	struct fg_control_page *page;
	int page_fd;
	int changes; /* inotify; -1: poll only */
	int end;     /* eventfd */
	bool watched;
	pthread_t watcher;
	/* The text as last read. */
	size_t size;
	char text[TEXT_MAX];
};

/* ---- content of the file ---- */

static bool is_dump(const char *line, size_t size)
{
	static const char word[] = "dump";

	return size == sizeof(word) - 1 && memcmp(line, word, size) == 0;
}

/*
 * Counts the lines "dump", without the last line if it is incomplete. Returns the end of the
 * complete lines.
 */
static size_t count_dumps(const char *text, size_t begin, size_t size, uint32_t *dumps)
{
	const char *line = text + begin;
	const char *end = NULL;

	while ((end = memchr(line, '\n', size - (size_t)(line - text)))) {
		*dumps += is_dump(line, (size_t)(end - line));
		line = end + 1;
	}
	return (size_t)(line - text);
}

/*
 * Returns the position of the new lines. If the old text is unchanged except for its first byte,
 * lines were appended; otherwise everything after the state is new.
 */
static size_t begin_of_new_lines(const struct fg_control_file *control, const char *text,
				 size_t size)
{
	if (control->size > 1 && control->size <= size &&
	    memcmp(control->text + 1, text + 1, control->size - 1) == 0)
		return control->size;
	return text[0] == '0' || text[0] == '1' ? 1 : 0;
}

/* Returns the number of bytes read; 0: the file cannot be read now. */
static size_t read_text(const struct fg_control_file *control, char *text)
{
	struct stat status;
	ssize_t size = 0;
	const int fd =
		open(control->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		size = read(fd, text, TEXT_MAX);
	(void)close(fd);
	return size > 0 ? (size_t)size : 0;
}

void fg_control_file_look(struct fg_control_file *control)
{
	char text[TEXT_MAX];
	uint32_t dumps = 0;
	const size_t size = read_text(control, text);

	if (size == 0) {
		control->size = 0;
		return;
	}
	control->size = count_dumps(text, begin_of_new_lines(control, text, size), size, &dumps);
	memcpy(control->text, text, control->size);
	__atomic_store_n(&control->page->off, text[0] == '0', __ATOMIC_RELEASE);
	(void)__atomic_add_fetch(&control->page->dumps, dumps, __ATOMIC_RELEASE);
}

/* ---- page for the program ---- */

static int make_page(struct fg_control_file *control, struct fg_error *err)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	void *at = MAP_FAILED;

	control->page_fd = memfd_create("fastgate-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (control->page_fd < 0 || ftruncate(control->page_fd, FG_CONTROL_PAGE_SIZE) != 0 ||
	    fcntl(control->page_fd, F_ADD_SEALS, seals) != 0)
		return fg_error_errno(err, FG_EIO, "cannot create a page for %s", control->path);
	at = mmap(NULL, FG_CONTROL_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, control->page_fd,
		  0);
	if (at == MAP_FAILED)
		return fg_error_errno(err, FG_EIO, "cannot map a page for %s", control->path);
	control->page = at;
	control->page->magic = FG_CONTROL_MAGIC;
	control->page_path = fg_xasprintf("/proc/%d/fd/%d", (int)getpid(), control->page_fd);
	return FG_OK;
}

static int make_file(const char *path, struct fg_error *err)
{
	struct stat status;
	bool failed = false;
	int result = FG_OK;
	const int fd =
		open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);

	if (fd < 0)
		return fg_error_errno(err, FG_EIO, "%s", path);
	failed = fstat(fd, &status) != 0;
	if (!failed && !S_ISREG(status.st_mode))
		result = fg_error_set(err, FG_EINVAL, "%s is not a regular file", path);
	else if (!failed && status.st_size == 0)
		failed = write(fd, "1", 1) != 1;
	if (failed)
		result = fg_error_errno(err, FG_EIO, "%s", path);
	(void)close(fd);
	return result;
}

/* Watches the folder, since the file may be replaced. If that fails, polling remains. */
static int open_changes(struct fg_control_file *control, struct fg_error *err)
{
	const uint32_t kinds = IN_MODIFY | IN_CREATE | IN_MOVED_TO;
	char *folder = fg_xstrdup(control->path);
	char *slash = strrchr(folder, '/');

	slash[slash == folder] = '\0';
	control->changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (control->changes >= 0)
		(void)inotify_add_watch(control->changes, folder, kinds);
	free(folder);
	control->end = eventfd(0, EFD_CLOEXEC);
	if (control->end < 0)
		return fg_error_errno(err, FG_EIO, "cannot watch %s", control->path);
	return FG_OK;
}

int fg_control_file_open(const char *path, struct fg_control_file **control, struct fg_error *err)
{
	struct fg_control_file *made = NULL;
	int status = FG_OK;

	FG_TRY(make_file(path, err));
	made = fg_xcalloc(1, sizeof(*made));
	made->page_fd = -1;
	made->changes = -1;
	made->end = -1;
	made->path = realpath(path, NULL);
	if (!made->path)
		FG_TRY_OUT(fg_error_errno(err, FG_EIO, "%s", path));
	FG_TRY_OUT(make_page(made, err));
	FG_TRY_OUT(open_changes(made, err));
	fg_control_file_look(made);
	/* Lines that exist already belong to an earlier recording. */
	made->page->dumps = 0;
	*control = made;
	made = NULL;
out:
	fg_control_file_close(made);
	return status;
}

const char *fg_control_file_page(const struct fg_control_file *control)
{
	return control->page_path;
}

/* ---- changes ---- */

static void await_change(const struct fg_control_file *control, bool *ends)
{
	struct pollfd ready[] = {{.fd = control->end, .events = POLLIN},
				 {.fd = control->changes, .events = POLLIN}};
	char unread[4096];

	(void)poll(ready, FG_ARRAY_SIZE(ready), TICK_MS);
	if (ready[1].revents)
		(void)!read(control->changes, unread, sizeof(unread));
	*ends = ready[0].revents != 0;
}

static void *watch(void *data)
{
	struct fg_control_file *control = data;
	bool ends = false;

	while (!ends) {
		await_change(control, &ends);
		fg_control_file_look(control);
	}
	return NULL;
}

void fg_control_file_watch(struct fg_control_file *control)
{
	sigset_t all;
	sigset_t before;

	if (!control)
		return;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	control->watched = pthread_create(&control->watcher, NULL, watch, control) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fg_control_file_close(struct fg_control_file *control)
{
	if (!control)
		return;
	if (control->watched) {
		(void)eventfd_write(control->end, 1);
		(void)pthread_join(control->watcher, NULL);
	}
	if (control->end >= 0)
		(void)close(control->end);
	if (control->changes >= 0)
		(void)close(control->changes);
	if (control->page)
		(void)munmap(control->page, FG_CONTROL_PAGE_SIZE);
	if (control->page_fd >= 0)
		(void)close(control->page_fd);
	free(control->page_path);
	free(control->path);
	free(control);
}
