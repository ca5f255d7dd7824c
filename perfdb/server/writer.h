/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only session that stores uploads. A worker that has checked a run waits for its turn, then
 * stores the run in one transaction. After fg_writer_do() has returned FG_OK, the run is stored
 * durably. Private to perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_WRITER_H
#define FG_PERFDB_SERVER_WRITER_H

#include "perfdb/server/sessions.h"

/* Runs inside the transaction; called again after a conflict with another server. */
typedef int fg_write_task(struct fg_store *store, void *context, struct fg_error *err);

struct fg_writer *fg_writer_new(struct fg_sessions *sessions);
void fg_writer_free(struct fg_writer *writer); /* NULL is fine */
/* Commits if the task returns FG_OK, otherwise rolls back. */
int fg_writer_do(struct fg_writer *writer, fg_write_task *task, void *context, struct fg_error *err)
	FG_NODISCARD;

#endif
