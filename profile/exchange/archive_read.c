// SPDX-License-Identifier: Apache-2.0
/*
 * An archive comes from another host and may be damaged, changed or malicious. Its first file lists
 * all others with size and digest. An archive is refused if a file is not in the list, occurs
 * twice, is missing, or differs in one byte, and no more is written than the list allows.
 */
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/map.h"
#include "profile/exchange/archive.h"
#include "profile/exchange/pack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	SMALL_BYTES = 64 << 20,
	/* unpacked size / packed size; debug information shrinks to a quarter, traces to a tenth */
	RATIO_MAX = 100,
};

struct listed {
	const char *name;
	const char *sha256;
	uint64_t size;
	char *path; /* path of the unpacked file; NULL: not unpacked yet */
};

struct reader {
	struct fg_archive *archive;
	const char *path;
	struct fg_unpack *unpack;
	cJSON *manifest;
	struct listed *files;
	size_t file_count;
	struct fg_map by_name; /* name → index */
	uint64_t total;
	bool (*is_stopped)(void);
	/* progress of the file being written */
	struct fg_sha256 sha;
	int fd;
};

/* ---- the manifest ---- */

static int refuse(const struct reader *r, struct fg_error *err, const char *what, const char *name)
{
	return fg_error_set(err, FG_EPARSE, "%s: refused: %s%s%s", r->path, what, name ? " " : "",
			    name ? name : "");
}

static int unusable(const struct reader *r, struct fg_error *err)
{
	fg_error_prefix(err, "%s: refused: its manifest", r->path);
	return FG_EPARSE;
}

static int add_text(void *context, const void *data, size_t size, struct fg_error *err)
{
	(void)err;
	fg_strbuf_add(context, data, size);
	return FG_OK;
}

static int read_manifest(struct reader *r, struct fg_error *err)
{
	struct fg_unpack_file file = {0};
	struct fg_strbuf text = {0};
	const char *schema = NULL;
	bool more = false;
	int status = FG_OK;

	FG_TRY(fg_unpack_next(r->unpack, &file, &more, err));
	if (!more || strcmp(file.name, FG_ARCHIVE_MANIFEST) != 0)
		return fg_error_set(err, FG_EPARSE,
				    "%s is not an archive that fastgate made: its first file is "
				    "not %s",
				    r->path, FG_ARCHIVE_MANIFEST);
	if (file.size > FG_ARCHIVE_MANIFEST_BYTES)
		return fg_error_set(err, FG_ELIMIT, "the manifest of %s is larger than %d MiB",
				    r->path, FG_ARCHIVE_MANIFEST_BYTES >> 20);
	status = fg_unpack_bytes(r->unpack, &file, add_text, &text, err);
	if (status == FG_OK)
		status = fg_json_parse(fg_strbuf_text(&text), text.length,
				       FG_ARCHIVE_MANIFEST_BYTES, &r->manifest, err);
	fg_strbuf_release(&text);
	if (status != FG_OK) {
		fg_error_prefix(err, "%s", r->path);
		return status;
	}
	schema = fg_json_text_or(r->manifest, "schema", "");
	return strcmp(schema, FG_ARCHIVE_SCHEMA) == 0
		       ? FG_OK
		       : fg_error_set(
				 err, FG_EPARSE,
				 "the manifest of %s has schema '%.40s', but this fastgate reads "
				 "'%s'",
				 r->path, schema, FG_ARCHIVE_SCHEMA);
}

static int read_row(const cJSON *row, struct listed *file, int64_t *size, struct fg_error *err)
{
	FG_TRY(fg_json_get_text(row, "name", &file->name, err));
	FG_TRY(fg_json_get_text(row, "sha256", &file->sha256, err));
	return fg_json_get_int64(row, "size", size, err);
}

static int take_listed(struct reader *r, const cJSON *row, struct fg_error *err)
{
	struct listed *file = &r->files[r->file_count];
	int64_t size = 0;
	bool is_new = false;

	if (read_row(row, file, &size, err) != FG_OK)
		return unusable(r, err);
	if (size < 0 || (uint64_t)size > FG_ARCHIVE_TOTAL_BYTES - r->total)
		return fg_error_set(err, FG_ELIMIT, "%s unpacks to more than %d GiB", r->path,
				    (int)(FG_ARCHIVE_TOTAL_BYTES >> 30));
	file->size = (uint64_t)size;
	r->total += file->size;
	(void)fg_map_add_text(&r->by_name, file->name, r->file_count++, &is_new);
	return is_new ? FG_OK : refuse(r, err, "the manifest lists this file twice:", file->name);
}

