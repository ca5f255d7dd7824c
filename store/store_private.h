/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of store/ share among themselves. */
#ifndef FG_STORE_STORE_PRIVATE_H
#define FG_STORE_STORE_PRIVATE_H

#include "base/arena.h"
#include "base/map.h"
#include "store/db.h"
#include "store/ids.h"
#include "store/matrix.h"
#include "store/query.h"
#include "store/store.h"
#include "store/totals.h"
#include "store/values.h"

/* Kinds of chunks: numbers in the file, never used again for something else. */
enum fg_chunk_kind {
	FG_CHUNK_REPETITIONS = 1,
	FG_CHUNK_ROWS = 2,
	FG_CHUNK_REGIONS = 3,
	FG_CHUNK_FUNCTIONS = 4, /* of older servers: totals as one block */
	FG_CHUNK_PROGRAM = 5,   /* the name of the profile's root */
	FG_CHUNK_TOTALS = 6,    /* by function, in parts; in a server's store */
	FG_CHUNK_KINDS
};

enum {
	FG_SCOPE_HOST = 0,
	FG_SCOPE_SIDES = 1,  /* + arm */
	FG_SCOPE_SERIES = 3, /* + 2 * position + arm */
	FG_MAX_CHUNK_BYTES = 1 << 28,
};

/* A tile (tiles.c) has the values of one function in so many series, in whole steps. */
enum {
	FG_TILE_MEMBERS = 256,
	FG_TILE_STEP_NS = 100
};

/* How far something is stored in chunks: repetitions, rows or regions of a series. */
struct fg_chunk_mark {
	size_t count; /* items that are there */
	size_t first; /* where the last chunk begins */
	/*
	 * Of the last item: the last chunk is written anew when its pair goes on, or was settled
	 * meanwhile.
	 */
	uint32_t pair;
	uint16_t aside;
};

