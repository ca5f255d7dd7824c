// SPDX-License-Identifier: Apache-2.0
#include "cli/session/state_folder.h"

#include "base/fs.h"

void fg_state_folder_make(const char *path)
{
	static const char content[] =
		"# Made by fastgate: nothing in here belongs to the project.\n*\n";
	char *ignore = fg_fs_join(path, ".gitignore");

	if (fg_fs_make_folders(path, 0755, NULL) == FG_OK && !fg_fs_exists(ignore))
		(void)!fg_fs_write_atomic(ignore, content, strlen(content), 0644, NULL);
	free(ignore);
}
