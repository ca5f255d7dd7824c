// SPDX-License-Identifier: Apache-2.0
#include "profile/exchange/pack.h"

#include "base/fs.h"
#include "base/library.h"
#include "base/printable.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BLOCK_BYTES = 1 << 16
};

/* ---- libarchive, opened when it is first needed ---- */

#define CALLS(CALL)                  \
 CALL(entry_filetype)                \
 CALL(entry_free)                    \
 CALL(entry_hardlink)                \
 CALL(entry_new)                     \
 CALL(entry_pathname)                \
 CALL(entry_set_filetype)            \
 CALL(entry_set_mtime)               \
 CALL(entry_set_pathname)            \
 CALL(entry_set_perm)                \
 CALL(entry_set_size)                \
 CALL(entry_size)                    \
 CALL(entry_size_is_set)             \
 CALL(entry_sparse_count)            \
 CALL(entry_symlink)                 \
 CALL(error_string)                  \
 CALL(read_data)                     \
 CALL(read_free)                     \
 CALL(read_new)                      \
 CALL(read_next_header)              \
 CALL(read_open_filename)            \
 CALL(read_support_filter_zstd)      \
 CALL(read_support_format_tar)       \
 CALL(write_add_filter_zstd)         \
 CALL(write_close)                   \
 CALL(write_data)                    \
 CALL(write_free)                    \
 CALL(write_header)                  \
 CALL(write_new)                     \
 CALL(write_open_fd)                 \
 CALL(write_set_bytes_in_last_block) \
 CALL(write_set_format_pax_restricted)
#define MEMBER(name) __typeof__(archive_##name) *(name);
#define NAME(name)   "archive_" #name,
#define LINKED(name) FG_LIBRARY_LINKED(archive_##name)

static struct {
	CALLS(MEMBER)
} libarchive = {CALLS(LINKED)};

static const char *const names[] = {CALLS(NAME)};

static struct fg_library library = FG_LIBRARY(libarchive, names, FG_LIBARCHIVE_FILE,
					      FG_LIBARCHIVE_PACKAGE, "for archives of traces");

FG_LIBRARY_NOTE("archives", "Archives of traces", FG_LIBARCHIVE_FILE);

/* ---- files of this host ---- */

static int open_plain(const char *path, uint64_t *size, int *fd, struct fg_error *err)
{
	struct stat facts;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0)
		return fg_error_errno(err, errno == ENOENT ? FG_ENOENT : FG_EIO, "%s", path);
	if (fstat(*fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
		*size = (uint64_t)facts.st_size;
		return FG_OK;
	}
	(void)close(*fd);
	return fg_error_set(err, FG_EINVAL, "%s is not a regular file", path);
}

/* Reads the file from its position to its end and passes each piece to `take`. */
static int each_block(int fd, const char *path,
		      int (*take)(void *context, const void *data, size_t size,
				  struct fg_error *err),
		      void *context, struct fg_error *err)
{
	char block[BLOCK_BYTES];
	ssize_t got;
	int status = FG_OK;

	while (status == FG_OK && (got = read(fd, block, sizeof(block))) != 0) {
		if (got > 0)
			status = take(context, block, (size_t)got, err);
		else if (errno != EINTR)
			status = fg_error_errno(err, FG_EIO, "%s", path);
	}
	return status;
}

static int add_to_digest(void *context, const void *data, size_t size, struct fg_error *err)
{
	(void)err;
	fg_sha256_add(context, data, size);
	return FG_OK;
}

int fg_pack_digest(const char *path, uint64_t *size, char sha256[FG_SHA256_HEX_SIZE],
		   struct fg_error *err)
{
	struct fg_sha256 sha;
	int fd = -1;
	int status = FG_OK;

	FG_TRY(open_plain(path, size, &fd, err));
	fg_sha256_init(&sha);
	status = each_block(fd, path, add_to_digest, &sha, err);
	(void)close(fd);
	fg_sha256_finish_hex(&sha, FG_SHA256_SIZE, sha256);
	return status;
}

/* ---- writing ---- */

struct fg_pack {
	struct archive *archive;
	char *path;
	char *temporary;
	int fd;
};

static int failed(const struct fg_pack *pack, struct fg_error *err)
{
	const char *why = libarchive.error_string(pack->archive);

	return fg_error_set(err, FG_EIO, "%s: %s", pack->path, why ? why : "cannot be written");
}

