/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database sessions of a server: borrowed for a request, then given back. A session belongs to
 * one thread at a time. Private to perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_SESSIONS_H
#define FG_PERFDB_SERVER_SESSIONS_H

#include "base/base.h"
#include "base/error.h"

struct fg_sessions *fg_sessions_new(const char *database, bool read_only);
void fg_sessions_free(struct fg_sessions *sessions); /* NULL is fine */
struct fg_store *fg_sessions_borrow(struct fg_sessions *sessions, struct fg_error *err);
void fg_sessions_give_back(struct fg_sessions *sessions, struct fg_store *store); /* NULL is fine */

#endif
