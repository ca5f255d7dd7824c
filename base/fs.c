// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"

#include "base/clock.h"
#include "base/sort.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads the rest of an open file and closes it. */
static int read_and_close(int fd, const char *path, size_t max_bytes, char **data, size_t *size,
			  struct fg_error *err)
{
	char *text = NULL;
	size_t room = 0;
	size_t used = 0;
	int status = FG_OK;

	/* stat() cannot size the buffer: files in /proc report no size. */
	for (;;) {
		ssize_t got = 0;

		text = fg_grow(text, &room, used + 4096, 1);
		got = read(fd, text + used, room - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			status = fg_error_errno(err, FG_EIO, "%s", path);
			goto out;
		}
		if (got == 0)
			break;
		used += (size_t)got;
		if (used > max_bytes) {
			status = fg_error_set(err, FG_ELIMIT,
					      "%s is larger than the limit of %zu bytes", path,
					      max_bytes);
			goto out;
		}
	}
	text[used] = '\0';
	*data = text;
	text = NULL;
	if (size)
		*size = used;
out:
	free(text);
	(void)close(fd);
	return status;
}

static int cannot_open(const char *path, struct fg_error *err)
{
	return fg_error_errno(err, errno == ENOENT ? FG_ENOENT : FG_EIO, "%s", path);
}

int fg_fs_read(const char *path, size_t max_bytes, char **data, size_t *size, struct fg_error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return cannot_open(path, err);
	return read_and_close(fd, path, max_bytes, data, size, err);
}

int fg_fs_read_regular(const char *path, size_t max_bytes, char **data, size_t *size,
		       struct fg_error *err)
{
	/*
	 * The file is opened before it is checked, so nobody can swap it in between. Opening does
	 * not wait for a pipe's writer.
	 */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;

	if (fd < 0)
		return cannot_open(path, err);
	if (fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
		(void)close(fd);
		return fg_error_set(err, FG_EINVAL, "%s is not a regular file", path);
	}
	return read_and_close(fd, path, max_bytes, data, size, err);
}

int fg_fs_write_all(int fd, const void *data, size_t size, struct fg_error *err)
{
	const char *bytes = data;

	while (size > 0) {
		const ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return fg_error_errno(err, FG_EIO, "cannot write");
		bytes += written;
		size -= (size_t)written;
	}
	return FG_OK;
}

/* The rename is durable only once its folder is also on disk. */
static int sync_folder(const char *path, struct fg_error *err)
{
	char *parent = fg_fs_parent(path);
	const int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status = FG_OK;

	/* Some file systems refuse to sync a folder (EINVAL) and offer nothing better. */
	if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL)
		status = fg_error_errno(err, FG_EIO, "%s", parent);
	if (fd >= 0)
		(void)close(fd);
	free(parent);
	return status;
}

static int publish(int fd, const char *temporary, const char *path, unsigned mode,
		   struct fg_error *err)
{
	if (fchmod(fd, (mode_t)mode) != 0 || fsync(fd) != 0 || rename(temporary, path) != 0)
		return fg_error_errno(err, FG_EIO, "cannot write %s", path);
	return sync_folder(path, err);
}

int fg_fs_write_atomic(const char *path, const void *data, size_t size, unsigned mode,
		       struct fg_error *err)
{
	char *temporary = fg_xasprintf("%s.XXXXXX", path);
	const int fd = mkostemp(temporary, O_CLOEXEC);
	int status = FG_OK;

	if (fd < 0) {
		status = fg_error_errno(err, FG_EIO, "cannot write %s", path);
		goto out;
	}
	status = fg_fs_write_all(fd, data ? data : "", size, err);
	if (status != FG_OK)
		fg_error_prefix(err, "%s", path);
	else
		status = publish(fd, temporary, path, mode, err);
	(void)close(fd);
	if (status != FG_OK)
		(void)unlink(temporary);
out:
	free(temporary);
	return status;
}

int fg_fs_unnamed(const char *folder, int *fd, struct fg_error *err)
{
	const char *temporary = getenv("TMPDIR");
	int made = -1;

	if (!folder)
		folder = temporary && *temporary ? temporary : "/tmp";
	made = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (made < 0)
		return fg_error_errno(err, FG_EIO, "cannot create a temporary file in %s", folder);
	*fd = made;
	return FG_OK;
}

static int write_special(const char *path, const void *data, size_t size, struct fg_error *err)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int status = FG_OK;

	if (fd < 0)
		return fg_error_errno(err, FG_EIO, "cannot write %s", path);
	status = fg_fs_write_all(fd, data, size, err);
	if (status != FG_OK)
		fg_error_prefix(err, "%s", path);
	if (close(fd) != 0 && status == FG_OK)
		status = fg_error_errno(err, FG_EIO, "cannot write %s", path);
	return status;
}