int fg_pack_create(const char *path, struct fg_pack **pack, struct fg_error *err)
{
	struct fg_pack *made = NULL;
	mode_t hidden = 0;
	int status = FG_OK;

	FG_TRY(fg_library_open(&library, err));
	hidden = umask(0);
	(void)umask(hidden);
	made = fg_xcalloc(1, sizeof(*made));
	made->path = fg_xstrdup(path);
	made->temporary = fg_xasprintf("%s.XXXXXX", path);
	made->fd = mkostemp(made->temporary, O_CLOEXEC);
	made->archive = libarchive.write_new();
	if (made->fd < 0) {
		status = fg_error_errno(err, FG_EIO, "%s", path);
		fg_pack_abandon(made);
		return status;
	}
	(void)fchmod(made->fd, 0666 & ~hidden);
	if (!made->archive ||
	    libarchive.write_set_format_pax_restricted(made->archive) != ARCHIVE_OK ||
	    libarchive.write_add_filter_zstd(made->archive) != ARCHIVE_OK ||
	    libarchive.write_set_bytes_in_last_block(made->archive, 1) != ARCHIVE_OK ||
	    libarchive.write_open_fd(made->archive, made->fd) != ARCHIVE_OK) {
		status = made->archive ? failed(made, err)
				       : fg_error_set(err, FG_EIO, "%s: out of memory", path);
		fg_pack_abandon(made);
		return status;
	}
	*pack = made;
	return FG_OK;
}

static int begin_file(struct fg_pack *pack, const char *name, uint64_t size, struct fg_error *err)
{
	struct archive_entry *entry = libarchive.entry_new();
	int written = ARCHIVE_FATAL;

	FG_ASSERT(entry);
	libarchive.entry_set_pathname(entry, name);
	libarchive.entry_set_size(entry, (la_int64_t)size);
	libarchive.entry_set_filetype(entry, AE_IFREG);
	libarchive.entry_set_perm(entry, 0644);
	libarchive.entry_set_mtime(entry, 0, 0);
	written = libarchive.write_header(pack->archive, entry);
	libarchive.entry_free(entry);
	return written == ARCHIVE_OK ? FG_OK : failed(pack, err);
}

struct copy {
	struct fg_pack *pack;
	struct fg_sha256 sha;
	uint64_t left;
};

/* A file that grows while it is read is cut at its former end. */
static int add_block(void *context, const void *data, size_t size, struct fg_error *err)
{
	struct copy *copy = context;
	const size_t room = size < copy->left ? size : (size_t)copy->left;

	fg_sha256_add(&copy->sha, data, size);
	copy->left -= room;
	if (room > 0 && libarchive.write_data(copy->pack->archive, data, room) != (la_ssize_t)room)
		return failed(copy->pack, err);
	return FG_OK;
}

int fg_pack_add(struct fg_pack *pack, const char *name, const void *data, size_t size,
		struct fg_error *err)
{
	FG_TRY(begin_file(pack, name, size, err));
	return libarchive.write_data(pack->archive, data, size) == (la_ssize_t)size
		       ? FG_OK
		       : failed(pack, err);
}

int fg_pack_add_file(struct fg_pack *pack, const char *name, const char *path, uint64_t size,
		     const char *sha256, struct fg_error *err)
{
	struct copy copy = {.pack = pack, .left = size};
	char digest[FG_SHA256_HEX_SIZE];
	uint64_t now = 0;
	int fd = -1;
	int status = FG_OK;

	FG_TRY(open_plain(path, &now, &fd, err));
	fg_sha256_init(&copy.sha);
	FG_TRY_OUT(begin_file(pack, name, size, err));
	FG_TRY_OUT(each_block(fd, path, add_block, &copy, err));
	fg_sha256_finish_hex(&copy.sha, FG_SHA256_SIZE, digest);
	if (strcmp(digest, sha256) != 0)
		status = fg_error_set(err, FG_ECONFLICT, "%s was changed while it was read", path);
out:
	(void)close(fd);
	return status;
}

int fg_pack_finish(struct fg_pack *pack, struct fg_error *err)
{
	int status = FG_OK;

	if (libarchive.write_close(pack->archive) != ARCHIVE_OK)
		status = failed(pack, err);
	else if (fsync(pack->fd) != 0 || rename(pack->temporary, pack->path) != 0)
		status = fg_error_errno(err, FG_EIO, "%s", pack->path);
	fg_pack_abandon(pack);
	return status;
}

void fg_pack_abandon(struct fg_pack *pack)
{
	if (!pack)
		return;
	if (pack->archive)
		(void)libarchive.write_free(pack->archive);
	if (pack->fd >= 0) {
		(void)close(pack->fd);
		(void)unlink(pack->temporary); /* no longer exists after a rename */
	}
	free(pack->temporary);
	free(pack->path);
	free(pack);
}

/* ---- reading ---- */

struct fg_unpack {
	struct archive *archive;
	char *path;
};

