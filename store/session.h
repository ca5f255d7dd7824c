/* SPDX-License-Identifier: Apache-2.0 */
/* An open store: the database, and what was learnt of it since it was opened. */
#ifndef FG_STORE_SESSION_H
#define FG_STORE_SESSION_H

#include "base/base.h"
#include "base/map.h"
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

struct fg_store {
	struct fg_db *db;
	struct fg_functions rows;
	bool for_server; /* FG_STORE_DURABLE: packed quickly, and totals are kept */
	bool in_batch;
	bool is_spoiled; /* a part of the batch has failed */
	/* Ids seen since the store was opened; emptied when a transaction is undone. */
	struct fg_map functions; /* name NUL library → id */
	struct fg_map nodes;     /* parent id, function id → id */
	/* In this transaction all rows there are are among them: what is not known is not there. */
	bool knows_all_functions;
	bool knows_all_nodes;
	/* committed ids of all sessions; NULL: this one is alone.  Borrowed */
	struct fg_id_cache *shared;
	/*
	 * Ids of conditions and their sets, words, projects and benchmarks, within one batch:
	 * garbage collection may remove such rows between two.
	 */
	struct fg_map facts;
	struct fg_map fact_sets;
	struct fg_map words;
	struct fg_map places; /* project → id, and project NUL benchmark → id */
	/* The tree by id, as far as it was read: rows of `node` never change and never go. */
	struct fg_tree_node *tree;
	size_t tree_end; /* one past the last id */
	size_t tree_capacity;
	char progress_run[37];
	int64_t progress_id;
	struct fg_progress_mark *marks;
	size_t mark_count;
};

#endif
