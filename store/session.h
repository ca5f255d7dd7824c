/* SPDX-License-Identifier: Apache-2.0 */
/* An open store: the database connection and its caches. */
#ifndef FG_STORE_SESSION_H
#define FG_STORE_SESSION_H

#include "base/base.h"
#include "base/map.h"
#include "store/db.h"
#include "store/functions.h"
#include "store/series_values.h"

/*
 * The open transaction, with cached ids that garbage collection may remove after the transaction.
 */
struct fg_transaction {
	bool has_parts;       /* begun by fg_store_batch_begin() */
	bool is_spoiled;      /* a part has failed: only a rollback is possible */
	struct fg_map facts;  /* digest → id; 0: not in the database when looked up */
	struct fg_map texts;  /* digest → id; 0: not in the database when looked up */
	struct fg_map places; /* project → id, and project NUL benchmark → id */
};

/* The run in progress, with the stored part of each series. */
struct fg_save_progress {
	char run[37]; /* id; empty if no run is in progress */
	int64_t id;
	struct fg_progress_mark *marks;
	size_t mark_count;
};

struct fg_store {
	struct fg_db *db;
	bool is_durable; /* FG_STORE_DURABLE */
	/* digest → id, seen since the store was opened; dropped by a rollback */
	struct fg_map functions_known;
	struct fg_functions functions;
	struct fg_transaction transaction;
	struct fg_save_progress progress;
};

#endif
