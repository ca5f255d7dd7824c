// SPDX-License-Identifier: Apache-2.0
#include "cli/session/state_folder.h"

#include "base/fs.h"

#include <sys/stat.h>

static bool is_link(const char *path)
{
	struct stat found;

	return lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
}

int fg_state_folder_check(const char *root, struct fg_error *err)
{
	char *folder = fg_fs_join(root, FG_STATE_FOLDER);
	char *bad = is_link(folder) ? fg_xstrdup(folder) : NULL;
	char **names = NULL;
	size_t count = 0;
	int status = FG_OK;

	if (!bad && fg_fs_is_folder(folder))
		status = fg_fs_list(folder, &names, &count, err);
	for (size_t i = 0; i < count && !bad; i++) {
		char *path = fg_fs_join(folder, names[i]);

		if (is_link(path))
			bad = path;
		else
			free(path);
	}
	if (bad)
		status = fg_error_set(
			err, FG_EINVAL,
			"%s is a link: fastgate's files would lie elsewhere; remove it", bad);
	fg_fs_list_free(names, count);
	free(bad);
	free(folder);
	return status;
}

void fg_state_folder_make(const char *path)
{
	static const char content[] =
		"# Made by fastgate: nothing in here belongs to the project.\n*\n";
	char *ignore = fg_fs_join(path, ".gitignore");

	if (fg_fs_make_folders(path, 0755, NULL) == FG_OK && !fg_fs_exists(ignore))
		(void)!fg_fs_write_atomic(ignore, content, strlen(content), 0644, NULL);
	free(ignore);
}
