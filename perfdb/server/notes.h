/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes notes in the background, so that no request waits for them: each kind at most once a
 * minute per token or person, and a few for all other clients together. A read-only server writes
 * no notes. Private to perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_NOTES_H
#define FG_PERFDB_SERVER_NOTES_H

#include "perfdb/server/request.h"

/* Notes time and address of a token's last use. */
void fg_notes_token_use(struct fg_request *rq, int64_t token, int64_t now_ns);
/* Notes in the audit log that a known person, or somebody with a token, was refused. */
void fg_notes_refusal(struct fg_request *rq, const char *reason);

#endif
