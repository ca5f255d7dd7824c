/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A .tar.zst file, through libarchive: plain files only, written in the given order and without
 * traces of this host (no owner, no time), so that the same files give the same bytes.
 *
 * Input is untrusted: a name that is absolute or has "..", anything but a plain file, a size
 * that does not fit and a name that is too long are refused. The caller decides for each file
 * whether to unpack it, and how much of it.
 */
#ifndef FG_EXCHANGE_PACK_H
#define FG_EXCHANGE_PACK_H

#include "base/base.h"
#include "base/error.h"
#include "base/hash.h"

enum {
	FG_PACK_NAME_MAX = 255
};

struct fg_pack;

/* Writes a temporary file next to `path` and renames it at the end: a failure leaves no file. */
int fg_pack_create(const char *path, struct fg_pack **pack, struct fg_error *err) FG_NODISCARD;
int fg_pack_add(struct fg_pack *pack, const char *name, const void *data, size_t size,
		struct fg_error *err) FG_NODISCARD;
/* FG_ECONFLICT: the file no longer has this size and digest. */
int fg_pack_add_file(struct fg_pack *pack, const char *name, const char *path, uint64_t size,
		     const char *sha256, struct fg_error *err) FG_NODISCARD;
/* Completes the file and frees the pack, even on failure. */
int fg_pack_finish(struct fg_pack *pack, struct fg_error *err) FG_NODISCARD;
/* Removes the unfinished file and frees the pack, which may be NULL. */
void fg_pack_abandon(struct fg_pack *pack);

struct fg_unpack;

struct fg_unpack_file {
	char name[FG_PACK_NAME_MAX + 1]; /* relative, only letters, digits, and "._+-/" */
	uint64_t size;
};

bool fg_pack_is_packed(const char *path); /* checks the file's first bytes */
int fg_unpack_open(const char *path, struct fg_unpack **unpack, struct fg_error *err) FG_NODISCARD;
/* Finds the next file; *more is false at the end. */
int fg_unpack_next(struct fg_unpack *unpack, struct fg_unpack_file *file, bool *more,
		   struct fg_error *err) FG_NODISCARD;
/* Reads the whole file in pieces. */
int fg_unpack_bytes(struct fg_unpack *unpack, const struct fg_unpack_file *file,
		    int (*take)(void *context, const void *data, size_t size, struct fg_error *err),
		    void *context, struct fg_error *err) FG_NODISCARD;
void fg_unpack_close(struct fg_unpack *unpack);

/* Computes the size and digest of a plain file. */
int fg_pack_digest(const char *path, uint64_t *size, char sha256[FG_SHA256_HEX_SIZE],
		   struct fg_error *err) FG_NODISCARD;

#endif
