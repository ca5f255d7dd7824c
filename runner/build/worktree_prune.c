// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/sort.h"
#include "runner/build/checkout.h"
#include "runner/build/file_lock.h"
#include "runner/build/worktree.h"

#include <fcntl.h>
#include <sys/stat.h>

struct built {
	char *name;
	int64_t used_ns;
};

FG_ORDER_BY(newest_first, struct built, FG_DOWN(used_ns))

static int64_t used_at(const char *builds, const char *name)
{
	char *folder = fg_fs_join(builds, name);
	char *mark = fg_fs_join(folder, "built");
	struct stat status = {0};

	if (stat(mark, &status) != 0)
		(void)stat(folder, &status);
	free(folder);
	free(mark);
	return status.st_mtim.tv_sec * FG_NS_PER_S + status.st_mtim.tv_nsec;
}

/* Removes a build, unless it is in use. Returns true if it was removed. */
static bool remove_built(const char *builds, const char *name)
{
	char *folder = fg_fs_join(builds, name);
	char *lock = fg_xasprintf("%s.lock", folder);
	int fd = -1;
	bool removed = false;

	if (fg_file_try_lock(lock, &fd)) {
		removed = fg_fs_remove_tree(folder, NULL) == FG_OK;
		(void)close(fd);
	}
	free(lock);
	free(folder);
	return removed;
}

int fg_worktree_prune(const char *root, const char *state_folder, size_t keep, size_t *removed,
		      struct fg_error *err)
{
	char *builds = fg_fs_join(state_folder, "builds");
	struct built *found = NULL;
	char **names = NULL;
	size_t count = 0;
	size_t folders = 0;
	int status = FG_OK;

	*removed = 0;
	if (!fg_fs_is_folder(builds))
		goto out;
	FG_TRY_OUT(fg_fs_list(builds, &names, &count, err));
	found = fg_xcalloc(count, sizeof(found[0]));
	for (size_t i = 0; i < count; i++) {
		if (strlen(names[i]) == FG_WORKTREE_KEY_LENGTH)
			found[folders++] = (struct built){.name = names[i],
							  .used_ns = used_at(builds, names[i])};
	}
	qsort(found, folders, sizeof(found[0]), newest_first);
	for (size_t i = keep; i < folders; i++)
		*removed += remove_built(builds, found[i].name);
	if (*removed > 0)
		status = fg_checkout_forget_removed(root, err);
out:
	free(found);
	fg_fs_list_free(names, count);
	free(builds);
	return status;
}
