/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes that no request waits for, each at most once a minute per token or person; strangers share
 * a few. A server that only shows runs notes nothing. Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_NOTES_H
#define FG_PERFDB_SERVER_NOTES_H

#include "perfdb/server/request.h"

/* Time and address of a token's last use. */
void fg_notes_token_use(struct fg_request *rq, int64_t token, int64_t now_ns);
/* For the audit log: a known person, or somebody with a token, was refused. */
void fg_notes_refusal(struct fg_request *rq, const char *reason);

#endif
