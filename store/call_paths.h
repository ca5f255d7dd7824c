/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call paths in the database.  Paths with consecutive ids share a row of `path_block`; a path whose
 * parent is not in the same block has a row of its own in `path_root`, by which it is found.
 * Neither is ever changed or removed.
 */
#ifndef FG_STORE_CALL_PATHS_H
#define FG_STORE_CALL_PATHS_H

#include "base/base.h"
#include "base/error.h"
#include "store/db.h"
#include "store/path_block.h"

struct fg_store;

enum {
	FG_PATH_BLOCKS_KEPT = 16 /* that a session remembers, some 80 KB each */
};

/* The blocks that a session read last; {0} to begin with. */
struct fg_call_paths {
	struct fg_path_block kept[FG_PATH_BLOCKS_KEPT];
	uint64_t used[FG_PATH_BLOCKS_KEPT]; /* each block, when last */
	uint64_t uses;
};

/* Rows of parents and functions: ids[i] becomes the id of row i, or 0. */
int fg_call_paths_find(struct fg_store *store, const struct fg_rows *rows, int64_t *ids,
		       struct fg_error *err) FG_NODISCARD;
typedef void fg_path_taker(void *context, uint64_t id, const struct fg_call_path *path);
/* All after this id, in the order of their ids. */
int fg_call_paths_after(struct fg_store *store, uint64_t after, fg_path_taker *take, void *context,
			struct fg_error *err) FG_NODISCARD;
/*
 * Write rows of ids, parents and functions, in the order of their ids.
 */
int fg_call_paths_write(struct fg_store *store, const struct fg_rows *rows, struct fg_error *err)
	FG_NODISCARD;
/* Open every block; `found` is called with words for each that is damaged. */
int fg_call_paths_check(struct fg_store *store, void (*found)(void *context, const char *words),
			void *context, struct fg_error *err) FG_NODISCARD;
/* Forget what a transaction that is undone may have written. */
void fg_call_paths_forget(struct fg_call_paths *paths);

#endif
