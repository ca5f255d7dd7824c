/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about profiles that are answered without loading runs: which functions differ between
 * two runs, which call paths, how one function fared over many runs.  All times are CPU time per
 * repetition.
 */
#ifndef FG_STORE_QUERY_H
#define FG_STORE_QUERY_H

#include "store/store.h"

/* One side of a comparison: an arm of a stored run. */
struct fg_run_side {
	const char *run;
	uint8_t arm; /* enum fg_arm */
};

enum {
	FG_FUNCTION_ID_SIZE = 33
};

struct fg_function_delta {
	char *name;
	char *library;
	char *file; /* NULL: unknown */
	unsigned line;
	char id[FG_FUNCTION_ID_SIZE]; /* what a link names it by; the same in every store */
	double self_ns[2];
	double inclusive_ns[2];
	/*
	 * Half the width of a 95 % interval on the difference of self time that counting samples
	 * alone leaves open.
	 */
	double sampling_error_ns;
};

struct fg_function_deltas {
	struct fg_function_delta *items; /* largest difference of self time first */
	size_t count;
	size_t total; /* functions in either run */
	double total_ns[2];
	uint32_t repetitions[2];
};

/*
 * The `limit` functions that differ most.  FG_ENOENT: the benchmark has no profile in one of the
 * runs.
 */
int fg_store_compare_functions(struct fg_store *store, const struct fg_run_side sides[2],
			       const char *benchmark, size_t limit,
			       struct fg_function_deltas *deltas, struct fg_error *err)
	FG_NODISCARD;
void fg_function_deltas_release(struct fg_function_deltas *deltas);

/*
 * The call paths of one or two sides as columns; node 0 is the root, parents come before their
 * children.
 */
struct fg_path_tree {
	/* functions and nodes; no rows.  Texts are the store's, until its next question */
	struct fg_profile_set set;
	double *self_ns[2]; /* one per node */
	double *inclusive_ns[2];
	uint32_t repetitions[2];
};

/* sides[1].run NULL: one side only. */
int fg_store_paths(struct fg_store *store, const struct fg_run_side sides[2], const char *benchmark,
		   struct fg_path_tree *tree, struct fg_error *err) FG_NODISCARD;
void fg_path_tree_release(struct fg_path_tree *tree);

struct fg_trend_point {
	char run[37];
	int64_t started_ns;
	const char *commit; /* NULL: unknown */
	double self_ns;     /* of the candidate */
	double inclusive_ns;
};

struct fg_function_trend {
	char *name;
	char *library;
	struct fg_trend_point *points; /* oldest first */
	size_t count;
	size_t capacity;
	size_t from_tiles; /* runs that were asked of tiles, gone ones among them */
	struct fg_arena texts;
};

/* fg_function_delta.id of the function of this name; `library` may be NULL. */
void fg_store_function_id(const char *name, const char *library, char id[FG_FUNCTION_ID_SIZE]);
/* `function` is fg_function_delta.id.  Runs in which it took no sample have zeros. */
int fg_store_function_trend(struct fg_store *store, const char *project, const char *benchmark,
			    const char *branch, const char *function,
			    struct fg_function_trend *trend, struct fg_error *err) FG_NODISCARD;
void fg_function_trend_release(struct fg_function_trend *trend);

/*
 * Seal tiles: every 256 series of a benchmark that were not yet are turned around into one blob per
 * function. For a background thread; `sealed` is the number of tiles' rows written.  Nothing to do
 * is FG_OK.
 */
int fg_store_seal(struct fg_store *store, size_t *sealed, struct fg_error *err) FG_NODISCARD;

/* What a server asks before and after it stores an upload. */
struct fg_upload_state {
	bool known;
	char *project;
	char *digest; /* of the content that was uploaded; NULL: came another way */
	bool complete;
};

int fg_store_upload_state(struct fg_store *store, const char *id, struct fg_upload_state *state,
			  struct fg_error *err) FG_NODISCARD;
void fg_upload_state_release(struct fg_upload_state *state);
int fg_store_set_digest(struct fg_store *store, const char *id, const char *digest,
			struct fg_error *err) FG_NODISCARD;

/*
 * Several saves as one transaction (group commit): all or none.  One that fails before it has
 * written anything spares the others; one that fails half-way spoils them all, and only undo is
 * left.
 */
int fg_store_batch_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
bool fg_store_batch_is_spoiled(const struct fg_store *store);
void fg_store_batch_undo(struct fg_store *store);
int fg_store_batch_end(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
struct fg_ids;
/* Batches of this session tell their committed ids to all (store/ids.h); borrowed. */
void fg_store_share_ids(struct fg_store *store, struct fg_ids *ids);

/* Keys of all conditions ever recorded for a project (NULL: for any), for menus. */
int fg_store_fact_keys(struct fg_store *store, const char *project, struct fg_name_list *names,
		       struct fg_error *err) FG_NODISCARD;

#endif
