// SPDX-License-Identifier: Apache-2.0
#include "base/beneath.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *path, const char *why, struct fg_error *err)
{
	return fg_error_set(err, FG_EINVAL, "'%s' %s", path, why);
}

/* A folder in the one that is open, which is closed.  *at is -1 if it is missing or an error. */
static int step(int *at, const char *name, bool make, const char *path, struct fg_error *err)
{
	const int from = *at;
	int status = FG_OK;

	if (make && mkdirat(from, name, 0755) != 0 && errno != EEXIST)
		status = fg_error_errno(err, FG_EIO, "cannot make the folder of %s", path);
	*at = status == FG_OK ? openat(from, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			      : -1;
	if (status == FG_OK && *at < 0 && (errno == ENOTDIR || errno == ELOOP))
		status = refuse(path, "has a link or a file where a folder is expected", err);
	else if (status == FG_OK && *at < 0 && errno != ENOENT)
		status = fg_error_errno(err, FG_EIO, "%s", path);
	(void)close(from);
	return status;
}

/* The next name of a path, which ends in *rest; FG_EINVAL: it would lead elsewhere. */
static int next_name(char **rest, const char *path, char **name, struct fg_error *err)
{
	do {
		*name = strsep(rest, "/");
	} while (*name && *rest && (**name == '\0' || strcmp(*name, ".") == 0));
	if (!*name || !**name || strcmp(*name, ".") == 0)
		return refuse(path, "names no file", err);
	if (strcmp(*name, "..") == 0)
		return refuse(path, "leads out of the checkout", err);
	if (strcasecmp(*name, ".git") == 0)
		return refuse(path, "lies in .git", err);
	return FG_OK;
}

/*
 * Opens the folder of the last name, which *name (in `words`) then is.  *at is -1 if a folder is
 * missing, and `make` does not make it.
 */
static int open_parent(const char *folder, const char *path, char *words, bool make, int *at,
		       char **name, struct fg_error *err)
{
	char *rest = words;
	int status = FG_OK;

	if (*path == '/')
		return refuse(path, "is not relative", err);
	*at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*at < 0)
		return fg_error_errno(err, FG_EIO, "%s", folder);
	status = next_name(&rest, path, name, err);
	while (status == FG_OK && rest) {
		if (*at >= 0)
			status = step(at, *name, make, path, err);
		if (status == FG_OK)
			status = next_name(&rest, path, name, err);
	}
	return status;
}

static int check_last(int at, const char *name, const char *path, struct fg_error *err)
{
	struct stat found;

	if (at < 0 || fstatat(at, name, &found, AT_SYMLINK_NOFOLLOW) != 0)
		return FG_OK;
	return S_ISREG(found.st_mode) ? FG_OK : refuse(path, "is not a regular file", err);
}

int fg_beneath_check(const char *folder, const char *path, struct fg_error *err)
{
	char *words = fg_xstrdup(path);
	char *name = NULL;
	int at = -1;
	int status = open_parent(folder, path, words, false, &at, &name, err);

	if (status == FG_OK)
		status = check_last(at, name, path, err);
	if (at >= 0)
		(void)close(at);
	free(words);
	return status;
}

int fg_beneath_write(const char *folder, const char *path, const void *data, size_t size,
		     struct fg_error *err)
{
	char *words = fg_xstrdup(path);
	char *name = NULL;
	char *target = NULL;
	int at = -1;
	int status = open_parent(folder, path, words, true, &at, &name, err);

	if (status == FG_OK)
		status = check_last(at, name, path, err);
	if (status != FG_OK)
		goto out;
	/* The open folder's own name: nothing on the way to it is looked up again. */
	target = fg_xasprintf("/proc/self/fd/%d/%s", at, name);
	status = fg_fs_write_atomic(target, data, size, 0644, err);
	if (status != FG_OK)
		fg_error_prefix(err, "%s", path);
out:
	if (at >= 0)
		(void)close(at);
	free(target);
	free(words);
	return status;
}