int fg_fs_write_result(const char *path, const void *data, size_t size, struct fg_error *err)
{
	struct stat info = {0};
	char *target = NULL;
	int status = FG_OK;

	if (fg_fs_is_planted(path))
		return fg_error_set(err, FG_EIO,
				    "cannot write %s: it is a link that another user made", path);
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
		return write_special(path, data, size, err);
	if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
		target = realpath(path, NULL);
	status = fg_fs_write_atomic(target ? target : path, data, size, 0644, err);
	free(target);
	return status;
}

int fg_fs_make_folders(const char *path, unsigned mode, struct fg_error *err)
{
	char *part = fg_xstrdup(path);
	int status = FG_OK;

	for (char *slash = part + 1; *part && status == FG_OK; slash++) {
		const char end = *slash;

		if (end != '/' && end != '\0')
			continue;
		*slash = '\0';
		if (mkdir(part, (mode_t)mode) != 0 && errno != EEXIST)
			status = fg_error_errno(err, FG_EIO, "cannot create the folder %s", part);
		*slash = end;
		if (end == '\0')
			break;
	}
	if (status != FG_OK)
		goto out;
	if (fg_fs_is_planted(path))
		status = fg_error_set(err, FG_EIO, "%s is a link that another user made", path);
	if (status != FG_OK)
		goto out;
	if (!fg_fs_is_folder(path))
		status = fg_error_set(err, FG_EIO, "%s exists and is not a folder", path);
out:
	free(part);
	return status;
}

static int remove_below(int folder_fd, const char *name, unsigned depth, struct fg_error *err);

static int remove_entries(int fd, const char *name, unsigned depth, struct fg_error *err)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *entry = NULL;
	int status = FG_OK;

	if (!folder) {
		(void)close(fd);
		return fg_error_errno(err, FG_EIO, "cannot read the folder %s", name);
	}
	while (status == FG_OK && (entry = readdir(folder)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			status = remove_below(dirfd(folder), entry->d_name, depth + 1, err);
	}
	(void)closedir(folder);
	return status;
}

static int remove_below(int folder_fd, const char *name, unsigned depth, struct fg_error *err)
{
	enum {
		DEEPEST = 200
	};
	int fd = -1;
	int status = FG_OK;

	if (unlinkat(folder_fd, name, 0) == 0 || errno == ENOENT)
		return FG_OK;
	if (errno != EISDIR && errno != EPERM)
		return fg_error_errno(err, FG_EIO, "cannot remove %s", name);
	if (depth > DEEPEST)
		return fg_error_set(err, FG_ELIMIT,
				    "cannot remove %s: nested deeper than %d folders", name,
				    DEEPEST);
	fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fg_error_errno(err, FG_EIO, "cannot remove %s", name);
	FG_TRY(remove_entries(fd, name, depth, err));
	if (unlinkat(folder_fd, name, AT_REMOVEDIR) != 0)
		status = fg_error_errno(err, FG_EIO, "cannot remove %s", name);
	return status;
}

int fg_fs_remove_tree(const char *path, struct fg_error *err)
{
	return remove_below(AT_FDCWD, path, 0, err);
}

int fg_fs_temporary_folder(const char *parent, const char *prefix, char **path,
			   struct fg_error *err)
{
	char *name = fg_xasprintf("%s/%s-XXXXXX", parent, prefix);

	if (!mkdtemp(name)) {
		const int status =
			fg_error_errno(err, FG_EIO, "cannot create a folder in %s", parent);

		free(name);
		return status;
	}
	*path = name;
	return FG_OK;
}

int fg_fs_copy(const char *from, const char *to, unsigned mode, struct fg_error *err)
{
	const int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = -1;
	ssize_t got = 0;
	char buffer[65536];
	int status = FG_OK;

	if (in < 0)
		return fg_error_errno(err, errno == ENOENT ? FG_ENOENT : FG_EIO, "%s", from);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)mode);
	if (out < 0) {
		status = fg_error_errno(err, FG_EIO, "%s", to);
		goto done;
	}
	while (status == FG_OK && (got = read(in, buffer, sizeof(buffer))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		status = got < 0 ? fg_error_errno(err, FG_EIO, "%s", from)
				 : fg_fs_write_all(out, buffer, (size_t)got, err);
	}
	if (close(out) != 0 && status == FG_OK)
		status = fg_error_errno(err, FG_EIO, "%s", to);
done:
	(void)close(in);
	return status;
}

void fg_fs_cache_again(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	char buffer[65536];

	if (fd < 0)
		return;
	/* Only pages that are on the disk can be dropped. */
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && fdatasync(fd) == 0 &&
	    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0) {
		while (read(fd, buffer, sizeof(buffer)) > 0)
			;
	}
	(void)close(fd);
}

bool fg_fs_exists(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

/*
 * Performs the kernel's check for fs.protected_symlinks: not every system enables that setting, and
 * readlink() ignores it.
 */
bool fg_fs_is_planted(const char *path)
{
	char *parent = NULL;
	struct stat link;
	struct stat folder;
	bool planted = false;

	if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode) || link.st_uid == geteuid())
		return false;
	parent = fg_fs_parent(path);
	planted = stat(parent, &folder) == 0 && folder.st_mode & S_ISVTX &&
		  folder.st_mode & S_IWOTH && link.st_uid != folder.st_uid;
	free(parent);
	return planted;
}