/* What of a run in progress is in the store already. */
struct fg_progress_mark {
	int64_t series; /* row id; 0: not there */
	struct fg_chunk_mark repetitions;
	struct fg_chunk_mark rows;
	struct fg_chunk_mark regions;
	size_t metrics;
	size_t facts; /* of both builds: facts are added, never changed */
	enum fg_measure_state state;
	enum fg_schedule schedule;
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

struct fg_function_row {
	uint64_t id;
	struct fg_profile_function function;
	uint8_t digest[16]; /* the same in every store */
};

/* Functions that a session has read. */
struct fg_functions {
	struct fg_id_table by_id; /* → struct fg_function_row in the arena */
	struct fg_arena arena;
	int64_t last; /* all up to this id are there */
};

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
	struct fg_ids *shared;
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

/* Ids of everything a set names; arrays are the caller's, grown to the set's counts. */
struct fg_interned {
	int64_t *functions;
	size_t function_count;
	uint64_t *nodes;
	size_t node_count;
};

/* A row of `level`: what a trend needs of one metric. */
struct fg_level {
	bool is_there;
	int64_t pairs;
	double medians[2]; /* by arm */
	double ratio;
	double low;
	double high;
	const char *outcome; /* borrowed from the report */
};

/* One per metric of the series; `report` may be NULL.  To be freed. */
struct fg_level *fg_levels_make(const struct fg_series *series, const cJSON *report);

/* What is stored of one series, made before the database is touched. */
struct fg_series_parts {
	struct fg_bytes blocks[FG_CHUNK_KINDS]; /* sealed; an empty one is not stored */
	struct fg_level *levels;
};

struct fg_save {
	const struct fg_run *run;
	struct fg_profile_set *const *profiles; /* one per series, or NULL */
	const struct fg_series_parts *parts;    /* instead of profiles and repetitions; or NULL */
	const cJSON *report;
	const struct fg_bytes *report_block; /* empty: none */
	const char *digest;
	bool is_new; /* there is no run of this id: nothing to clear */
};

/* A whole run in one transaction. */
int fg_store_write_run(struct fg_store *store, const struct fg_save *save, struct fg_error *err)
	FG_NODISCARD;
/*
 * Is the run fit to be stored?  Then its report as JSON and as a sealed block; both empty when
 * there is none.
 */
int fg_report_make(const struct fg_run *run, const char *report, cJSON **json,
		   struct fg_bytes *block, struct fg_error *err) FG_NODISCARD;

/* Conditions, and where in the run they belong: FG_SCOPE_HOST and those behind it. */
struct fg_scoped {
	int64_t scope;
	const struct fg_environment *environment;
};

/* May be called again for a scope that grew. */
int fg_store_put_conditions(struct fg_store *store, int64_t run, const struct fg_scoped *scoped,
			    size_t count, struct fg_error *err) FG_NODISCARD;

/* What was kept of a run in progress has to be found out anew. */
void fg_store_forget_progress(struct fg_store *store);
int fg_store_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
/* Commit if all went well so far, undo if not or if that fails; what became of it. */
int fg_store_end(struct fg_store *store, int status, struct fg_error *err) FG_NODISCARD;
/*
 * One view of the database for several queries; nothing when a transaction is open already.  Give
 * the result to _end.
 */
int fg_store_view(struct fg_store *store, bool *mine, struct fg_error *err) FG_NODISCARD;
void fg_store_view_end(struct fg_store *store, bool mine);
/*
 * Find or add one row; a helper for tables whose rows are found by one query and added by another.
 */
int fg_store_project(struct fg_store *store, const char *name, int64_t *id, struct fg_error *err)
	FG_NODISCARD;
int fg_store_words(struct fg_store *store, const char *text, int64_t *id, struct fg_error *err)
	FG_NODISCARD;
void fg_digest(const char *a, const char *b, const char *c, uint8_t digest[16]);

/* The first column of every row, as texts.  Ends the query. */
int fg_store_names(struct fg_query *q, struct fg_name_list *list, struct fg_error *err)
	FG_NODISCARD;
/* The row of a benchmark; `project` may be NULL. */
int fg_store_benchmark(struct fg_store *store, const char *project, const char *benchmark,
		       int64_t *id, struct fg_error *err) FG_NODISCARD;

/* Find or add rows: ids[i] is filled in where it is 0. */
int fg_store_function_ids(struct fg_store *store, const struct fg_profile_function *functions,
			  size_t count, int64_t *ids, struct fg_error *err) FG_NODISCARD;

/* Call paths, parents before their children. */
struct fg_tree {
	const struct fg_profile_node *nodes;
	size_t first; /* those before it are known */
	size_t count;
	const int64_t *functions; /* rows of the functions, by their number in `nodes` */
	uint64_t *ids; /* filled in where it is 0; [0] stays 0 if it comes before `first` */
};

int fg_store_node_ids(struct fg_store *store, const struct fg_tree *tree, struct fg_error *err)
	FG_NODISCARD;
/*
 * A function by its id; its texts live until fg_store_limit_functions(), which is called between
 * questions.
 */
int fg_store_function(struct fg_store *store, uint64_t id, struct fg_function_row *row,
		      struct fg_error *err) FG_NODISCARD;
void fg_store_limit_functions(struct fg_store *store);
void fg_store_forget_functions(struct fg_store *store);
/* So many are about to be looked up: where that is quicker, read the whole table first. */
int fg_store_read_known(struct fg_store *store, size_t functions, size_t nodes,
			struct fg_error *err) FG_NODISCARD;
/* Continue `interned` up to the set's counts. */
int fg_store_intern(struct fg_store *store, const struct fg_profile_set *set,
		    struct fg_interned *interned, struct fg_error *err) FG_NODISCARD;
int fg_store_find_series(struct fg_store *store, const char *run, const char *benchmark,
			 int64_t *series, struct fg_error *err) FG_NODISCARD;
/* Says FG_ENOENT: nothing was sampled there. */
int fg_store_no_profile(const struct fg_run_side *side, const char *benchmark, struct fg_error *err)
	FG_NODISCARD;
/*
 * The set with all of a matrix' paths: functions, nodes, and indexes[i] for ids[i] (to be freed).
 */
int fg_store_nodes(struct fg_store *store, const uint64_t *ids, size_t count,
		   struct fg_profile_set *set, uint32_t **indexes, struct fg_error *err)
	FG_NODISCARD;

/* The tree up to `last` into the store's memory.  FG_ELIMIT: it is too large for that. */
int fg_store_read_tree(struct fg_store *store, uint64_t last, struct fg_error *err) FG_NODISCARD;

/* Time of each call path: ids ascending, sums over the repetitions of one arm that count. */
struct fg_weights {
	uint64_t *ids;
	double *sums;
	size_t count;
	uint32_t repetitions;
	uint8_t arm;
};

/* Of weights->arm. */
int fg_store_weights(struct fg_store *store, int64_t series, struct fg_weights *weights,
		     struct fg_error *err) FG_NODISCARD;
void fg_weights_add(struct fg_weights *into, const struct fg_weights *more);
void fg_weights_release(struct fg_weights *weights);
/* Of all functions of both arms, kept or computed; without a profile nothing. */
int fg_store_totals(struct fg_store *store, int64_t series, struct fg_totals *totals,
		    struct fg_error *err) FG_NODISCARD;

/*
 * After series were removed: SQLite gives the numbers of the newest to those that come next.  A
 * seal that reaches beyond what is there would take them for its own; what is left of it waits to
 * be sealed anew.
 */
int fg_store_cut_seals(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

/* `take` gets the content of each chunk of a kind, in order. */
typedef int fg_chunk_taker(struct fg_byte_reader *reader, void *context, struct fg_error *err);
int fg_store_chunks(struct fg_store *store, int64_t series, enum fg_chunk_kind kind,
		    fg_chunk_taker *take, void *context, struct fg_error *err) FG_NODISCARD;

#endif
