/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a server keeps trace archives: a folder, or S3-compatible storage.
 *
 * An archive is an object, which is there as a whole or not at all:
 *
 *	OWNER/DIGEST-TIME-CHANCE      "5f…/b9…-0068d2f1c0-9a3b77e1"
 *
 * OWNER is the database's, so that databases may share a place.  No name is ever used again: an
 * object that no row names, and that is older than any upload takes, will never be named.
 *
 * Each call may take as long as the storage does.  A session of it belongs to one thread at a
 * time, but all sessions may be used at once: what is shared does not change.
 */
#ifndef FG_PERFDB_ARCHIVES_ARCHIVES_H
#define FG_PERFDB_ARCHIVES_ARCHIVES_H

#include "base/base.h"
#include "base/error.h"
#include "base/hash.h"

enum {
	FG_ARCHIVE_OWNER_SIZE = 17,   /* with its NUL: 16 hexadecimal digits */
	FG_ARCHIVE_OBJECT_SIZE = 102, /* likewise, of an object's name */
};

struct fg_archives_options {
	const char *place;   /* a folder, or "s3://BUCKET/PREFIX" */
	const char *url;     /* of the S3-compatible storage: "https://storage.example.org" */
	const char *region;  /* NULL: "us-east-1" */
	const char *ca_file; /* certificates to trust; NULL: the system's */
	const char *key_id;  /* of the key that signs requests */
	const char *key;
	bool read_only; /* nothing is to be put or removed */
};

struct fg_archives;

/* FG_EINVAL: the options are wrong.  What `options` points to must live as long. */
int fg_archives_open(const struct fg_archives_options *options, struct fg_archives **archives,
		     struct fg_error *err) FG_NODISCARD;
void fg_archives_close(struct fg_archives *archives); /* NULL is fine */
/* The folder in which a body is best received; NULL: any. */
const char *fg_archives_folder(const struct fg_archives *archives);

/* A name for an object that does not exist yet. */
int fg_archives_name(const char *owner, const char *digest, char object[FG_ARCHIVE_OBJECT_SIZE],
		     struct fg_error *err) FG_NODISCARD;
/* Is this the name of an object of that owner, or of what an interrupted put left?  When made? */
bool fg_archives_is_object(const char *owner, const char *name, int64_t *made_ns);

/* What is put, or expected. */
struct fg_archives_content {
	uint64_t size;
	const char *digest; /* SHA-256, in hexadecimal */
};

/*
 * FG_ENET: the storage does not answer, or not now.  Other failures stay until somebody mends the
 * storage or the options.
 */
int fg_archives_put(const struct fg_archives *archives, const char *object, int file,
		    const struct fg_archives_content *content, struct fg_error *err) FG_NODISCARD;
/* A file with the content, to be closed.  FG_ENOENT: no such object. */
int fg_archives_get(const struct fg_archives *archives, const char *object,
		    const struct fg_archives_content *content, int *file, struct fg_error *err)
	FG_NODISCARD;

struct fg_archives_part {
	uint64_t size; /* of the whole object */
	uint64_t first;
	uint64_t length;
};

/*
 * Likewise a part of it, which begins at `*at` in the file.  Nothing is compared: whoever puts
 * parts together compares the whole.
 */
int fg_archives_get_part(const struct fg_archives *archives, const char *object,
			 const struct fg_archives_part *part, int *file, uint64_t *at,
			 struct fg_error *err) FG_NODISCARD;
/* One that is gone already is fine. */
int fg_archives_remove(const struct fg_archives *archives, const char *object, struct fg_error *err)
	FG_NODISCARD;

typedef void fg_archives_visit(void *context, const char *name);

/* Names of all that begins with "FOLDER/".  Do not change anything while it goes on. */
int fg_archives_list(const struct fg_archives *archives, const char *folder,
		     fg_archives_visit *visit, void *context, struct fg_error *err) FG_NODISCARD;

#endif