static int list_files(struct reader *r, struct fg_error *err)
{
	const cJSON *rows = NULL;
	const cJSON *row = NULL;
	int status = FG_OK;

	if (fg_json_get_array(r->manifest, "files", &rows, err) != FG_OK)
		return unusable(r, err);
	if (cJSON_GetArraySize(rows) > FG_ARCHIVE_FILES)
		return fg_error_set(err, FG_ELIMIT, "%s has more than %d files", r->path,
				    (int)FG_ARCHIVE_FILES);
	r->files = fg_xcalloc((size_t)cJSON_GetArraySize(rows) + 1, sizeof(r->files[0]));
	for (row = rows->child; row && status == FG_OK; row = row->next)
		status = take_listed(r, row, err);
	return status;
}

/* ---- the files ---- */

static int check_room(const struct reader *r, const char *parent, struct fg_error *err)
{
	struct statvfs disk;
	struct stat packed;

	if (stat(r->path, &packed) != 0)
		return fg_error_errno(err, FG_EIO, "%s", r->path);
	if (r->total > SMALL_BYTES && r->total / RATIO_MAX > (uint64_t)packed.st_size)
		return fg_error_set(
			err, FG_ELIMIT,
			"%s: refused: its %llu KiB unpack to %llu MiB, which is more than %d "
			"times as much",
			r->path, (unsigned long long)packed.st_size >> 10,
			(unsigned long long)(r->total >> 20), RATIO_MAX);
	if (statvfs(parent, &disk) != 0)
		return fg_error_errno(err, FG_EIO, "%s", parent);
	if (r->total / disk.f_frsize >= disk.f_bavail)
		return fg_error_set(
			err, FG_ELIMIT,
			"%s unpacks to %llu MiB, but %s has only %llu MiB left (TMPDIR chooses "
			"the folder)",
			r->path, (unsigned long long)(r->total >> 20), parent,
			(unsigned long long)disk.f_bavail * disk.f_frsize >> 20);
	return FG_OK;
}

static int write_bytes(void *context, const void *data, size_t size, struct fg_error *err)
{
	struct reader *r = context;

	if (r->is_stopped && r->is_stopped())
		return fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	fg_sha256_add(&r->sha, data, size);
	return fg_fs_write_all(r->fd, data, size, err);
}

static int create_file(struct reader *r, const char *name, char **path, struct fg_error *err)
{
	char *parent = NULL;
	int status = FG_OK;

	*path = fg_arena_printf(&r->archive->arena, "%s/%s", r->archive->folder, name);
	parent = fg_fs_parent(*path);
	status = fg_fs_make_folders(parent, 0700, err);
	free(parent);
	if (status != FG_OK)
		return status;
	r->fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return r->fd < 0 ? fg_error_errno(err, FG_EIO, "%s", *path) : FG_OK;
}

static int unpack_file(struct reader *r, const struct fg_unpack_file *file, struct fg_error *err)
{
	const uint64_t *place = fg_map_get_text(&r->by_name, file->name);
	struct listed *listed = place ? &r->files[*place] : NULL;
	char sha256[FG_SHA256_HEX_SIZE];
	char *path = NULL;
	int status = FG_OK;

	if (!listed)
		return refuse(r, err, "the manifest does not list", file->name);
	if (listed->path)
		return refuse(r, err, "the archive contains this file twice:", file->name);
	if (listed->size != file->size)
		return refuse(r, err,
			      "this file does not have the size in the manifest:", file->name);
	FG_TRY(create_file(r, file->name, &path, err));
	fg_sha256_init(&r->sha);
	status = fg_unpack_bytes(r->unpack, file, write_bytes, r, err);
	if (close(r->fd) != 0 && status == FG_OK)
		status = fg_error_errno(err, FG_EIO, "%s", path);
	if (status != FG_OK)
		return status;
	fg_sha256_finish_hex(&r->sha, FG_SHA256_SIZE, sha256);
	if (strcmp(sha256, listed->sha256) != 0)
		return refuse(r, err,
			      "this file does not have the digest in the manifest (SHA-256):",
			      file->name);
	listed->path = path;
	return FG_OK;
}