bool fg_pack_is_packed(const char *path)
{
	static const uint8_t zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
	uint8_t start[sizeof(zstd)];
	uint64_t size = 0;
	int fd = -1;
	bool packed = false;

	if (open_plain(path, &size, &fd, NULL) != FG_OK)
		return false;
	packed = read(fd, start, sizeof(start)) == (ssize_t)sizeof(start) &&
		 memcmp(start, zstd, sizeof(zstd)) == 0;
	(void)close(fd);
	return packed;
}

static int damaged(const struct fg_unpack *unpack, struct fg_error *err)
{
	const char *why = libarchive.error_string(unpack->archive);
	int status = fg_error_set(err, FG_EPARSE, "%s: damaged archive: %s", unpack->path,
				  why ? why : "unknown reason");

	for (char *at = err ? err->message : NULL; at && *at; at++)
		*at = fg_printable(*at);
	return status;
}

int fg_unpack_open(const char *path, struct fg_unpack **unpack, struct fg_error *err)
{
	struct fg_unpack *made = NULL;
	int status = FG_OK;

	FG_TRY(fg_library_open(&library, err));
	made = fg_xcalloc(1, sizeof(*made));
	made->path = fg_xstrdup(path);
	made->archive = libarchive.read_new();
	FG_ASSERT(made->archive);
	/* ARCHIVE_WARN would mean that libarchive starts a program to unpack */
	if (libarchive.read_support_filter_zstd(made->archive) != ARCHIVE_OK ||
	    libarchive.read_support_format_tar(made->archive) != ARCHIVE_OK ||
	    libarchive.read_open_filename(made->archive, path, BLOCK_BYTES) != ARCHIVE_OK) {
		status = damaged(made, err);
		fg_unpack_close(made);
		return status;
	}
	*unpack = made;
	return FG_OK;
}

/* Returns true if every part of the path is a plain name. */
static bool is_safe_name(const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/";

	if (*name == '\0' || strlen(name) > FG_PACK_NAME_MAX || name[strspn(name, allowed)] != '\0')
		return false;
	for (const char *part = name; part;
	     part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
		const size_t length = strcspn(part, "/");

		if (length == 0 || (length <= 2 && strspn(part, ".") == length))
			return false;
	}
	return true;
}

static int check_entry(const struct fg_unpack *unpack, struct archive_entry *entry,
		       struct fg_unpack_file *file, struct fg_error *err)
{
	const char *name = libarchive.entry_pathname(entry);

	if (libarchive.entry_filetype(entry) != AE_IFREG || libarchive.entry_hardlink(entry) ||
	    libarchive.entry_symlink(entry))
		return fg_error_set(err, FG_EPARSE,
				    "%s: refused: it contains a link, a folder or a device",
				    unpack->path);
	if (!name || !is_safe_name(name))
		return fg_error_set(
			err, FG_EPARSE,
			"%s: refused: it contains a file whose name leads out of the archive, is "
			"too long, or contains characters other than letters, digits and . _ + - /",
			unpack->path);
	if (!libarchive.entry_size_is_set(entry) || libarchive.entry_size(entry) < 0 ||
	    libarchive.entry_sparse_count(entry) > 0)
		return fg_error_set(err, FG_EPARSE, "%s: refused: '%s' has no size", unpack->path,
				    name);
	(void)snprintf(file->name, sizeof(file->name), "%s", name);
	file->size = (uint64_t)libarchive.entry_size(entry);
	return FG_OK;
}

int fg_unpack_next(struct fg_unpack *unpack, struct fg_unpack_file *file, bool *more,
		   struct fg_error *err)
{
	struct archive_entry *entry = NULL;
	const int got = libarchive.read_next_header(unpack->archive, &entry);

	*more = got == ARCHIVE_OK;
	if (got == ARCHIVE_EOF)
		return FG_OK;
	if (got != ARCHIVE_OK)
		return damaged(unpack, err);
	return check_entry(unpack, entry, file, err);
}

int fg_unpack_bytes(struct fg_unpack *unpack, const struct fg_unpack_file *file,
		    int (*take)(void *context, const void *data, size_t size, struct fg_error *err),
		    void *context, struct fg_error *err)
{
	char block[BLOCK_BYTES];
	uint64_t left = file->size;
	int status = FG_OK;

	while (status == FG_OK && left > 0) {
		const size_t want = left < sizeof(block) ? (size_t)left : sizeof(block);
		const la_ssize_t got = libarchive.read_data(unpack->archive, block, want);

		if (got <= 0)
			return got < 0 ? damaged(unpack, err)
				       : fg_error_set(err, FG_EPARSE,
						      "%s: damaged archive: '%s' ends early",
						      unpack->path, file->name);
		left -= (uint64_t)got;
		status = take(context, block, (size_t)got, err);
	}
	return status;
}

void fg_unpack_close(struct fg_unpack *unpack)
{
	if (!unpack)
		return;
	(void)libarchive.read_free(unpack->archive);
	free(unpack->path);
	free(unpack);
}
