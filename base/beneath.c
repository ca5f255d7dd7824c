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

/*
 * Opens the folder `name` below the folder *at, and closes the outer folder. *at becomes -1 if
 * `name` is missing or on error.
 */
static int step(int *at, const char *name, bool make, const char *path, struct fg_error *err)
{
	const int from = *at;
	int status = FG_OK;

	if (make && mkdirat(from, name, 0755) != 0 && errno != EEXIST)
		status = fg_error_errno(err, FG_EIO, "cannot create the folder of %s", path);
	*at = status == FG_OK ? openat(from, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			      : -1;
	if (status == FG_OK && *at < 0 && (errno == ENOTDIR || errno == ELOOP))
		status = refuse(path, "has a link or a file where a folder is expected", err);
	else if (status == FG_OK && *at < 0 && errno != ENOENT)
		status = fg_error_errno(err, FG_EIO, "%s", path);
	(void)close(from);
	return status;
}

/*
 * Takes the next name of a path and leaves the remainder in *rest. FG_EINVAL: no name is left, or
 * the name would leave the folder or enter .git.
 */
static int next_name(char **rest, const char *path, char **name, struct fg_error *err)
{
	do {
		*name = strsep(rest, "/");
	} while (*name && *rest && (**name == '\0' || strcmp(*name, ".") == 0));
	if (!*name || !**name || strcmp(*name, ".") == 0)
		return refuse(path, "does not name a file", err);
	if (strcmp(*name, "..") == 0)
		return refuse(path, "leads out of the checkout", err);
	if (strcasecmp(*name, ".git") == 0)
		return refuse(path, "lies in .git", err);
	return FG_OK;
}

/* A file below a folder: its open parent folder (-1: missing) and its name there. */
struct place {
	char *words; /* the path, split into its names */
	char *name;
	int at;
};

static int open_place(struct place *place, const char *folder, const char *path, bool make,
		      struct fg_error *err)
{
	char *rest = fg_xstrdup(path);
	int status = FG_OK;

	*place = (struct place){.words = rest, .at = -1};
	if (*path == '/')
		return refuse(path, "is not relative", err);
	place->at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (place->at < 0)
		return fg_error_errno(err, FG_EIO, "%s", folder);
	status = next_name(&rest, path, &place->name, err);
	while (status == FG_OK && rest) {
		if (place->at >= 0)
			status = step(&place->at, place->name, make, path, err);
		if (status == FG_OK)
			status = next_name(&rest, path, &place->name, err);
	}
	return status;
}

static void close_place(struct place *place)
{
	if (place->at >= 0)
		(void)close(place->at);
	free(place->words);
}

static int check_last(const struct place *place, const char *path, struct fg_error *err)
{
	struct stat found;

	if (place->at < 0 || fstatat(place->at, place->name, &found, AT_SYMLINK_NOFOLLOW) != 0)
		return FG_OK;
	return S_ISREG(found.st_mode) ? FG_OK : refuse(path, "is not a regular file", err);
}

int fg_beneath_check(const char *folder, const char *path, struct fg_error *err)
{
	struct place place;
	int status = open_place(&place, folder, path, false, err);

	if (status == FG_OK)
		status = check_last(&place, path, err);
	close_place(&place);
	return status;
}

int fg_beneath_write(const char *folder, const char *path, const void *data, size_t size,
		     struct fg_error *err)
{
	struct place place;
	char *target = NULL;
	int status = open_place(&place, folder, path, true, err);

	if (status == FG_OK)
		status = check_last(&place, path, err);
	if (status != FG_OK)
		goto out;
	/* Writes through the open descriptor, so that no part of the path is looked up again. */
	target = fg_xasprintf("/proc/self/fd/%d/%s", place.at, place.name);
	status = fg_fs_write_atomic(target, data, size, 0644, err);
	if (status != FG_OK)
		fg_error_prefix(err, "%s", path);
out:
	close_place(&place);
	free(target);
	return status;
}
