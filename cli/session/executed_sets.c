// SPDX-License-Identifier: Apache-2.0
#include "cli/session/executed_sets.h"

#include "base/fs.h"
#include "base/strbuf.h"
#include "base/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	KEPT_OF_A_BENCHMARK = 12,
	SET_MAX_BYTES = 64 << 20,
	PART = FG_EXECUTED_KEY_PART - 1,
};

static char *folder_of(const char *state_folder)
{
	return fg_fs_join(state_folder, "executed");
}

static char *path_of(const char *state_folder, const struct fg_executed_key *key)
{
	return fg_xasprintf("%s/executed/%s-%s-%s-%s", state_folder, key->benchmark, key->build,
			    key->configuration, key->environment);
}

bool fg_executed_sets_has(const char *state_folder, const struct fg_executed_key *key)
{
	char *path = path_of(state_folder, key);
	const bool found = fg_fs_exists(path);

	free(path);
	return found;
}

void fg_executed_sets_remove(const char *state_folder, const struct fg_executed_key *key)
{
	char *path = path_of(state_folder, key);

	(void)unlink(path);
	free(path);
}

/* "BENCHMARK-BUILD-CONFIGURATION-ENVIRONMENT": does the name have this part at `index`? */
static bool has_part(const char *name, size_t index, const char *part)
{
	const size_t start = index * (PART + 1);

	return strlen(name) == 4 * PART + 3 && memcmp(name + start, part, PART) == 0;
}

static int explain_absence(const char *state_folder, const struct fg_executed_key *key,
			   struct fg_error *err)
{
	const char *why = "it is not known yet what it executes";
	char *folder = folder_of(state_folder);
	char **names = NULL;
	size_t count = 0;
	bool any = false;
	bool configuration = false;
	bool build = false;

	if (fg_fs_list(folder, &names, &count, NULL) != FG_OK)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		const bool same = has_part(names[i], 0, key->benchmark) &&
				  has_part(names[i], 2, key->configuration);

		any |= has_part(names[i], 0, key->benchmark);
		configuration |= same;
		build |= same && has_part(names[i], 1, key->build);
	}
	if (build)
		why = "the environment is another than when its functions were recorded";
	else if (configuration)
		why = "it is not known what this build of the baseline executes";
	else if (any)
		why = "its configuration changed since its functions were recorded";
	fg_fs_list_free(names, count);
	free(folder);
	return fg_error_set(err, FG_ENOENT, "%s", why);
}

int fg_executed_sets_load(const char *state_folder, const struct fg_executed_key *key,
			  struct fg_executed *executed, struct fg_error *err)
{
	char *path = path_of(state_folder, key);
	char *data = NULL;
	size_t size = 0;
	int status = fg_fs_read_regular(path, SET_MAX_BYTES, &data, &size, err);

	if (status == FG_ENOENT)
		status = explain_absence(state_folder, key, err);
	if (status != FG_OK)
		goto out;
	status = fg_executed_read(data, size, executed, err);
	if (status != FG_OK)
		goto out;
	/* Marks the set as used: the least recently used ones are removed first. */
	(void)!utimensat(AT_FDCWD, path, NULL, 0);
out:
	free(data);
	free(path);
	return status;
}

struct kept {
	char *path;
	int64_t used_ns;
};

static int newest_first(const void *left, const void *right)
{
	const struct kept *a = left;
	const struct kept *b = right;

	return (a->used_ns < b->used_ns) - (a->used_ns > b->used_ns);
}

static void prune(const char *folder, const struct fg_executed_key *key)
{
	char **names = NULL;
	struct kept *all = NULL;
	size_t count = 0;
	size_t used = 0;

	if (fg_fs_list(folder, &names, &count, NULL) != FG_OK)
		return;
	all = fg_xcalloc(count + 1, sizeof(all[0]));
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);
		struct stat status;

		if (has_part(names[i], 0, key->benchmark) && stat(path, &status) == 0)
			all[used++] = (struct kept){path, status.st_mtim.tv_sec * 1000000000LL +
								  status.st_mtim.tv_nsec};
		else
			free(path);
	}
	if (used)
		qsort(all, used, sizeof(all[0]), newest_first);
	for (size_t i = 0; i < used; i++) {
		if (i >= KEPT_OF_A_BENCHMARK)
			(void)unlink(all[i].path);
		free(all[i].path);
	}
	free(all);
	fg_fs_list_free(names, count);
}

int fg_executed_sets_save(const char *state_folder, const struct fg_executed_key *key,
			  const struct fg_executed *executed, struct fg_error *err)
{
	char *folder = folder_of(state_folder);
	char *path = path_of(state_folder, key);
	struct fg_strbuf text = {0};
	int status = fg_fs_make_folders(folder, 0755, err);

	if (status != FG_OK)
		goto out;
	fg_executed_write(executed, &text);
	status = fg_fs_write_atomic(path, text.data, text.length, 0644, err);
	if (status == FG_OK)
		prune(folder, key);
out:
	fg_strbuf_release(&text);
	free(path);
	free(folder);
	return status;
}
