// SPDX-License-Identifier: Apache-2.0
/* A folder; each owner has one in it. */
#include "base/fs.h"
#include "perfdb/archives/keepers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FOLDER_MODE = 0700,
	FILE_MODE = 0600
};

static int open_folder(struct fg_archives *archives, struct fg_error *err)
{
	const struct fg_archives_options *options = &archives->options;
	int file = -1;
	int status = FG_OK;

	if (options->url)
		return fg_error_set(err, FG_EINVAL,
				    "--archives-url is for --archives s3://BUCKET/PREFIX");
	if (options->read_only)
		return FG_OK;
	status = fg_fs_make_folders(options->place, FOLDER_MODE, err);
	if (status != FG_OK)
		return status;
	/* Bodies are received there: better to know now. */
	status = fg_fs_unnamed(options->place, &file, err);
	if (status != FG_OK)
		return status;
	(void)close(file);
	return FG_OK;
}

static int put(const struct fg_archives *archives, const char *object, int file,
	       const struct fg_archives_content *content, struct fg_error *err)
{
	char *path = fg_fs_join(archives->options.place, object);
	char *folder = fg_fs_parent(path);
	int status = fg_fs_make_folders(folder, FOLDER_MODE, err);

	if (status == FG_OK)
		status = fg_fs_copy_atomic(file, content->size, path, FILE_MODE, err);
	free(folder);
	free(path);
	return status;
}

static int get(const struct fg_archives *archives, const char *object,
	       const struct fg_archives_content *content, int *file, struct fg_error *err)
{
	char *path = fg_fs_join(archives->options.place, object);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat found = {0};
	int status = FG_OK;

	if (fd < 0)
		status = fg_error_errno(err, errno == ENOENT ? FG_ENOENT : FG_EIO, "%s", path);
	else if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode) ||
		 (uint64_t)found.st_size != content->size)
		status = fg_error_set(err, FG_EIO, "%s: it is not the file that was written", path);
	if (status == FG_OK)
		*file = fd;
	else if (fd >= 0)
		(void)close(fd);
	free(path);
	return status;
}

static int get_part(const struct fg_archives *archives, const char *object,
		    const struct fg_archives_part *part, int *file, uint64_t *at,
		    struct fg_error *err)
{
	*at = part->first;
	return get(archives, object, &(struct fg_archives_content){.size = part->size}, file, err);
}

static int remove_file(const struct fg_archives *archives, const char *object, struct fg_error *err)
{
	char *path = fg_fs_join(archives->options.place, object);
	int status = FG_OK;

	if (unlink(path) != 0 && errno != ENOENT)
		status = fg_error_errno(err, FG_EIO, "%s", path);
	free(path);
	return status;
}

static int list(const struct fg_archives *archives, const char *folder, fg_archives_visit *visit,
		void *context, struct fg_error *err)
{
	char *path = fg_fs_join(archives->options.place, folder);
	char **names = NULL;
	size_t count = 0;
	int status = FG_OK;

	if (fg_fs_is_folder(path))
		status = fg_fs_list(path, &names, &count, err);
	for (size_t i = 0; i < count && status == FG_OK; i++) {
		char *name = fg_xasprintf("%s/%s", folder, names[i]);

		visit(context, name);
		free(name);
	}
	fg_fs_list_free(names, count);
	free(path);
	return status;
}

const struct fg_keeper fg_keeper_folder = {
	.open = open_folder,
	.put = put,
	.get = get,
	.get_part = get_part,
	.remove = remove_file,
	.list = list,
};
