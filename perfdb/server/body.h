/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a request, counted against the server's bound as it arrives: a small one in memory, a
 * large one in a file without a name.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_BODY_H
#define FG_PERFDB_SERVER_BODY_H

#include "base/strbuf.h"

#include <stdatomic.h>

struct fg_body {
	size_t limit;         /* limit of this body */
	size_t announced;     /* announced size; 0: unknown */
	atomic_size_t *total; /* bytes of all bodies in progress */
	size_t total_limit;
	atomic_size_t *share; /* bytes of this sender's bodies: half of total_limit at most */
	size_t size;          /* received so far */
	size_t counted;       /* counted in *total and *share */
	enum fg_body_state {
		FG_BODY_COMPLETE, /* nothing is missing so far */
		FG_BODY_TOO_LARGE,
		FG_BODY_NO_ROOM, /* other bodies use up the limit */
		FG_BODY_NO_DISK, /* the file cannot be written */
	} state;
	struct fg_strbuf bytes; /* the data of a small body */
	bool has_file;
	int file;
	void *map; /* mapping of the file */
};

/* If the data does not fit, the whole body is dropped; the state holds the reason. */
void fg_body_add(struct fg_body *body, const void *data, size_t size);
/* body->size bytes, which live as long as the body; NULL: the file cannot be read. */
const char *fg_body_data(struct fg_body *body);
void fg_body_release(struct fg_body *body);

#endif