static int unpack_all(struct reader *r, struct fg_error *err)
{
	struct fg_unpack_file file;
	bool more = true;
	int status = fg_unpack_next(r->unpack, &file, &more, err);

	while (status == FG_OK && more) {
		status = unpack_file(r, &file, err);
		if (status == FG_OK)
			status = fg_unpack_next(r->unpack, &file, &more, err);
	}
	for (size_t i = 0; i < r->file_count && status == FG_OK; i++)
		if (!r->files[i].path)
			status = refuse(r, err, "the archive lacks", r->files[i].name);
	return status;
}

/* ---- input of the symbolizer ---- */

static const char *keep(struct reader *r, const char *text)
{
	return text ? fg_arena_strdup(&r->archive->arena, text) : NULL;
}

static const char *path_of(const struct reader *r, const char *name)
{
	const uint64_t *place = name ? fg_map_get_text(&r->by_name, name) : NULL;

	return place ? r->files[*place].path : NULL;
}

static struct fg_symbol_file place_of(struct reader *r, const cJSON *row, const char *member)
{
	const cJSON *place = fg_json_find(row, member);
	const char *path = place ? path_of(r, fg_json_text_or(place, "name", NULL)) : NULL;

	return (struct fg_symbol_file){
		.path = path, .from = path ? keep(r, fg_json_text_or(place, "from", "")) : NULL};
}

static void take_modules(struct reader *r)
{
	struct fg_symbol_archive *symbols = &r->archive->symbols;
	const cJSON *rows = fg_json_find(r->manifest, "modules");
	const cJSON *row = NULL;

	symbols->modules =
		fg_xcalloc((size_t)cJSON_GetArraySize(rows) + 1, sizeof(symbols->modules[0]));
	for (row = rows ? rows->child : NULL; row; row = row->next)
		symbols->modules[symbols->module_count++] = (struct fg_symbol_files){
			.path = keep(r, fg_json_text_or(row, "path", "")),
			.build_id = keep(r, fg_json_text_or(row, "build_id", "")),
			.binary = place_of(r, row, "binary"),
			.debug = place_of(r, row, "debug"),
			.problem = keep(r, fg_json_text_or(row, "problem", NULL)),
		};
}

static void take_maps(struct reader *r)
{
	struct fg_symbol_archive *symbols = &r->archive->symbols;
	const cJSON *rows = fg_json_find(r->manifest, "maps");
	const cJSON *row = NULL;

	symbols->maps = fg_xcalloc((size_t)cJSON_GetArraySize(rows) + 1, sizeof(symbols->maps[0]));
	for (row = rows ? rows->child : NULL; row; row = row->next) {
		const double pid = fg_json_double_or(row, "pid", 0);
		const char *path = path_of(r, fg_json_text_or(row, "name", NULL));

		if (path && pid > 0 && pid <= UINT32_MAX)
			symbols->maps[symbols->map_count++] =
				(struct fg_symbol_map){.pid = (uint32_t)pid, .path = path};
	}
}

bool fg_archive_is_archive(const char *path)
{
	return fg_pack_is_packed(path);
}

int fg_archive_open(const char *path, const char *parent, bool (*is_stopped)(void),
		    struct fg_archive *archive, struct fg_error *err)
{
	struct reader r = {.archive = archive, .path = path, .is_stopped = is_stopped};
	int status = FG_OK;

	*archive = (struct fg_archive){0};
	FG_TRY(fg_unpack_open(path, &r.unpack, err));
	FG_TRY_OUT(read_manifest(&r, err));
	FG_TRY_OUT(list_files(&r, err));
	FG_TRY_OUT(check_room(&r, parent, err));
	FG_TRY_OUT(fg_fs_temporary_folder(parent, "fastgate-archive", &archive->folder, err));
	FG_TRY_OUT(unpack_all(&r, err));
	archive->traces = fg_fs_join(archive->folder, FG_ARCHIVE_TRACES);
	take_modules(&r);
	take_maps(&r);
	fg_symbol_archive_index(&archive->symbols);
out:
	if (status != FG_OK)
		fg_archive_close(archive);
	fg_unpack_close(r.unpack);
	cJSON_Delete(r.manifest);
	fg_map_release(&r.by_name);
	free(r.files);
	return status;
}

void fg_archive_close(struct fg_archive *archive)
{
	struct fg_error err = {0};

	if (archive->folder && fg_fs_remove_tree(archive->folder, &err) != FG_OK)
		fg_log(FG_LOG_PROFILE, 1, "%s", err.message);
	fg_symbol_archive_release(&archive->symbols);
	free(archive->folder);
	free(archive->traces);
	fg_arena_release(&archive->arena);
	*archive = (struct fg_archive){0};
}
