/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs have a trace archive, and under which name it is kept elsewhere.
 *
 * A row is written once the object is there.  When a run is removed its row stays until somebody
 * has taken it away by fg_store_archive_take_left(); then the object belongs to nobody, and may go.
 */
#ifndef FG_STORE_SERVING_ARCHIVES_H
#define FG_STORE_SERVING_ARCHIVES_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

struct fg_kept_archive {
	char *run;
	char *digest; /* SHA-256, in hexadecimal */
	int64_t bytes;
	char *object; /* its name in the storage */
	int64_t stored_ns;
	char *author; /* NULL: not known */
};

void fg_kept_archive_release(struct fg_kept_archive *archive);

/* FG_ENOENT without a message: the run has none. */
int fg_store_archive_of(struct fg_store *store, const char *run, struct fg_kept_archive *archive,
			struct fg_error *err) FG_NODISCARD;
/* *put: false if there is no such run, or it has an archive. */
int fg_store_archive_put(struct fg_store *store, const struct fg_kept_archive *archive, bool *put,
			 struct fg_error *err) FG_NODISCARD;
/* FG_ENOENT without a message: the run has none. */
int fg_store_archive_remove(struct fg_store *store, const char *run, struct fg_error *err)
	FG_NODISCARD;

struct fg_kept_archive_list {
	struct fg_kept_archive *items; /* run, object and bytes */
	size_t count;
	size_t capacity;
};

/* Archives whose run was removed. */
int fg_store_archives_left(struct fg_store *store, struct fg_kept_archive_list *list,
			   struct fg_error *err) FG_NODISCARD;
void fg_kept_archive_list_release(struct fg_kept_archive_list *list);
/* *taken: false if the run is back, or somebody else took the row. */
int fg_store_archive_take_left(struct fg_store *store, const char *run, bool *taken,
			       struct fg_error *err) FG_NODISCARD;
int fg_store_archive_has_object(struct fg_store *store, const char *object, bool *has,
				struct fg_error *err) FG_NODISCARD;
/*
 * The first part of the names of this database's objects, to be freed: made when there is none,
 * unless the session only reads (then NULL).
 */
int fg_store_archive_owner(struct fg_store *store, char **owner, struct fg_error *err) FG_NODISCARD;

#endif
