// SPDX-License-Identifier: Apache-2.0
#include "runner/installed.h"

#include "base/fs.h"

/*
 * Paths from the folder of the running program: bin/ of an installation; cli/, bench/ROOM/ and
 * tests/KIND/ROOM/ of a build tree.
 */
static const char *const ways[] = {
	"../" FG_COLLECTOR_FOLDER "/fastgate",
	"../../" FG_COLLECTOR_FOLDER "/fastgate",
	"../../../" FG_COLLECTOR_FOLDER "/fastgate",
};

static const char meant[] = FG_INSTALL_PREFIX "/" FG_COLLECTOR_FOLDER "/fastgate";

static char *existing(const char *folder, const char *name)
{
	char *path = fg_fs_join(folder, name);
	char *found = realpath(path, NULL);

	free(path);
	return found;
}

char *fg_installed_find(const char *name)
{
	char *self = realpath("/proc/self/exe", NULL);
	char *here = self ? fg_fs_parent(self) : NULL;
	char *found = NULL;

	for (size_t i = 0; here && i < FG_ARRAY_SIZE(ways) && !found; i++) {
		char *folder = fg_fs_join(here, ways[i]);

		found = existing(folder, name);
		free(folder);
	}
	free(here);
	free(self);
	return found ? found : existing(meant, name);
}
