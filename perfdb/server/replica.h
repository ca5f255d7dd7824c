/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A read replica that answers queries. Tokens and sign-ins always use the primary. A query goes to
 * the replica while it answers and lags by less than ten seconds, unless the client wrote something
 * in the last ten seconds. If the replica cannot answer or lacks the data, the primary answers.
 * Private to perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_REPLICA_H
#define FG_PERFDB_SERVER_REPLICA_H

#include "perfdb/server/sessions.h"

struct fg_replica;

/* *replica is set even on failure. */
int fg_replica_start(const char *database, struct fg_replica **replica, struct fg_error *err)
	FG_NODISCARD;
/* The functions below accept NULL, which means that no replica is configured. */
void fg_replica_stop(struct fg_replica *replica);
/* Returns a session for a query by `who`, or NULL to use the primary. */
struct fg_store *fg_replica_borrow(struct fg_replica *replica, const char *who);
void fg_replica_give_back(struct fg_replica *replica, struct fg_store *store);
/* Sends the queries of `who`, who has just written something, to the primary for a while. */
void fg_replica_wrote(struct fg_replica *replica, const char *who);
/* Returns the number of queries since the start. */
unsigned long long fg_replica_query_count(const struct fg_replica *replica);
/*
 * Returns the replica's delay at the last check, in milliseconds; negative if it does not answer.
 */
int64_t fg_replica_lag_ms(const struct fg_replica *replica);

#endif
