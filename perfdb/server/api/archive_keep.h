/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both ways of sending an archive share: as a whole (archives.c), and in pieces
 * (archive_pieces.c).  Inside perfdb/server/api/ only.
 */
#ifndef FG_PERFDB_SERVER_API_ARCHIVE_KEEP_H
#define FG_PERFDB_SERVER_API_ARCHIVE_KEEP_H

#include "perfdb/archives/archives.h"
#include "perfdb/server/request.h"

/* An archive that arrived. */
struct fg_kept {
	const char *run; /* its whole id */
	const char *project;
	struct fg_archives_content content;
	int file;
};

/* The storage did not do what it was asked for: the client may try again, the log says why. */
int fg_archive_storage_failed(struct fg_request *rq, const struct fg_error *reason,
			      struct fg_error *err);
/* Nobody waits for a storage that was away a moment ago. */
int fg_archive_check_storage(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* The run of the address, by its whole id, and its project. */
int fg_archive_find_run(struct fg_request *rq, struct fg_kept *kept, struct fg_error *err)
	FG_NODISCARD;
/* A header that has to be a SHA-256; it lives as long as the request. */
int fg_archive_digest(struct fg_request *rq, const char *header, const char **digest,
		      struct fg_error *err) FG_NODISCARD;
bool fg_archive_is_digest(const char *text);
/* Does it begin like a file packed with zstd? */
int fg_archive_check_beginning(const void *data, size_t size, struct fg_error *err) FG_NODISCARD;
/* Is an archive of this run there already?  `*known`: this one. */
int fg_archive_check_known(struct fg_request *rq, const struct fg_kept *kept, bool *known,
			   struct fg_error *err) FG_NODISCARD;
/* Answers that the archive is there. */
void fg_archive_confirm(struct fg_request *rq, const struct fg_kept *kept, bool stored);
/* The object, then the row; answers, too. */
int fg_archive_keep(struct fg_request *rq, const struct fg_kept *kept, struct fg_error *err)
	FG_NODISCARD;
/* The object has no row: it goes, at once if it can. */
void fg_archive_drop_object(struct fg_request *rq, const char *object);

#endif
