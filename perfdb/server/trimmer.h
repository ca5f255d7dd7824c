/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the log short of a database that moves what is in its log to where it belongs now and then
 * (SQLite), without holding up the writer for long.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_TRIMMER_H
#define FG_PERFDB_SERVER_TRIMMER_H

#include "perfdb/server/sessions.h"

struct fg_trimmer;

/* *trimmer is set also on failure. */
int fg_trimmer_start(struct fg_sessions *sessions, struct fg_trimmer **trimmer,
		     struct fg_error *err) FG_NODISCARD;
void fg_trimmer_stop(struct fg_trimmer *trimmer); /* NULL is fine */
/* The only writer calls it with its session after each batch.  NULL is fine. */
void fg_trimmer_look(struct fg_trimmer *trimmer, struct fg_store *store);

#endif
