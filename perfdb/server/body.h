/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a request, counted against the server's bound as it arrives.  Inside perfdb/server/
 * only.
 */
#ifndef FG_PERFDB_SERVER_BODY_H
#define FG_PERFDB_SERVER_BODY_H

#include "base/strbuf.h"

#include <stdatomic.h>

struct fg_body {
	struct fg_strbuf bytes;
	size_t limit;         /* of this body */
	atomic_size_t *total; /* of all bodies in progress */
	size_t total_limit;
	size_t counted; /* of *total */
	enum fg_body_state {
		FG_BODY_COMPLETE, /* so far */
		FG_BODY_TOO_LARGE,
		FG_BODY_NO_ROOM, /* the other bodies take what there is */
	} state;
};

/* What does not fit is dropped, with everything before it; the state says why. */
void fg_body_add(struct fg_body *body, const void *data, size_t size);
void fg_body_release(struct fg_body *body);

#endif
