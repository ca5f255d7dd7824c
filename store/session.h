/* SPDX-License-Identifier: Apache-2.0 */
/* An open store: the database connection, and what is cached from it. */
#ifndef FG_STORE_SESSION_H
#define FG_STORE_SESSION_H

#include "base/base.h"
#include "base/map.h"
#include "store/db.h"
#include "store/functions.h"
#include "store/series_values.h"

/* Ids of functions, seen since the store was opened; dropped by a rollback. */
struct fg_known_ids {
	struct fg_map functions; /* name NUL library → id */
	/* The next new row's id in this transaction; 0: the database was not asked yet. */
	int64_t next_function;
};

/* The transaction that is open, and ids that garbage collection may remove after it. */
struct fg_transaction {
	bool has_parts;  /* fg_store_batch_begin() */
	bool is_spoiled; /* a part of it has failed: only a rollback is left */
	struct fg_map facts;
	struct fg_map texts;  /* text → id; 0: not there when it was asked for */
	struct fg_map places; /* project → id, and project NUL benchmark → id */
};

/* The run in progress: how far each of its series is stored. */
struct fg_save_progress {
	char run[37]; /* empty: none */
	int64_t id;
	struct fg_progress_mark *marks;
	size_t mark_count;
};

struct fg_store {
	struct fg_db *db;
	bool is_durable; /* FG_STORE_DURABLE */
	struct fg_known_ids ids;
	struct fg_functions functions;
	struct fg_transaction transaction;
	struct fg_save_progress progress;
};

#endif
