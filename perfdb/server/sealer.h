/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The background thread that seals tiles: runs of a benchmark packed together for trends.  Inside
 * perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_SEALER_H
#define FG_PERFDB_SERVER_SEALER_H

#include "perfdb/server/sessions.h"
#include "perfdb/server/write_queue.h"

struct fg_sealer;

/* *sealer is set also on failure. */
int fg_sealer_start(struct fg_sessions *sessions, const struct fg_write_queue *writes,
		    struct fg_sealer **sealer, struct fg_error *err) FG_NODISCARD;
void fg_sealer_stop(struct fg_sealer *sealer); /* NULL is fine */
/* Tiles sealed since the start. */
unsigned long long fg_sealer_tiles(const struct fg_sealer *sealer);

#endif