/*
 * A write lease is granted only to the sole user of a file. SIGURG, which is ignored by default,
 * replaces SIGIO, which would kill us if the lease were broken before it is released.
 */
bool fg_fs_is_in_use(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) != 0)
		return false;
	if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0)
		return errno == EAGAIN || errno == EBUSY;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

bool fg_fs_is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool fg_fs_is_below(const char *folder, const char *path)
{
	char *above = realpath(folder, NULL);
	char *resolved = realpath(path, NULL);
	const size_t length = above ? strlen(above) : 0;
	const bool below = above && resolved && strncmp(resolved, above, length) == 0 &&
			   (resolved[length] == '/' || strcmp(above, "/") == 0);

	free(resolved);
	free(above);
	return below;
}

FG_ORDER_BY(compare_names, char *const, strcmp(*a, *b))

int fg_fs_list(const char *path, char ***names, size_t *count, struct fg_error *err)
{
	DIR *folder = opendir(path);
	const struct dirent *entry = NULL;
	char **found = NULL;
	size_t room = 0;
	size_t used = 0;

	if (!folder)
		return fg_error_errno(err, errno == ENOENT ? FG_ENOENT : FG_EIO, "%s", path);
	while ((entry = readdir(folder)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		FG_APPEND(found, used, room) = fg_xstrdup(entry->d_name);
	}
	(void)closedir(folder);
	if (used > 1)
		qsort(found, used, sizeof(found[0]), compare_names);
	*names = found;
	*count = used;
	return FG_OK;
}

void fg_fs_list_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

int fg_fs_each(const char *folder, void (*visit)(void *context, const char *path), void *context,
	       struct fg_error *err)
{
	char **names = NULL;
	size_t count = 0;

	FG_TRY(fg_fs_list(folder, &names, &count, err));
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);

		visit(context, path);
		free(path);
	}
	fg_fs_list_free(names, count);
	return FG_OK;
}

FG_ORDER_BY(newest_first, struct fg_fs_file, FG_DOWN(written_ns))

struct files {
	struct fg_fs_file *items;
	size_t count, capacity;
};

static void add_file(void *context, const char *path)
{
	struct files *files = context;
	struct stat status;

	if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
		FG_APPEND(files->items, files->count, files->capacity) = (struct fg_fs_file){
			.path = fg_xstrdup(path),
			.written_ns = status.st_mtim.tv_sec * FG_NS_PER_S + status.st_mtim.tv_nsec,
		};
}

size_t fg_fs_newest(const char *folder, struct fg_fs_file **files)
{
	struct files found = {0};

	(void)fg_fs_each(folder, add_file, &found, NULL);
	if (found.count)
		qsort(found.items, found.count, sizeof(found.items[0]), newest_first);
	*files = found.items;
	return found.count;
}

void fg_fs_files_free(struct fg_fs_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(files[i].path);
	free(files);
}

char *fg_fs_join(const char *folder, const char *name)
{
	if (*name == '/' || *folder == '\0')
		return fg_xstrdup(name);
	return fg_xasprintf("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
}

const char *fg_fs_rest_below(const char *folder, const char *path)
{
	size_t length = folder ? strlen(folder) : 0;

	while (length > 1 && folder[length - 1] == '/')
		length--;
	return length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/'
		       ? path + length + 1
		       : NULL;
}

const char *fg_fs_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *fg_fs_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return fg_xstrdup(".");
	return slash == path ? fg_xstrdup("/") : fg_xstrndup(path, (size_t)(slash - path));
}

bool fg_fs_has(const char *folder, const char *name)
{
	char *path = fg_fs_join(folder, name);
	const bool exists = fg_fs_exists(path);

	free(path);
	return exists;
}

char *fg_fs_find_above(const char *folder, const char *name)
{
	char *up = fg_fs_parent(folder);
	char *found = NULL;

	if (fg_fs_has(folder, name))
		found = fg_xstrdup(folder);
	else if (strcmp(up, folder) != 0)
		found = fg_fs_find_above(up, name);
	free(up);
	return found;
}

static bool is_program(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

char *fg_fs_find_program(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return is_program(name) ? fg_xstrdup(name) : NULL;
	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	while (*name) {
		const size_t length = strcspn(path, ":");
		char *folder = length ? fg_xstrndup(path, length) : fg_xstrdup(".");
		char *candidate = fg_fs_join(folder, name);

		free(folder);
		if (is_program(candidate))
			return candidate;
		free(candidate);
		if (path[length] == '\0')
			break;
		path += length + 1;
	}
	return NULL;
}

char *fg_fs_cache_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (cache && *cache == '/')
		return fg_fs_join(cache, "fastgate");
	if (home && *home == '/')
		return fg_fs_join(home, ".cache/fastgate");
	return NULL;
}
