/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions of a store session. A commit drops the cached ids that garbage collection may
 * remove; a rollback drops all cached ids.
 */
#ifndef FG_STORE_TRANSACTION_H
#define FG_STORE_TRANSACTION_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/* Forgets how much of the run in progress is already stored (struct fg_save_progress). */
void fg_store_forget_progress(struct fg_store *store);

/* Begins a transaction that writes, unless a batch is open. */
int fg_store_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
/* Commits if `status` is FG_OK; otherwise, or if that fails, rolls back. Returns the outcome. */
int fg_store_end(struct fg_store *store, int status, struct fg_error *err) FG_NODISCARD;

/*
 * Everything until fg_store_batch_end() or fg_store_batch_undo() is one transaction. A part that
 * fails before it writes anything leaves the other parts intact. After a part fails half-way, only
 * undo is possible.
 */
int fg_store_batch_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
bool fg_store_batch_is_spoiled(const struct fg_store *store);
void fg_store_batch_undo(struct fg_store *store);
/* Commits the batch; on failure it is undone. */
int fg_store_batch_end(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

/*
 * Begins a consistent view for several queries; does nothing inside a transaction. Pass `mine` to
 * fg_store_view_end().
 */
int fg_store_view(struct fg_store *store, bool *mine, struct fg_error *err) FG_NODISCARD;

void fg_store_view_end(struct fg_store *store, bool mine);

void fg_store_forget_ids(struct fg_store *store);

#endif
