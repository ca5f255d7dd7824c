/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second database for queries: a read replica of the one that is written. Tokens and sign-ins
 * always use the first one. A query goes to the replica while that answers and is close behind,
 * unless its client wrote something a moment ago; if the replica cannot answer, or lacks the data,
 * the first database does. Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_REPLICA_H
#define FG_PERFDB_SERVER_REPLICA_H

#include "perfdb/server/sessions.h"

struct fg_replica;

/* *replica is set also on failure. */
int fg_replica_start(const char *database, struct fg_replica **replica, struct fg_error *err)
	FG_NODISCARD;
/* These accept NULL: no replica is configured. */
void fg_replica_stop(struct fg_replica *replica);
/* A session for a query of `who`; NULL: use the first database. */
struct fg_store *fg_replica_borrow(struct fg_replica *replica, const char *who);
void fg_replica_give_back(struct fg_replica *replica, struct fg_store *store);
/* `who` must see what was just written. */
void fg_replica_wrote(struct fg_replica *replica, const char *who);
/* Counted since the start. */
unsigned long long fg_replica_questions(const struct fg_replica *replica);
/* Its delay at the last check, in milliseconds; negative: it does not answer. */
int64_t fg_replica_lag_ms(const struct fg_replica *replica);

#endif
