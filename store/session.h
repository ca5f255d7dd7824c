/* SPDX-License-Identifier: Apache-2.0 */
/* An open store: the database connection, and what is cached from it. */
#ifndef FG_STORE_SESSION_H
#define FG_STORE_SESSION_H

#include "base/base.h"
#include "base/map.h"
#include "store/call_paths.h"
#include "store/call_tree.h"
#include "store/db.h"
#include "store/functions.h"
#include "store/intern.h"
#include "store/series_values.h"

enum {
	FG_TREE_MAX = 16 << 20 /* nodes that a session keeps in memory: 128 MiB */
};

/* Reading a table from end to end is quicker than asking for most of its rows one by one. */
static inline bool fg_is_scan_cheaper(size_t rows, size_t wanted)
{
	enum {
		LEAST_WANTED = 500, /* below it is not worth a thought */
		ROW_RATIO = 8       /* a row read costs an eighth of a row asked for */
	};

	return wanted > LEAST_WANTED && rows / ROW_RATIO < wanted && rows < FG_TREE_MAX;
}

/* Ids of functions and call paths, seen since the store was opened; dropped by a rollback. */
struct fg_known_ids {
	struct fg_map functions; /* name NUL library → id */
	struct fg_map nodes;     /* parent id, function id → id */
	/* The maps are complete for this transaction: a miss means that the row does not exist. */
	bool has_all_functions;
	bool has_all_nodes;
	/* How far rows were read, added by this session, or left out as too many. */
	size_t seen_functions;
	size_t seen_nodes;
	/* The next new row's id in this transaction; 0: the database was not asked yet. */
	int64_t next_function;
	int64_t next_node;
};

/* Several saves in one transaction, and ids that garbage collection may remove after it. */
struct fg_batch {
	bool is_open;
	bool is_spoiled; /* a part of it has failed: only a rollback is left */
	struct fg_map facts;
	struct fg_map fact_sets;
	struct fg_map texts;  /* text → id; 0: not there when it was asked for */
	struct fg_map places; /* project → id, and project NUL benchmark → id */
};

/* The call tree by id, as far as it was read: paths never change and never go. */
struct fg_tree_rows {
	struct fg_tree_node *nodes;
	size_t end; /* one past the last id */
	size_t capacity;
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
	struct fg_call_paths paths;
	struct fg_tree_rows tree;
	struct fg_batch batch;
	struct fg_save_progress progress;
};

#endif
