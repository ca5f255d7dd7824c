// SPDX-License-Identifier: Apache-2.0
/* The spool: files waiting to be sent, synced and renamed into place. */
#include "base/fs.h"
#include "base/text.h"
#include "perfdb/client/push_private.h"
#include "perfdb/protocol.h"

#include <sys/stat.h>

enum {
	FILE_MODE = 0600,
	FOLDER_MODE = 0700,
};

int fg_spool_add(const char *folder, const char *id, const void *data, size_t size,
		 struct fg_error *err)
{
	char *name = fg_xasprintf("%s" FG_WIRE_FILE_ENDING, id);
	char *path = fg_fs_join(folder, name);
	int status = FG_OK;

	FG_ASSERT(strlen(id) == FG_PUSH_ID_LENGTH && !strchr(id, '/'));
	if (!fg_fs_is_folder(folder))
		status = fg_fs_make_folders(folder, FOLDER_MODE, err);
	if (status == FG_OK)
		status = fg_fs_write_atomic(path, data, size, FILE_MODE, err);
	free(path);
	free(name);
	return status;
}

int fg_spool_names(const char *folder, char ***names, size_t *count, struct fg_error *err)
{
	*names = NULL;
	*count = 0;
	if (!fg_fs_is_folder(folder))
		return FG_OK;
	return fg_fs_list(folder, names, count, err);
}

int fg_spool_status(const char *folder, struct fg_spool_status *status, struct fg_error *err)
{
	struct fg_spool_status s = {0};
	char **names = NULL;
	size_t count = 0;

	FG_TRY(fg_spool_names(folder, &names, &count, err));
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);
		struct stat file = {0};

		if (fg_text_ends_with(names[i], FG_PUSH_REJECTED_ENDING)) {
			s.rejected++;
		} else if (fg_text_ends_with(names[i], FG_WIRE_FILE_ENDING)) {
			s.waiting++;
			if (stat(path, &file) == 0)
				s.waiting_bytes += (uint64_t)file.st_size;
		}
		free(path);
	}
	fg_fs_list_free(names, count);
	*status = s;
	return FG_OK;
}
