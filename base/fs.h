/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and folders.  Everything is opened with O_CLOEXEC.  fg_fs_write_atomic() writes a temporary
 * file next to the target, syncs and renames it: a reader sees the old file or the new one. A
 * failure leaves no temporary file, and leaves the old file unless only the sync of the folder
 * failed.
 */
#ifndef FG_BASE_FS_H
#define FG_BASE_FS_H

#include "base/base.h"
#include "base/error.h"
#include "base/strbuf.h"

/*
 * Reads the whole file and adds a NUL (not counted in *size). The caller frees *data. FG_ELIMIT if
 * the file is larger than max_bytes.
 */
int fg_fs_read(const char *path, size_t max_bytes, char **data, size_t *size, struct fg_error *err)
	FG_NODISCARD;
/*
 * Like fg_fs_read(), for untrusted paths: refuses a pipe (which would block) or a device with
 * FG_EINVAL.
 */
int fg_fs_read_regular(const char *path, size_t max_bytes, char **data, size_t *size,
		       struct fg_error *err) FG_NODISCARD;
int fg_fs_write_atomic(const char *path, const void *data, size_t size, unsigned mode,
		       struct fg_error *err) FG_NODISCARD;
/* Opens a nameless file, which vanishes when it is closed. `folder` NULL: in $TMPDIR, or /tmp. */
int fg_fs_unnamed(const char *folder, int *fd, struct fg_error *err) FG_NODISCARD;
/*
 * Writes a result to a path that a user named. A regular file is replaced as a whole (through a
 * link: its target); a device or pipe is written to.
 */
int fg_fs_write_result(const char *path, const void *data, size_t size, struct fg_error *err)
	FG_NODISCARD;
/*
 * Writes every byte to a descriptor, which may be a pipe, across EINTR and short writes. FG_EIO:
 * the message has errno's text.
 */
int fg_fs_write_all(int fd, const void *data, size_t size, struct fg_error *err) FG_NODISCARD;
int fg_fs_make_folders(const char *path, unsigned mode, struct fg_error *err)
	FG_NODISCARD; /* like mkdir -p */
int fg_fs_remove_tree(const char *path, struct fg_error *err)
	FG_NODISCARD; /* never follows a link; absent is fine */
int fg_fs_temporary_folder(const char *parent, const char *prefix, char **path,
			   struct fg_error *err) FG_NODISCARD;
int fg_fs_copy(const char *from, const char *to, unsigned mode, struct fg_error *err) FG_NODISCARD;
/*
 * Drops a regular file from the kernel's cache and reads it from the disk again. A newly written
 * file is cached in smaller pieces, which makes reading it slower.
 */
void fg_fs_cache_again(const char *path);

bool fg_fs_exists(const char *path);
/* Does the folder have this file? `name` may be a path below it. */
bool fg_fs_has(const char *folder, const char *name);
/*
 * Is the path a link in a sticky, world-writable folder such as /tmp, made neither by us nor by the
 * folder's owner? Such a link could lead anywhere.
 */
bool fg_fs_is_planted(const char *path);
bool fg_fs_is_folder(const char *path);
/*
 * Is this file open or mapped through another descriptor, in any process? Returns false if unknown:
 * the file belongs to another user, or its file system has no leases.
 */
bool fg_fs_is_in_use(int fd);
/* Does this file exist below the folder, with links followed in both paths? */
bool fg_fs_is_below(const char *folder, const char *path);
/* Lists the names in a folder, sorted, without . and ..; free with fg_fs_list_free(). */
int fg_fs_list(const char *path, char ***names, size_t *count, struct fg_error *err) FG_NODISCARD;
void fg_fs_list_free(char **names, size_t count);
/* Calls `visit` with the path of each entry of the folder, in the order of their names. */
int fg_fs_each(const char *folder, void (*visit)(void *context, const char *path), void *context,
	       struct fg_error *err);

struct fg_fs_file {
	char *path;
	int64_t written_ns;
};

/* Lists the regular files of a folder, newest first. An unreadable folder counts as empty. */
size_t fg_fs_newest(const char *folder, struct fg_fs_file **files);
void fg_fs_files_free(struct fg_fs_file *files, size_t count);

char *fg_fs_join(const char *folder,
		 const char *name); /* caller frees; an absolute name is returned unchanged */
const char *fg_fs_base_name(const char *path); /* borrowed */
/*
 * Returns the part of the path below the folder, by comparing text; NULL: the path is not below it,
 * or `folder` is NULL.
 */
const char *fg_fs_rest_below(const char *folder, const char *path);
char *fg_fs_parent(const char *path); /* the caller frees it */
/*
 * Returns the nearest folder, from `folder` upwards, that has a file `name`; NULL: none. The caller
 * frees it.
 */
char *fg_fs_find_above(const char *folder, const char *name);
/* Returns the program that a shell would start for this name, or NULL. The caller frees it. */
char *fg_fs_find_program(const char *name);
/*
 * Returns $XDG_CACHE_HOME/fastgate or ~/.cache/fastgate, or NULL if neither is known. The caller
 * frees it.
 */
char *fg_fs_cache_folder(void);

#endif
