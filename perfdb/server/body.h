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
	size_t limit;         /* of this body */
	size_t announced;     /* 0: unknown */
	atomic_size_t *total; /* of all bodies in progress */
	size_t total_limit;
	atomic_size_t *share; /* of them, those of this sender: half of total_limit at most */
	size_t size;          /* so far */
	size_t counted;       /* of *total and *share */
	enum fg_body_state {
		FG_BODY_COMPLETE, /* so far */
		FG_BODY_TOO_LARGE,
		FG_BODY_NO_ROOM, /* the other bodies take what there is */
		FG_BODY_NO_DISK, /* the file cannot be written */
	} state;
	struct fg_strbuf bytes; /* while it is small */
	bool has_file;
	int file;
	void *map; /* of the file */
};

/* If the data does not fit, the whole body is dropped; the state says why. */
void fg_body_add(struct fg_body *body, const void *data, size_t size);
/* body->size bytes, which live as long as the body; NULL: the file cannot be read. */
const char *fg_body_data(struct fg_body *body);
void fg_body_release(struct fg_body *body);

#endif
