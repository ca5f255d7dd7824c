/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of store/ share among themselves. */
#ifndef FG_STORE_STORE_PRIVATE_H
#define FG_STORE_STORE_PRIVATE_H

#include "base/arena.h"
#include "base/map.h"
#include "store/db.h"
#include "store/matrix.h"
#include "store/store.h"
#include "store/totals.h"
#include "store/values.h"

/* Kinds of chunks: numbers in the file, never used again for something else. */
enum fg_chunk_kind {
	FG_CHUNK_REPETITIONS = 1,
	FG_CHUNK_ROWS = 2,
	FG_CHUNK_REGIONS = 3,
	FG_CHUNK_FUNCTIONS = 4,
	FG_CHUNK_PROGRAM = 5, /* the name of the profile's root */
};

enum {
	FG_SCOPE_HOST = 0,
	FG_SCOPE_SIDES = 1,  /* + arm */
	FG_SCOPE_SERIES = 3, /* + 2 * position + arm */
	FG_MAX_CHUNK_BYTES = 1 << 28,
};

/* What of a run in progress is in the store already. */
struct fg_progress_mark {
	int64_t series; /* row id; 0: not there */
	size_t repetitions;
	size_t rows;
	size_t regions;
	size_t metrics;
	enum fg_measure_state state;
	/* Ids of the set's functions and nodes, as far as they are known. */
	int64_t *functions;
	size_t function_count;
	uint64_t *nodes;
	size_t node_count;
};

struct fg_tree_node {
	uint32_t parent;
	uint32_t function : 31; /* 0: there is no such node */
	uint32_t recursive : 1; /* below another node of its function */
};

struct fg_store {
	struct fg_db *db;
	bool for_server; /* FG_STORE_DURABLE: packed quickly, and totals are kept */
	bool in_batch;
	/* Ids seen since the store was opened; emptied when a transaction is undone. */
	struct fg_map functions; /* digest → id */
	struct fg_map nodes;     /* parent id, function id → id */
	/* The tree by id, as far as it was read: rows of `node` never change and never go. */
	struct fg_tree_node *tree;
	size_t tree_end; /* one past the last id */
	size_t tree_capacity;
	struct fg_profile_function *names; /* by id, as far as they were read; names.c */
	size_t names_end;
	size_t names_capacity;
	struct fg_arena names_arena;
	char progress_run[37];
	int64_t progress_id;
	struct fg_progress_mark *marks;
	size_t mark_count;
};

/* Ids of everything a set names; arrays are the caller's, grown to the set's counts. */
struct fg_interned {
	int64_t *functions;
	size_t function_count;
	uint64_t *nodes;
	size_t node_count;
};

int fg__store_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
int fg__store_commit(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
void fg__store_undo(struct fg_store *store); /* roll back, and forget ids */
/* One view of the database for several queries; nothing when a transaction is open already.  Give the result to _end. */
int fg__store_view(struct fg_store *store, bool *mine, struct fg_error *err) FG_NODISCARD;
void fg__store_view_end(struct fg_store *store, bool mine);
/* Find or add one row; a helper for tables whose rows are found by one query and added by another. */
int fg__store_project(struct fg_store *store, const char *name, int64_t *id, struct fg_error *err)
	FG_NODISCARD;
int fg__store_words(struct fg_store *store, const char *text, int64_t *id, struct fg_error *err)
	FG_NODISCARD;
void fg__digest(const char *a, const char *b, const char *c, uint8_t digest[16]);

/* The first column of every row, as texts.  Ends the query. */
int fg__store_names(struct fg_query *q, struct fg_name_list *list, struct fg_error *err)
	FG_NODISCARD;
/* The row of a benchmark; `project` may be NULL. */
int fg__store_benchmark(struct fg_store *store, const char *project, const char *benchmark,
			int64_t *id, struct fg_error *err) FG_NODISCARD;

/* Continue `interned` up to the set's counts. */
int fg__store_intern(struct fg_store *store, const struct fg_profile_set *set,
		     struct fg_interned *interned, struct fg_error *err) FG_NODISCARD;
/* The set with all of a matrix' paths: functions, nodes, and indexes[i] for ids[i] (to be freed). */
int fg__store_nodes(struct fg_store *store, const uint64_t *ids, size_t count,
		    struct fg_profile_set *set, uint32_t **indexes, struct fg_error *err)
	FG_NODISCARD;

/* The tree up to `last` into the store's memory.  FG_ELIMIT: it is too large for that. */
int fg__store_read_tree(struct fg_store *store, uint64_t last, struct fg_error *err) FG_NODISCARD;

/* Time of each call path: ids ascending, sums over the repetitions of one arm that count. */
struct fg__weights {
	uint64_t *ids;
	double *sums;
	size_t count;
	uint32_t repetitions;
	uint8_t arm;
};

/* Of weights->arm. */
int fg__store_weights(struct fg_store *store, int64_t series, struct fg__weights *weights,
		      struct fg_error *err) FG_NODISCARD;
void fg__weights_add(struct fg__weights *into, const struct fg__weights *more);
void fg__weights_release(struct fg__weights *weights);
/* Of all functions of both arms, kept or computed; without a profile nothing. */
int fg__store_totals(struct fg_store *store, int64_t series, struct fg_totals *totals,
		     struct fg_error *err) FG_NODISCARD;

/* Functions 1 ... last into the store's memory, if fg__store_keeps_names(last).  fg__store_name(): NULL, no such row. */
bool fg__store_keeps_names(size_t last);
int fg__store_read_names(struct fg_store *store, size_t last, struct fg_error *err) FG_NODISCARD;
const struct fg_profile_function *fg__store_name(const struct fg_store *store, size_t id);
void fg__store_forget_names(struct fg_store *store);

/* Seal `content` into a chunk row.  Releases the content. */
int fg__store_chunk(struct fg_store *store, int64_t series, enum fg_chunk_kind kind, size_t first,
		    struct fg_bytes *content, struct fg_error *err) FG_NODISCARD;
/* `take` gets the content of each chunk of a kind, in order. */
typedef int fg_chunk_taker(struct fg_byte_reader *reader, void *context, struct fg_error *err);
int fg__store_chunks(struct fg_store *store, int64_t series, enum fg_chunk_kind kind,
		     fg_chunk_taker *take, void *context, struct fg_error *err) FG_NODISCARD;

#endif
