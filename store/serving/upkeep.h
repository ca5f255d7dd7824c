/* SPDX-License-Identifier: Apache-2.0 */
/* Checks, backups and copies. */
#ifndef FG_STORE_SERVING_UPKEEP_H
#define FG_STORE_SERVING_UPKEEP_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;
struct fg_strbuf;

/* Looks for damaged pages, chunks and totals. Adds one line of text per finding. */
int fg_store_check(struct fg_store *store, struct fg_strbuf *findings, size_t *count,
		   struct fg_error *err) FG_NODISCARD;

/*
 * Makes a consistent copy while other sessions read and write (SQLite only; PostgreSQL has
 * pg_dump).
 */
int fg_store_backup(struct fg_store *store, const char *path, struct fg_error *err) FG_NODISCARD;

/* Gets the replication lag in milliseconds; 0 if the database is not a replica. */
int fg_store_lag(struct fg_store *store, int64_t *milliseconds, struct fg_error *err) FG_NODISCARD;

/* ---- copy.c ---- */

/* Copies one run with everything that belongs to it. */
int fg_store_copy(struct fg_store *from, struct fg_store *to, const char *id, struct fg_error *err)
	FG_NODISCARD;
/*
 * Copies everything but runs and pending webhook calls: tokens, roles, limits, webhooks, the audit
 * log, notes, cards.
 */
int fg_store_copy_access(struct fg_store *from, struct fg_store *to, struct fg_error *err)
	FG_NODISCARD;

#endif
