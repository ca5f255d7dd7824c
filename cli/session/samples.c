// SPDX-License-Identifier: Apache-2.0
#include "cli/session/samples.h"

#include "base/fs.h"
#include "base/gzip.h"
#include "base/version.h"
#include "profile/exchange/export.h"
#include "profile/exchange/import.h"
#include "store/db.h"

#include <unistd.h>

#define FORMAT "json"

enum {
	RUN_ID_LENGTH = 36
};

/* The folder of all runs, or of one. */
static char *folder_of(const char *store, const char *run)
{
	char *parent = fg_fs_parent(store);
	char *path = fg_xasprintf("%s/samples%s%s", *parent ? parent : ".", run ? "/" : "",
				  run ? run : "");

	free(parent);
	return path;
}

static char *series_folder(const char *store, const char *run, size_t series)
{
	char *folder = folder_of(store, run);
	char *path = fg_xasprintf("%s/%zu", folder, series);

	free(folder);
	return path;
}

static char *file_of(const struct fg_samples_key *key)
{
	char *folder = series_folder(key->store, key->run, key->series);
	char *path = fg_xasprintf("%s/%u-%u.json.gz", folder, key->arm, key->pair);

	free(folder);
	return path;
}

static int write_packed(const char *path, const struct fg_strbuf *text, struct fg_error *err)
{
	struct fg_strbuf packed = {0};
	char *folder = fg_fs_parent(path);
	int status = fg_gzip_pack(text->data, text->length, FG_GZIP_TIGHT, &packed, err);

	if (status != FG_OK)
		goto out;
	status = fg_fs_make_folders(folder, 0755, err);
	if (status != FG_OK)
		goto out;
	status = fg_fs_write_atomic(path, packed.data, packed.length, 0644, err);
out:
	fg_strbuf_release(&packed);
	free(folder);
	return status;
}

int fg_samples_keep(const struct fg_samples_key *key, const struct fg_profile *profile,
		    struct fg_error *err)
{
	const struct fg_export_options options = {.tool_version = fg_version()};
	struct fg_strbuf text = {0};
	char *path = NULL;
	int status = FG_OK;

	if (fg_db_is_url(key->store))
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "samples are kept beside a store that is a file only");
	status = fg_export_write(fg_export_find(FORMAT), profile, &options, &text, err);
	if (status == FG_OK) {
		path = file_of(key);
		status = write_packed(path, &text, err);
		free(path);
	}
	fg_strbuf_release(&text);
	return status;
}

int fg_samples_load(const struct fg_samples_key *key, struct fg_profile *profile,
		    struct fg_error *err)
{
	const struct fg_import_options options = {0};
	char *path = file_of(key);
	char *data = NULL;
	size_t size = 0;
	int status = fg_fs_read(path, FG_IMPORT_MAX_BYTES, &data, &size, err);

	if (status == FG_OK) {
		status = fg_import_read(fg_import_find(FORMAT), data, size, &options, profile, err);
		if (status != FG_OK)
			fg_error_prefix(err, "%s", path);
	}
	free(data);
	free(path);
	return status;
}

bool fg_samples_are_kept(const struct fg_samples_key *key)
{
	char *path = file_of(key);
	const bool kept = !fg_db_is_url(key->store) && fg_fs_exists(path);

	free(path);
	return kept;
}

/* Takes ownership of the path. */
static int remove_folder(char *folder, struct fg_error *err)
{
	const int status = fg_fs_exists(folder) ? fg_fs_remove_tree(folder, err) : FG_OK;

	free(folder);
	return status;
}

int fg_samples_remove_series(const char *store, const char *run, size_t series,
			     struct fg_error *err)
{
	const int status = remove_folder(series_folder(store, run, series), err);
	char *folder = folder_of(store, run);

	(void)rmdir(folder); /* fails while other series remain */
	free(folder);
	return status;
}

int fg_samples_remove(const char *store, const char *run, struct fg_error *err)
{
	return remove_folder(folder_of(store, run), err);
}

/* A folder that is not named like a run is not ours to remove. */
static bool is_orphan(struct fg_store *store, const char *name)
{
	char id[RUN_ID_LENGTH + 1];
	struct fg_error why = {0};

	return strlen(name) == RUN_ID_LENGTH && strspn(name, "0123456789abcdef-") == strlen(name) &&
	       fg_store_find(store, NULL, name, id, &why) == FG_ENOENT;
}

int fg_samples_prune(const char *path, struct fg_store *store, size_t *removed,
		     struct fg_error *err)
{
	char *folder = folder_of(path, NULL);
	char **names = NULL;
	size_t count = 0;
	int status = FG_OK;

	*removed = 0;
	if (!fg_db_is_url(path) && fg_fs_is_folder(folder))
		status = fg_fs_list(folder, &names, &count, err);
	for (size_t i = 0; i < count && status == FG_OK; i++) {
		if (!is_orphan(store, names[i]))
			continue;
		status = fg_samples_remove(path, names[i], err);
		*removed += status == FG_OK;
	}
	fg_fs_list_free(names, count);
	free(folder);
	return status;
}
