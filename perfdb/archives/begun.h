/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives that arrive in pieces, so that what was cut off goes on where it stopped.
 *
 * Each piece is an object beside the owner's folder until the last one has arrived:
 *
 *	OWNER.begun/PROJECT-RUN-DIGEST-SIZE-INDEX-TIME
 *
 * All but the last piece have the same size, so the names alone say how far an archive has come;
 * nothing of it is in the database, and any server that shares the place can go on.  With the last
 * piece, which is never kept by itself, they are put together and compared with the digest: only
 * then is it an archive.  What was begun counts for a day.
 */
#ifndef FG_PERFDB_ARCHIVES_BEGUN_H
#define FG_PERFDB_ARCHIVES_BEGUN_H

#include "perfdb/archives/archives.h"

enum {
	FG_BEGUN_PIECES_MAX = 0xffff, /* of one archive */
	FG_BEGUN_RUN_LENGTH = 36,
	FG_BEGUN_HOURS = 24,
};

struct fg_begun {
	const char *owner;
	const char *project;
	const char *run;
	struct fg_archives_content content; /* of the whole archive */
	uint64_t piece;                     /* bytes of each piece but the last */
};

struct fg_begun_names {
	char **items;
	size_t count;
	size_t capacity;
};

/* What is there. */
struct fg_begun_state {
	uint64_t offset;              /* all before it has arrived */
	uint64_t project_bytes;       /* that all archives begun in the project take */
	uint64_t other_bytes;         /* likewise, without this one */
	uint64_t bytes;               /* likewise, in all projects */
	struct fg_begun_names pieces; /* of this one, up to `offset` */
	struct fg_begun_names more;   /* of this one, arrived twice */
	struct fg_begun_names old;    /* of any, and older than a day: to be removed */
};

int fg_begun_look(const struct fg_archives *archives, const struct fg_begun *begun,
		  struct fg_begun_state *state, struct fg_error *err) FG_NODISCARD;
void fg_begun_state_release(struct fg_begun_state *state);
/* Bytes of the piece that begins at this offset. */
uint64_t fg_begun_piece_size(const struct fg_begun *begun, uint64_t offset);
/* Keeps the piece that begins at `state->offset`, which is not the last. */
int fg_begun_put(const struct fg_archives *archives, const struct fg_begun *begun,
		 struct fg_begun_state *state, int file, const char *digest, struct fg_error *err)
	FG_NODISCARD;
/*
 * All pieces and the last one as one file, to be closed.  FG_ECONFLICT: they are not what was
 * announced.  FG_ENOENT: somebody was quicker, and has removed them.
 */
int fg_begun_join(const struct fg_archives *archives, const struct fg_begun *begun,
		  const struct fg_begun_state *state, int last, int *file, struct fg_error *err)
	FG_NODISCARD;
int fg_begun_remove(const struct fg_archives *archives, const struct fg_begun_names *names,
		    struct fg_error *err) FG_NODISCARD;
/* Names of the owner's pieces that are older than a day, or of what interrupted puts left. */
int fg_begun_list_old(const struct fg_archives *archives, const char *owner,
		      struct fg_begun_names *names, struct fg_error *err) FG_NODISCARD;
void fg_begun_names_release(struct fg_begun_names *names);

#endif
